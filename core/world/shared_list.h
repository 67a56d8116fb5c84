// A list shared by its copies until one of them changes it (copy on write).
#pragma once
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace featherstorm {

template <class Element> class SharedList {
 public:
  SharedList() = default;
  explicit SharedList(std::vector<Element> all) : all_(std::make_shared<std::vector<Element>>(std::move(all))) {}

  std::size_t size() const { return all_ ? all_->size() : 0; }
  const Element& operator[](std::size_t i) const { return (*all_)[i]; }
  const Element* begin() const { return all_ ? all_->data() : nullptr; }
  const Element* end() const { return begin() + size(); }
  const Element& back() const { return all_->back(); }
  void push_back(Element x) {
    if (all_.use_count() != 1) all_ = std::make_shared<std::vector<Element>>(begin(), end());
    all_->push_back(std::move(x));
  }

 private:
  std::shared_ptr<std::vector<Element>> all_;
};

// Returns the same list if the element type stays the same, else a converted one.
template <class To, class From> SharedList<To> cast_list(const SharedList<From>& all, auto&& cast_element) {
  if constexpr (std::is_same_v<To, From>) {
    return all;
  } else {
    std::vector<To> r;
    for (const From& x : all) r.push_back(cast_element(x));
    return SharedList<To>(std::move(r));
  }
}

}  // namespace featherstorm
