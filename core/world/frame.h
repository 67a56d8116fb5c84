// A frame fixed to a body.
#pragma once
#include "core/spatial/transform.h"

namespace featherstorm {

template <class P> struct Frame {
  int body = 0;      // 0: the world
  Placement<P> X{};  // frame in the body
};
template <class P, class S> FS_HD Frame<P> cast(const Frame<S>& f) { return {f.body, cast<P>(f.X)}; }

}  // namespace featherstorm
