// Pairs of shapes without a closed form, and height fields.
//
// The length of their loops depends on the numbers. The instances of a scalar are therefore processed one after the
// other, in double. These algorithms cannot be traced.
#pragma once
#include <stdexcept>
#include <type_traits>

#include "core/collision/height_field.h"
#include "core/convex/flat_contacts.h"

namespace featherstorm {

// Exception of a traced algorithm that would need such loops.
struct NoTrace : std::length_error {
  NoTrace()
      : std::length_error("contacts of shapes without a closed form are found by loops, which are not unrolled") {}
};

// A separate function, because device code has no exceptions.
template <class T> [[noreturn]] void cannot_trace() { throw NoTrace(); }

constexpr bool is_convex(GeomType t) {
  return t == GeomType::Sphere || t == GeomType::Capsule || t == GeomType::Ellipsoid || t == GeomType::Cylinder ||
         t == GeomType::Box || t == GeomType::Mesh;
}

// Computes the contacts of one instance.
// in   far    contacts are closer than this [m]
// in   slots  greatest number of contacts of a height field
// out  out (slots)
// returns the number of contacts
template <class S>
__attribute__((noinline)) FS_HD int contacts_of_instance(const auto& c, const Geom<S>& a, const Geom<S>& b, double far,
                                                         int slots, const Placement<double>& A,
                                                         const Placement<double>& B, ContactPoint<double>* out) {
  if (a.type != GeomType::HeightField)
    return convex_contacts(convex_body(c, a, A), convex_body(c, b, B), far, c.several, out);
  const Placement<double> in_field{transposed(A.R) * B.R, transpose_times(A.R, Vec3<double>(B.r - A.r))};
  const int n = height_field_contacts(c.field[a.field], convex_body(c, b, in_field), far, slots, out);
  for (int k = 0; k < n; k++) out[k] = {out[k].distance, A.r + A.R * out[k].point, A.R * out[k].normal};
  return n;
}

// Returns the placement of one instance, without a copy if T is double.
template <class T> FS_HD decltype(auto) placement_of(const Placement<T>& X, int instance) {
  if constexpr (std::is_same_v<T, double>) {
    return (X);
  } else {
    Placement<double> r;
    for (int i = 0; i < 3; i++) {
      r.r(i) = lane(X.r(i), instance);
      for (int j = 0; j < 3; j++) r.R(i, j) = lane(X.R(i, j), instance);
    }
    return r;
  }
}

// Returns a geom with the size of one instance, without a copy if S holds a single value.
template <class S> FS_HD decltype(auto) geom_of_instance(const Geom<S>& g, int instance) {
  if constexpr (lanes<S> == 1) {
    return (g);
  } else {
    using Number = decltype(lane(g.size(0), 0));
    Geom<Number> r{g.type, {g.place.body, identity_placement<Number>()}, zero3<Number>(), g.hull, g.field};
    for (int k = 0; k < 3; k++) r.size(k) = lane(g.size(k), instance);
    return r;
  }
}

// Computes the contacts of all instances.
//
// out  out (pair.slots)
template <class T, class S, class D>
FS_HD void convex_pair(const auto& c, const Geom<S>& a, const Geom<S>& b, const ContactPair<D>& pair,
                       const Placement<T>& A, const Placement<T>& B, ContactPoint<T>* out) {
  auto found = scratch<ContactPoint<double>>(most_prisms);
  const Vec3<T> up{T(0.0), T(0.0), T(1.0)};
  for (int k = 0; k < pair.slots; k++) out[k] = {T(no_contact), zero3<T>(), up};
  for (int l = 0; l < lanes<T>; l++) {
    const int n = contacts_of_instance(c, geom_of_instance(a, l), geom_of_instance(b, l),
                                       static_cast<double>(lane(pair.detection, l)), pair.slots, placement_of(A, l),
                                       placement_of(B, l), found.data());
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
