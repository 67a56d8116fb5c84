#include "core/form/slide.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace featherstorm {
namespace {

// For each body, tries the slides that zero a component of its own origin or of one of the next bodies' origins, and
// stores the best result for a given slide of the parent.
class Search {
 public:
  explicit Search(const std::vector<Axis>& axes) : axes_(axes), children_(axes.size()) {
    for (std::size_t i = 1; i < axes.size(); i++) {
      children_[axes[i].parent].push_back(static_cast<int>(i));
      if (axes[i].parent > 0) size_ = std::max(size_, axes[i].r.norm());
    }
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
  // Adds length / component unless it is larger than the robot's size.
  void add(std::vector<double>& slides, double length, double component) const {
    if (std::abs(length) <= size_ * std::abs(component) && component != 0) slides.push_back(length / component);
  }

  // Collects the slides of body i that zero a component of an origin below it, through children that slide as well.
  void ask(int i, int generations, std::vector<double>& slides) const {
    for (int c : children_[i]) {
      const Axis& a = axes_[c];
      slides.push_back(a.r.z());
      if (!a.slides || a.z.z() == 0) continue;
      std::vector<double> child;
      for (int k = 0; k < 2; k++) add(child, -a.r(k), a.z(k));
      if (generations > 0) ask(c, generations - 1, child);
      for (double t : child) slides.push_back(a.r.z() + a.z.z() * t);
    }
  }

  // The fewest components below the parent of body i, for this slide of the parent's origin.
  const Best& best(int i, double parent_slide) {
    const auto [at, added] = known_.try_emplace({i, std::lround(parent_slide * 1e9)}, Best{1 << 20, 0});
    if (!added) return at->second;
    const Axis& a = axes_[i];
    std::vector<double> candidates{0};
    if (a.slides) {
      const Vec3<double> r = slid_origin(a, 0, parent_slide);
      for (int k = 0; k < 3; k++) add(candidates, -r(k), a.z(k));
      ask(i, 2, candidates);
    }
    Best found{1 << 20, 0};
    for (double t : candidates) {
      if (std::abs(t) > size_) continue;
      int components = 0;
      const Vec3<double> r = slid_origin(a, t, parent_slide);
      if (a.parent > 0)
        for (int k = 0; k < 3; k++) components += r(k) != 0;
      for (int c : children_[i]) components += best(c, t).components;
      if (components < found.components) found = {components, t};
    }
    return known_[{i, std::lround(parent_slide * 1e9)}] = found;
  }

  const std::vector<Axis>& axes_;
  std::vector<std::vector<int>> children_;
  std::map<std::pair<int, long>, Best> known_;
  double size_ = 0;  // of the robot [m]
};

}  // namespace

Vec3<double> slid_origin(const Axis& axis, double slide, double parent_slide) {
  const Vec3<double> moved = axis.z * slide;
  Vec3<double> r = axis.r + moved;
  r.z() -= parent_slide;
  const double rounding = 1e-14 * (axis.r.norm() + std::abs(slide) + std::abs(parent_slide));
  for (int k = 0; k < 3; k++)
    if (std::abs(r(k)) < rounding) r(k) = 0;
  return r;
}

std::vector<double> slides(const std::vector<Axis>& axes) { return Search(axes).slides(); }

}  // namespace featherstorm
