// Contacts with derivatives along one motion or change of size of both geoms: the matching of contacts, and pairs
// without a closed form.
#pragma once
#include "core/scalar/dual.h"
#include "host/contacts/find_rows.h"

namespace featherstorm {

// The rotation nearest to a matrix that is a rotation up to a small error [Gram and Schmidt].
FS_HD Mat3<double> rotation_next_to(const Mat3<double>& R) {
  Vec3<double> e[3];
  for (int k = 0; k < 2; k++) {
    e[k] = {R(0, k), R(1, k), R(2, k)};
    if (k == 1) e[1] = e[1] - e[0] * dot(e[0], e[1]);
    e[k] = e[k] * (1 / sqrt(dot(e[k], e[k])));
  }
  e[2] = cross(e[0], e[1]);
  Mat3<double> next;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) next(i, k) = e[k](i);
  return next;
}

// Return which of n contacts is nearest to a given one. The order of equally deep contacts is arbitrary.
FS_HD int nearest_contact(const ContactPoint<double>& to, const ContactPoint<double>* of, int n) {
  int nearest = 0;
  double least = 1e300;
  for (int k = 0; k < n; k++) {
    const Vec3<double> d = of[k].point - to.point;
    if (dot(d, d) < least) least = dot(d, d), nearest = k;
  }
  return nearest;
}

// Return whether a contact moves smoothly from before to after instead of jumping: its bend is at most a tenth of its
// move, or of h.
FS_HD bool goes_through(const ContactPoint<double>& before, const ContactPoint<double>& at,
                        const ContactPoint<double>& after, double h) {
  const auto goes = [h](const Vec3<double>& low, const Vec3<double>& middle, const Vec3<double>& high) {
    const Vec3<double> bend = low + high - middle * 2.0, way = high - low;
    return dot(bend, bend) <= 0.01 * (dot(way, way) + h * h);
  };
  return goes(before.point, at.point, after.point) && goes(before.normal, at.normal, after.normal);
}

// A number of an instance at x + by dx, where dx is its derivative if it has one.
template <class S> FS_HD double number_along(const S& x, int instance, double) { return lane(x, instance); }
template <class T> FS_HD double number_along(const Dual<T>& x, int instance, double by) {
  return lane(x.x, instance) + by * lane(x.d, instance);
}
template <class S> FS_HD Geom<double> geom_along(const Geom<S>& g, int instance, double by) {
  Geom<double> r{g.type, {g.place.body, identity_placement<double>()}, zero3<double>(), g.hull, g.field};
  for (int k = 0; k < 3; k++) r.size(k) = number_along(g.size(k), instance, by);
  return r;
}

// Contacts of a pair without a closed form, with derivatives by central differences. The iterative algorithms find
// points to the last digits of double if the axes are orthonormal, so the differences keep about half the digits. The
// derivative is zero if a contact appears, disappears or jumps.
template <class T, class S, class D>
FS_HD void convex_pair(const auto& c, const Geom<S>& a, const Geom<S>& b, const ContactPair<D>& pair,
                       const Placement<Dual<T>>& A, const Placement<Dual<T>>& B, ContactPoint<Dual<T>>* out) {
  constexpr double h = 1e-5;  // step of a rotation [rad], and of a displacement [m]
  const auto moved = [](const Placement<Dual<T>>& X, int instance, double by) {
    Placement<double> r;
    for (int i = 0; i < 3; i++) {
      r.r(i) = number_along(X.r(i), instance, by);
      for (int j = 0; j < 3; j++) r.R(i, j) = number_along(X.R(i, j), instance, by);
    }
    if (by != 0) r.R = rotation_next_to(r.R);  // without a move, the contacts are those of the step, in its order
    return r;
  };
  auto low = scratch<ContactPoint<double>>(most_prisms), high = scratch<ContactPoint<double>>(most_prisms);
  auto at = scratch<ContactPoint<double>>(most_prisms);
  const Vec3<Dual<T>> up = cast<Dual<T>>(Vec3<T>{T(0.0), T(0.0), T(1.0)});
  for (int k = 0; k < pair.slots; k++) out[k] = {Dual<T>(T(no_contact)), zero3<Dual<T>>(), up};
  const auto set = [](Dual<T>& x, int l, double value, double before, double after, bool is_there) {
    set_lane(x.x, l, value), set_lane(x.d, l, is_there ? (after - before) / (2 * h) : 0.0);
  };
  for (int l = 0; l < lanes<T>; l++) {
    const auto find = [&](double by, ContactPoint<double>* to) {
      return contacts_of_instance(c, geom_along(a, l, by), geom_along(b, l, by), number_along(pair.detection, l, 0.0),
                                  pair.slots, moved(A, l, by), moved(B, l, by), to);
    };
    const int n = find(0.0, at.data());
    const bool same = n > 0 && find(-h, low.data()) == n && find(h, high.data()) == n;
    for (int k = 0; k < n; k++) {
      const ContactPoint<double>&before = low[nearest_contact(at[k], low.data(), n)],
            &after = high[nearest_contact(at[k], high.data(), n)];
      const bool goes = same && goes_through(before, at[k], after, h);
      set(out[k].distance, l, at[k].distance, before.distance, after.distance, goes);
      for (int i = 0; i < 3; i++) {
        set(out[k].point(i), l, at[k].point(i), before.point(i), after.point(i), goes);
        set(out[k].normal(i), l, at[k].normal(i), before.normal(i), after.normal(i), goes);
      }
    }
  }
}

// Contacts of a pair, with derivatives also by numbers of the geoms.
template <class U>
FS_HD void points_along(const auto& solver, const ContactPair<U>& pair, const Placement<U>& A, const Placement<U>& B,
                        const auto& touch, ContactPoint<U>* out) {
  auto sized = scratch<Geom<U>>(2);
  for (int k = 0; k < 2; k++) sized[k] = sized_geom<U>(solver, pair.geom[k], touch);
  contact_points(solver.world.contacts, sized[0], sized[1], pair, A, B, out);
}

// Return the contact with derivatives that is nearest to a given one. The slot of a contact depends on rounding if
// several are equally deep.
template <class T>
FS_HD ContactPoint<Dual<T>> nearest_slot(const ContactPoint<T>& to, const ContactPoint<Dual<T>>* of, int slots) {
  ContactPoint<Dual<T>> nearest = of[0];
  T least(1e30);
  for (int k = 0; k < slots && slots > 1; k++) {
    const ContactPoint<Dual<T>>& c = of[k];
    const T apart = c.distance.x - to.distance;
    T d = apart * apart;  // large for a slot without a contact
    for (int i = 0; i < 3; i++) d = d + (c.point(i).x - to.point(i)) * (c.point(i).x - to.point(i));
    const auto nearer = d < least;
    least = min(d, least);
    nearest.distance = select(nearer, c.distance, nearest.distance);
    for (int i = 0; i < 3; i++) {
      nearest.point(i) = select(nearer, c.point(i), nearest.point(i));
      nearest.normal(i) = select(nearer, c.normal(i), nearest.normal(i));
    }
  }
  return nearest;
}

}  // namespace featherstorm
