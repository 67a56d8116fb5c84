// A pack of instances of an array in memory.
#pragma once
#include "core/scalar/pack.h"
#include "host/memory/kernel.h"

namespace featherstorm {

// Components of the pack of instances first .. first + W - 1: element i is a pack in memory.
template <class T, class Real> struct PackView {
  Real* data;
  long stride;
  T& operator[](int i) const { return *reinterpret_cast<T*>(data + i * stride); }
};

template <class T, class Real> Array array_of(const PackView<T, Real>& view) { return {view.data, view.stride}; }

}  // namespace featherstorm
