// Lists of types. A std::tuple with as many elements as the table takes longer to compile than all algorithms of the
// table.
#pragma once
#include <cstddef>
#include <utility>

namespace featherstorm {

template <class... T> struct List { static constexpr int size = sizeof...(T); };

template <class... A, class... B> List<A..., B...> operator+(List<A...>, List<B...>);
// The concatenation of lists.
template <class... Lists> using Joined = decltype((List<>{} + ... + Lists{}));

template <std::size_t i, class T> struct ListItem {};
template <class Places, class... T> struct ListItems;
template <std::size_t... i, class... T>
struct ListItems<std::index_sequence<i...>, T...> : ListItem<i, T>... {};
template <std::size_t i, class T> T item_of(const ListItem<i, T>*);
template <class... T> ListItems<std::index_sequence_for<T...>, T...> items_of(List<T...>);
// Type i of a list.
template <std::size_t i, class L> using Element = decltype(item_of<i>(static_cast<decltype(items_of(L{}))*>(nullptr)));

}  // namespace featherstorm
