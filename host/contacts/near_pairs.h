// Which pairs of geoms are near, in which of the instances side by side: bounding spheres of bodies, then of geoms, then the sphere of one
// geom about the axis of a capsule or about a box.
//
// With d from the centre of geom 1 to that of geom 2 and u a capsule's axis, |c| <= h where d . u is nearest, the distance of the other's
// centre from the axis is |d|^2 - c (2 d . u - c). Of a box what d is beyond its sides counts; a capsule is apart from it, too, where its
// axis and radius do not reach along one of the box's axes.
#pragma once
#include "host/contacts/solver_data.h"

namespace featherstorm {

// Placements and motions in memory, loaded where they are used.
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

// Numbers with those of these instances that differ.
template <class T> FS_HD void set_numbers(auto& numbers, const auto& at, const auto& touch) {
  int k = 0;
  for_each_number(numbers, [&](T& x) {
    if (at[k] >= 0) x = touch[at[k]];
    k++;
  });
}

// A geom in these instances.
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

// Where the geoms are, computed when they are asked for.
template <class T, class Solver, class Bodies, class Array> class GeomPlaces {
 public:
  FS_HD GeomPlaces(const Solver& solver, const Bodies& X, const Array& touch)
      : solver_(solver), X_(X), touch_(touch), place_(geoms()), known_(geoms()) {
    for (int i = 0; i < geoms(); i++) known_[i] = nothing;
  }
  FS_HD const Vec3<T>& centre(int geom) {
    if ((known_[geom] & of_centre) == 0) set(geom, of_centre);
    return place_[geom].r;
  }
  // the third axis of the geom, along which capsules lie
  FS_HD Vec3<T> axis(int geom) {
    if ((known_[geom] & of_axis) == 0) set(geom, of_axis);
    return axis_of(place_[geom], 2);
  }
  FS_HD const Placement<T>& operator[](int geom) {
    if (known_[geom] != all) set(geom, all);
    return place_[geom];
  }

 private:
  static constexpr char nothing = 0, of_centre = 1, of_axis = 2, all = 7;
  FS_HD int geoms() const { return static_cast<int>(solver_.world.contacts.geom.size()); }
  FS_HD void set(int geom, char what) {
    const int body = solver_.world.contacts.geom[geom].place.body;
    Placement<T>& to = place_[geom];
    const Placement<T> own = place_among<T>(solver_, geom, touch_);
    known_[geom] |= what;
    if (body == 0) {
      to = own, known_[geom] = all;
      return;
    }
    const Placement<T> X = X_[body];
    if (what == all) {
      to = X * own;
    } else if (what == of_centre) {
      to.r = X.r + X.R * own.r;
    } else {
      const Vec3<T> e = X.R * axis_of(own, 2);
      for (int i = 0; i < 3; i++) to.R(i, 2) = e(i);
    }
  }
  const Solver& solver_;
  const Bodies& X_;
  const Array& touch_;
  Scratch<Placement<T>> place_;
  Scratch<char> known_;
};

// The instances in which the two bodies of each group of pairs are near.
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

// A number below 0 where a point d from the middle of an axis u is farther from it than `reach`: |d . u| <= half is beside it.
template <class T> FS_HD T about_axis(const Vec3<T>& d, const T& square, const Vec3<T>& u, const T& half,
                                      const T& reach) {
  const T along = dot(d, u), c = min(max(along, -half), half);
  return reach - (square - c * (along + along - c));
}

// In which instances a geom is near a box, a sphere about it at least.
//
// in   d  from the middle of the box to the geom's centre
template <class T>
FS_HD unsigned near_box(const auto& bound, const Placement<T>& box, const auto& size, const Vec3<T>& d, unsigned near,
                        const auto& half, auto&& axis) {
  const Vec3<T> o = transpose_times(box.R, d);
  Vec3<T> over;
  for (int k = 0; k < 3; k++) over(k) = max(abs(o(k)) - T(size(k)), T(0.0));
  near &= instances_above_zero(T(T(bound.about_box) - dot(over, over)));
  if (near == 0 || !(half > 0)) return near;
  const Vec3<T> u = transpose_times(box.R, axis());
  for (int k = 0; k < 3; k++) near &= instances_above_zero(T(T(bound.radius) + T(half) * abs(u(k)) - over(k)));
  return near;
}

// The same of pairs with sizes or margins that differ among instances: bounding spheres alone.
template <class T>
FS_HD unsigned near_with_numbers(const auto& solver, int p, unsigned of_bodies, auto& places, const auto& touch) {
  const auto& contacts = solver.world.contacts;
  const int a = contacts.pair[p].geom[0], b = contacts.pair[p].geom[1];
  const T reach = geom_among<T>(solver, a, touch).reach + geom_among<T>(solver, b, touch).reach +
                  pair_among<T>(solver, p, touch).detection;
  if (contacts.geom[a].type == GeomType::Plane)
    return of_bodies & instances_above_zero(T(reach - dot(axis_of(places[a], 2), places.centre(b) - places[a].r)));
  const Vec3<T> d = places.centre(b) - places.centre(a);
  return of_bodies & instances_above_zero(T(reach * reach - dot(d, d)));
}

// The instances in which a pair is near, of those in which its bodies are.
template <class T>
FS_HD unsigned near_instances(const auto& solver, int p, unsigned of_bodies, auto& places, const auto& touch) {
  const auto& bound = solver.bound[p];
  if (bound.shape == BoundShape::Differs) return near_with_numbers<T>(solver, p, of_bodies, places, touch);
  if (bound.shape == BoundShape::AbovePlane) {
    const Placement<T>& plane = places[bound.geom[0]];
    return of_bodies &
           instances_above_zero(T(T(bound.spheres) - dot(axis_of(plane, 2), places.centre(bound.geom[1]) - plane.r)));
  }
  const Vec3<T> d = places.centre(bound.geom[1]) - places.centre(bound.geom[0]);
  const T square = dot(d, d);
  unsigned near = of_bodies & instances_above_zero(T(T(bound.spheres) - square));
  for (int k = 0; k < 2; k++)
    if (near != 0 && bound.about_axis[k] > 0)
      near &= instances_above_zero(
          about_axis(d, square, places.axis(bound.geom[k]), T(bound.half[k]), T(bound.about_axis[k])));
  if (near == 0 || bound.shape == BoundShape::Round) return near;
  const bool first = bound.shape == BoundShape::FirstIsBox;
  const int box = bound.geom[first ? 0 : 1], other = bound.geom[first ? 1 : 0];
  return near_box(bound, places[box], solver.world.contacts.geom[box].size, first ? d : Vec3<T>(-d), near,
                  bound.half[first ? 1 : 0], [&] { return places.axis(other); });
}

}  // namespace featherstorm
