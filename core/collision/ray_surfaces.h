// Rays against meshes and height fields, with the results of mj_ray, for plain numbers.
#pragma once
#include <algorithm>
#include <cmath>

#include "core/collision/ray.h"
#include "core/world/height_field.h"

namespace featherstorm {

template <class T> void take_nearer(RayHit<T>& nearest, const RayHit<T>& hit) {
  if (hit.x >= 0 && hit.x < nearest.x) nearest = hit;
}

// A triangle, seen from both sides; its normal follows the order of the corners.
//
//   p + x v = c + s (a - c) + t (b - c)     by Cramer's rule;  hit: s, t >= -slack, s + t <= 1 + slack
template <class T>
RayHit<T> ray_triangle(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& c, const T& slack, const Vec3<T>& p,
                       const Vec3<T>& v) {
  const Vec3<T> edge1 = a - c, edge2 = b - c, away = p - c, normal = cross(edge1, edge2), turned = cross(v, away);
  const T facing = dot(v, normal);
  RayHit<T> hit{T(far_away), normal};
  if (std::abs(facing) < 1e-15) return hit;
  const T s = dot(turned, edge2) / facing, t = -dot(turned, edge1) / facing;
  if (s >= -slack && t >= -slack && s + t <= 1 + slack) hit.x = -dot(away, normal) / facing;
  return hit;
}

// in   vertex(k)     corner k of the mesh
// in   face (3 n)    corners of the triangles
// in   radius        of a ball about the origin that holds the mesh
template <class T>
RayHit<T> ray_mesh(const auto& vertex, const auto& face, int n, const T& radius, const Vec3<T>& p, const Vec3<T>& v) {
  RayHit<T> nearest{T(far_away), zero3<T>()};
  const Interval<T> near = within_ball(p, v, radius);
  if (is_ahead(near) == 0) return nearest;
  for (int k = 0; k < 3 * n; k += 3)
    take_nearer(nearest, ray_triangle<T>(vertex(face[k]), vertex(face[k + 1]), vertex(face[k + 2]), T(0), p, v));
  return nearest;
}

// A height field is solid: a box below z = 0, and above it what is below two triangles for each cell of the grid.
template <class T> class RaysOfHeightField {
 public:
  explicit RaysOfHeightField(const HeightField<T>& field)
      : f_(field), half_{f_.x, f_.y}, count_{f_.columns - 1, f_.rows - 1} {
    for (int k = 0; k < 2; k++) cell_[k] = 2 * half_[k] / count_[k];
  }

  RayHit<T> operator()(const Vec3<T>& p, const Vec3<T>& v) const {
    const auto box = [&](const T& height) { return Vec3<T>{f_.x, f_.y, height / 2}; };
    const auto raised = [&](const T& by) { return Vec3<T>{p.x(), p.y(), p.z() + by}; };
    RayHit<T> nearest = ray_geom<T>(GeomType::Box, box(f_.bottom), raised(f_.bottom / 2), v);
    const Interval<T> range = within_solid<T>(GeomType::Box, box(f_.top), raised(-f_.top / 2), v);
    if (is_ahead(range) == 0) return nearest;
    take_surface(nearest, wider({std::max(range.first, T(0)), range.last}), p, v);
    for (int axis = 0; axis < 2; axis++)
      for (const bool upper : {false, true}) take_wall(nearest, axis, upper, p, v);
    return nearest;
  }

 private:
  static constexpr double slack = 1e-12;  // enlarges triangles, so that no ray passes between two cells
  static Interval<T> wider(const Interval<T>& s) {
    return {s.first - 1e-9 * (1 + std::abs(s.first)), s.last + 1e-9 * (1 + std::abs(s.last))};
  }
  T height(int row, int column) const {
    return f_.height[static_cast<std::size_t>(row) * static_cast<std::size_t>(f_.columns) +
                     static_cast<std::size_t>(column)];
  }
  Vec3<T> corner(int row, int column) const {
    return {column * cell_[0] - f_.x, row * cell_[1] - f_.y, height(row, column) * f_.top};
  }
  int cell_at(int axis, const T& along) const {
    return static_cast<int>(std::clamp<T>(std::floor((along + half_[axis]) / cell_[axis]), 0, count_[axis] - 1));
  }

  // The cells below a ray: row by row, those between the columns where it enters and leaves the row.
  void take_surface(RayHit<T>& nearest, const Interval<T>& range, const Vec3<T>& p, const Vec3<T>& v) const {
    const T ends[] = {p.y() + range.first * v.y(), p.y() + range.last * v.y()};
    const int last = cell_at(1, std::max(ends[0], ends[1]) + 1e-9);
    for (int row = cell_at(1, std::min(ends[0], ends[1]) - 1e-9); row <= last; row++) {
      const T middle = (row + T(0.5)) * cell_[1] - f_.y, width = cell_[1] / 2 + 1e-9;
      const Interval<T> here = wider(intersection(range, within_slab<T>(p.y() - middle, v.y(), width)));
      if (!(here.first <= here.last)) continue;
      const T x[] = {p.x() + here.first * v.x(), p.x() + here.last * v.x()};
      const int end = cell_at(0, std::max(x[0], x[1]) + 1e-9);
      for (int column = cell_at(0, std::min(x[0], x[1]) - 1e-9); column <= end; column++) {
        const Vec3<T> a = corner(row, column), b = corner(row + 1, column + 1);
        take_nearer(nearest, ray_triangle<T>(a, corner(row, column + 1), b, T(slack), p, v));
        take_nearer(nearest, ray_triangle<T>(a, b, corner(row + 1, column), T(slack), p, v));
      }
    }
  }

  // The side at an end of an axis: from z = 0 to the line between two heights of the edge.
  void take_wall(RayHit<T>& nearest, int axis, bool upper, const Vec3<T>& p, const Vec3<T>& v) const {
    if (std::abs(v(axis)) < 1e-15) return;
    const int other = 1 - axis;
    const T side = upper ? 1 : -1, x = (side * half_[axis] - p(axis)) / v(axis);
    const Vec3<T> s = p + v * x;
    if (std::abs(s(other)) > half_[other]) return;
    const int first = cell_at(other, s(other)), edge = upper ? count_[axis] : 0;
    const T y = (s(other) + half_[other]) / cell_[other] - first;
    const auto at = [&](int k) { return axis == 0 ? height(k, edge) : height(edge, k); };
    if (s.z() < 0 || s.z() >= f_.top * (at(first) * (1 - y) + at(first + 1) * y)) return;
    Vec3<T> normal = zero3<T>();
    normal(axis) = side;
    take_nearer(nearest, {x, normal});
  }

  const HeightField<T>& f_;
  T half_[2], cell_[2];
  int count_[2];
};

}  // namespace featherstorm
