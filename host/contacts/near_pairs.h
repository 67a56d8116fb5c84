// Find the pairs of geoms that are near, and in which instances of one pack. The tests are, in this order: bounding
// spheres of bodies, bounding spheres of geoms, and the sphere of one geom against the axis of a capsule or against a
// box.
//
// d points from the centre of geom 1 to that of geom 2, and u is the axis of a capsule with half length h. The nearest
// point of the axis is c u, with c = d . u limited to |c| <= h. The squared distance of the other centre from the axis
// is |d|^2 - c (2 d . u - c). For a box only the part of d beyond its sides counts. A capsule is also apart from a box
// if its axis and radius do not reach the box along one of the box's axes.
#pragma once
#include "host/contacts/solver_data.h"

namespace featherstorm {

// Placements and motions in memory, loaded on use.
template <class T, class Array> struct Placements {
  Array of;
  FS_HD Placement<T> operator[](int i) const {
    Placement<T> X;
    for (int k = 0; k < 9; k++) X.R(k / 3, k % 3) = of[12 * i + k];
    for (int k = 0; k < 3; k++) X.r(k) = of[12 * i + 9 + k];
    return X;
  }
};
template <class T, class Array> struct Motions {
  Array of;
  FS_HD Motion<T> operator[](int i) const {
    Motion<T> V;
    for (int k = 0; k < 3; k++) V.w(k) = of[6 * i + k], V.v(k) = of[6 * i + 3 + k];
    return V;
  }
};

// Replace the numbers that differ among instances by those of these instances.
template <class T> FS_HD void set_numbers(auto& numbers, const auto& at, const auto& touch) {
  int k = 0;
  for_each_number(numbers, [&](T& x) {
    if (at[k] >= 0) x = touch[at[k]];
    k++;
  });
}

// Return the numbers of a geom in these instances.
template <class T>
FS_HD GeomNumbers<T> geom_among(const auto& solver, int geom, const auto& touch) {
  const auto& g = solver.world.contacts.geom[geom];
  GeomNumbers<T> numbers{cast<T>(g.place.X), cast<T>(g.size), T(solver.reach[geom])};
  if (!solver.touch.of_geom.empty()) set_numbers<T>(numbers, solver.touch.of_geom[geom], touch);
  return numbers;
}
template <class T>
FS_HD Placement<T> place_among(const auto& solver, int geom, const auto& touch) {
  if (solver.touch.of_geom.empty()) return cast<T>(solver.world.contacts.geom[geom].place.X);
  return geom_among<T>(solver, geom, touch).X;
}

// Placements of geoms, computed on first use.
template <class T, class Solver, class Bodies, class Array> class GeomPlaces {
 public:
  FS_HD GeomPlaces(const Solver& solver, const Bodies& X, const Array& touch)
      : solver_(solver), X_(X), touch_(touch), place_(geoms()), known_(geoms()) {
    for (int i = 0; i < geoms(); i++) known_[i] = nothing;
  }
  // Return the placement of a geom, of which only the centre and the third axis, along which capsules lie, are valid.
  FS_HD const Placement<T>& line(int geom) {
    if (known_[geom] == nothing) set(geom, 2);
    return place_[geom];
  }
  FS_HD const Placement<T>& operator[](int geom) {
    if (known_[geom] != all) set(geom, 0);
    return place_[geom];
  }
  FS_HD auto data() { return place_.data(); }

 private:
  static constexpr char nothing = 0, of_line = 1, all = 2;
  FS_HD int geoms() const { return static_cast<int>(solver_.world.contacts.geom.size()); }
  // in  first  index of the first axis that is needed
  FS_HD void set(int geom, int first) {
    const auto& place = solver_.world.contacts.geom[geom].place;
    known_[geom] = first == 0 || place.body == 0 ? all : of_line;
    if (solver_.touch.of_geom.empty()) set(place_[geom], place.body, place.X, first);
    else set(place_[geom], place.body, place_among<T>(solver_, geom, touch_), first);
  }
  // X own, row by row
  FS_HD void set(Placement<T>& to, int body, const auto& own, int first) {
    if (body == 0) {
      to = cast<T>(own);
      return;
    }
    for (int i = 0; i < 3; i++) {
      const T x = X_.of[12 * body + 3 * i], y = X_.of[12 * body + 3 * i + 1], z = X_.of[12 * body + 3 * i + 2];
      const auto row_times = [&](const auto& a, const auto& b, const auto& c) {
        return x * T(a) + y * T(b) + z * T(c);
      };
      to.r(i) = X_.of[12 * body + 9 + i] + row_times(own.r(0), own.r(1), own.r(2));
      for (int k = first; k < 3; k++) to.R(i, k) = row_times(own.R(0, k), own.R(1, k), own.R(2, k));
    }
  }
  const Solver& solver_;
  const Bodies& X_;
  const Array& touch_;
  Scratch<Placement<T>> place_;
  Scratch<char> known_;
};

// Compute the instances in which the two bodies of each group of pairs are near.
template <class T>
FS_HD void near_bodies(const auto& solver, const auto& X, auto& places, unsigned* near) {
  auto centre = scratch<Vec3<T>>(solver.nb + 1);
  for (int b = 1; b <= solver.nb; b++) {
    const Placement<T> at = X[b];
    centre[b] = at.r + at.R * cast<T>(solver.body_centre[b]);
  }
  for (int i = 0; i < static_cast<int>(solver.group_of_pairs.size()); i++) {
    const auto& g = solver.group_of_pairs[i];
    if (g.always) {
      near[i] = all_instances<T>;
    } else if (g.plane >= 0) {
      const Placement<T>& plane = places[g.plane];
      near[i] = instances_above_zero(T(T(g.reach) - dot(axis_of(plane, 2), centre[g.b] - plane.r)));
    } else {
      const Vec3<T> d = centre[g.a] - centre[g.b];
      near[i] = instances_above_zero(T(T(g.reach) - dot(d, d)));
    }
  }
}

// Return `reach` minus the squared distance of a point from a segment: below 0 if the point is farther than the squared
// `reach`.
//
// in   d  from the middle of the segment to the point;  square = |d|^2
// in   u, half  axis and half length of the segment;  reach  a squared distance
template <class T> FS_HD T about_axis(const Vec3<T>& d, const T& square, const Vec3<T>& u, const T& half,
                                      const T& reach) {
  const T along = dot(d, u), c = min(max(along, -half), half);
  return reach - (square - c * (along + along - c));
}

// Return the instances in which a geom, or at least its bounding sphere, is near a box.
//
// in   d  from the centre of the box to the centre of the geom
template <class T>
FS_HD unsigned near_box(const auto& bound, const Placement<T>& box, const auto& size, const Vec3<T>& d, unsigned near,
                        const auto& half, const Vec3<T>& axis) {
  const Vec3<T> o = transpose_times(box.R, d);
  Vec3<T> over;
  for (int k = 0; k < 3; k++) over(k) = max(abs(o(k)) - T(size(k)), T(0.0));
  near &= instances_above_zero(T(T(bound.about_box) - dot(over, over)));
  if (near == 0 || !(half > 0)) return near;
  const Vec3<T> u = transpose_times(box.R, axis);
  for (int k = 0; k < 3; k++) near &= instances_above_zero(T(T(bound.radius) + T(half) * abs(u(k)) - over(k)));
  return near;
}

// Return the instances in which a pair is near by its bounding spheres alone, for pairs whose sizes or margins differ
// among instances.
template <class T>
FS_HD unsigned near_with_numbers(const auto& solver, int p, unsigned of_bodies, auto& places, const auto& touch) {
  const auto& contacts = solver.world.contacts;
  const int a = contacts.pair[p].geom[0], b = contacts.pair[p].geom[1];
  const T reach = geom_among<T>(solver, a, touch).reach + geom_among<T>(solver, b, touch).reach +
                  pair_among<T>(solver, p, touch).detection;
  const Vec3<T> d = places.line(b).r - places.line(a).r;
  if (contacts.geom[a].type == GeomType::Plane)
    return of_bodies & instances_above_zero(T(reach - dot(axis_of(places.line(a), 2), d)));
  return of_bodies & instances_above_zero(T(reach * reach - dot(d, d)));
}

// Return the instances in which the centres of two geoms are near.
//
// in   place  of geoms; the lines of these two must be known
template <class T> FS_HD unsigned near_centres(const auto& bound, unsigned of_bodies, const auto& place) {
  const Placement<T>&a = place[bound.geom[0]], &b = place[bound.geom[1]];
  const Vec3<T> d = b.r - a.r;
  const T far = bound.shape == BoundShape::AbovePlane ? dot(axis_of(a, 2), d) : dot(d, d);
  return of_bodies & instances_above_zero(T(T(bound.spheres) - far));
}

// Return the instances of `near` in which a pair is still near by its axes, boxes and differing numbers.
template <class T>
FS_HD unsigned near_shapes(const auto& solver, int p, unsigned near, auto& places, const auto& touch) {
  const auto& bound = solver.bound[p];
  if (bound.shape == BoundShape::AbovePlane) return near;
  if (bound.shape == BoundShape::Differs) return near_with_numbers<T>(solver, p, near, places, touch);
  const Placement<T>&a = places.line(bound.geom[0]), &b = places.line(bound.geom[1]);
  const Vec3<T> d = b.r - a.r;
  const T square = dot(d, d);
  const T about_a = about_axis(d, square, axis_of(a, 2), T(bound.half[0]), T(bound.about_axis[0])),
          about_b = about_axis(d, square, axis_of(b, 2), T(bound.half[1]), T(bound.about_axis[1]));
  near &= instances_above_zero(T(min(about_a, about_b)));
  if (near == 0 || bound.shape == BoundShape::Round) return near;
  const bool first = bound.shape == BoundShape::FirstIsBox;
  const int box = bound.geom[first ? 0 : 1];
  return near_box(bound, places[box], solver.world.contacts.geom[box].size, first ? d : Vec3<T>(-d), near,
                  bound.half[first ? 1 : 0], axis_of(first ? b : a, 2));
}

// Call visit(pair, instances) for every pair that is near in some instances. Pairs are tested in blocks, so that the
// tests are loops with few branches.
template <class T>
FS_HD void for_each_near_pair(const auto& solver, const auto& X, auto& places, const auto& touch, auto&& visit) {
  constexpr int most = lanes<T> > 1 ? 64 : 8;  // a thread of a device keeps them in its stack frame
  const int groups = static_cast<int>(solver.group_of_pairs.size());
  auto near = scratch<unsigned>(groups);
  near_bodies<T>(solver, X, places, near.data());
  int pair[most];
  unsigned here[most];
  for (int g = 0, p = 0; g < groups;) {
    int count = 0, left = 0;
    while (g < groups && count < most) {
      const int last = solver.group_of_pairs[g].last, end = last - p < most - count ? last : p + most - count;
      if (near[g] == 0) {
        p = last, g++;
        continue;
      }
      for (; p < end; p++, count++) pair[count] = p, here[count] = near[g];
      g += p == last ? 1 : 0;
    }
    const auto* bound = &solver.bound[0];
    for (int i = 0; i < count; i++) places.line(bound[pair[i]].geom[0]), places.line(bound[pair[i]].geom[1]);
    const auto place = places.data();
    for (int i = 0; i < count; i++) {
      const int p = pair[i];
      const unsigned of = near_centres<T>(bound[p], here[i], place);
      pair[left] = p, here[left] = of;
      left += of != 0 ? 1 : 0;
    }
    for (int i = 0; i < left; i++)
      if (const unsigned of = near_shapes<T>(solver, pair[i], here[i], places, touch); of != 0) visit(pair[i], of);
  }
}

}  // namespace featherstorm
