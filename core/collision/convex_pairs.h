// Pairs of shapes without a closed form, and height fields.
//
// Their loops run as often as an instance's numbers need, so the instances of a scalar are done one after the other, in
// double. None of it can be traced.
#pragma once
#include <stdexcept>

#include "core/collision/height_field.h"
#include "core/convex/flat_contacts.h"

namespace featherstorm {

// What a text that is traced throws where it would need such loops.
struct NoTrace : std::length_error {
  NoTrace()
      : std::length_error("contacts of shapes without a closed form are found by loops, which are not unrolled") {}
};

// A function of its own, because device code has no exceptions.
template <class T> [[noreturn]] void cannot_trace() { throw NoTrace(); }

constexpr bool is_convex(GeomType t) {
  return t == GeomType::Sphere || t == GeomType::Capsule || t == GeomType::Ellipsoid || t == GeomType::Cylinder ||
         t == GeomType::Box || t == GeomType::Mesh;
}

// Of one instance.
// out  out (pair.slots)
// returns how many contacts there are
template <class P>
__attribute__((noinline)) FS_HD int contacts_of_instance(const auto& c, const ContactPair<P>& pair,
                                                         const Placement<double>& A, const Placement<double>& B,
                                                         ContactPoint<double>* out) {
  const Geom<P>&a = c.geom[pair.geom[0]], &b = c.geom[pair.geom[1]];
  const double far = pair.detection;
  if (a.type != GeomType::HeightField)
    return convex_contacts(convex_body(c, a, A), convex_body(c, b, B), far, c.several, out);
  const Placement<double> in_field{transposed(A.R) * B.R, transpose_times(A.R, Vec3<double>(B.r - A.r))};
  const int n = height_field_contacts(c.field[a.field], convex_body(c, b, in_field), far, pair.slots, out);
  for (int k = 0; k < n; k++) out[k] = {out[k].distance, A.r + A.R * out[k].point, A.R * out[k].normal};
  return n;
}

template <class T> FS_HD Placement<double> placement_of(const Placement<T>& X, int instance) {
  Placement<double> r;
  for (int i = 0; i < 3; i++) {
    r.r(i) = lane(X.r(i), instance);
    for (int j = 0; j < 3; j++) r.R(i, j) = lane(X.R(i, j), instance);
  }
  return r;
}

// out  out (pair.slots)
template <class T, class P>
FS_HD void convex_pair(const auto& c, const ContactPair<P>& pair, const Placement<T>& A, const Placement<T>& B,
                       ContactPoint<T>* out) {
  auto found = scratch<ContactPoint<double>>(most_prisms);
  const Vec3<T> up{T(0.0), T(0.0), T(1.0)};
  for (int k = 0; k < pair.slots; k++) out[k] = {T(no_contact), zero3<T>(), up};
  for (int l = 0; l < lanes<T>; l++) {
    const int n = contacts_of_instance(c, pair, placement_of(A, l), placement_of(B, l), found.data());
    for (int k = 0; k < n; k++) {
      set_lane(out[k].distance, l, found[k].distance);
      for (int i = 0; i < 3; i++) {
        set_lane(out[k].point(i), l, found[k].point(i));
        set_lane(out[k].normal(i), l, found[k].normal(i));
      }
    }
  }
}

}  // namespace featherstorm
