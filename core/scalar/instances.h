// Sets of the instances in a scalar, one bit for each.
#pragma once
#include "core/scalar/scalar.h"

namespace featherstorm {

// The instances whose number is above or below zero. Packs have their own (host/cpu/pack_instances.h).
FS_HD unsigned instances_above_zero(const double& x) { return x > 0 ? 1 : 0; }
FS_HD unsigned instances_above_zero(const float& x) { return x > 0 ? 1 : 0; }
FS_HD unsigned instances_below_zero(const double& x) { return x < 0 ? 1 : 0; }
FS_HD unsigned instances_below_zero(const float& x) { return x < 0 ? 1 : 0; }

// A set as a condition for select().
template <class T> struct InstancesOf {
  FS_HD static bool where(unsigned bits) { return bits != 0; }
};
template <class T> FS_HD auto where(unsigned bits) { return InstancesOf<T>::where(bits); }

template <class T> inline constexpr unsigned all_instances = lanes<T> == 32 ? ~0u : (1u << lanes<T>)-1;

// The type of one instance's number in a scalar, and access to it.
template <class T> struct NumberIn { using Type = T; };
template <class Number, class T> FS_HD Number& number_of(T& x, int instance) {
  return reinterpret_cast<Number*>(&x)[instance];
}
template <class Number, class T> FS_HD const Number& number_of(const T& x, int instance) {
  return reinterpret_cast<const Number*>(&x)[instance];
}

// Makes a scalar from number(i) of each instance i. Packs have their own.
template <class T> FS_HD T number_by_number(auto&& number) {
  if constexpr (lanes<T> == 1) return T(number(0));
  else return NumberIn<T>::pack(number);
}

// x in the instances of a set, else 0.
template <class T> FS_HD T keep(unsigned bits, const T& x) { return select(where<T>(bits), x, T(0.0)); }

}  // namespace featherstorm
