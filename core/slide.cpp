#include "core/slide.h"

#include <cmath>
#include <map>

namespace featherstorm {
namespace {

// Tries for each body the slides that make a component zero, its own or one of the next bodies', and remembers what is best
// beyond a parent that has been slid so far.
class Search {
 public:
  explicit Search(const std::vector<Axis>& axes) : axes_(axes), children_(axes.size()) {
    for (std::size_t i = 1; i < axes.size(); i++) children_[axes[i].parent].push_back(static_cast<int>(i));
  }
  std::vector<double> slides() {
    std::vector<double> t(axes_.size(), 0.0);
    for (std::size_t i = 1; i < axes_.size(); i++) t[i] = best(static_cast<int>(i), t[axes_[i].parent]).slide;
    return t;
  }

 private:
  struct Best {
    int components;
    double slide;
  };
  Vec3<double> origin(int i, double parent_slide, double slide) const {
    const Axis& a = axes_[i];
    return a.r + a.z * slide - Vec3<double>(0, 0, parent_slide);
  }
  static bool is_zero(double x) { return std::abs(x) < 1e-9; }

  // The slides of body i that make a component zero of an origin beyond it, through children that slide as well.
  void ask(int i, int generations, std::vector<double>& slides) const {
    for (int c : children_[i]) {
      const Axis& a = axes_[c];
      slides.push_back(a.r.z());
      if (!a.slides || is_zero(a.z.z())) continue;
      std::vector<double> child;
      for (int k = 0; k < 2; k++)
        if (!is_zero(a.z(k))) child.push_back(-a.r(k) / a.z(k));
      if (generations > 0) ask(c, generations - 1, child);
      for (double t : child) slides.push_back(a.r.z() + a.z.z() * t);
    }
  }

  // The fewest components beyond the parent of body i, whose origin has been slid so far.
  const Best& best(int i, double parent_slide) {
    const auto [at, added] = known_.try_emplace({i, std::lround(parent_slide * 1e9)}, Best{1 << 20, 0});
    if (!added) return at->second;
    const Axis& a = axes_[i];
    std::vector<double> candidates{0};
    if (a.slides) {
      const Vec3<double> r = origin(i, parent_slide, 0);
      for (int k = 0; k < 3; k++)
        if (!is_zero(a.z(k))) candidates.push_back(-r(k) / a.z(k));
      ask(i, 2, candidates);
    }
    Best found{1 << 20, 0};
    for (double t : candidates) {
      int components = 0;
      const Vec3<double> r = origin(i, parent_slide, t);
      if (a.parent > 0)
        for (int k = 0; k < 3; k++) components += !is_zero(r(k));
      for (int c : children_[i]) components += best(c, t).components;
      if (components < found.components) found = {components, t};
    }
    return known_[{i, std::lround(parent_slide * 1e9)}] = found;
  }

  const std::vector<Axis>& axes_;
  std::vector<std::vector<int>> children_;
  std::map<std::pair<int, long>, Best> known_;
};

}  // namespace

std::vector<double> slides(const std::vector<Axis>& axes) { return Search(axes).slides(); }

}  // namespace featherstorm
