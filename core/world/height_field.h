// Terrain as heights on a grid.
//
// Row i, column j is at (2 j / (columns - 1) - 1) x, (2 i / (rows - 1) - 1) y in the geom's axes. Its height above the
// geom's origin is `top` times the stored height. Each cell has two triangles and is solid down to `bottom` below the
// origin.
#pragma once
#include <vector>

#include "core/spatial/vector3.h"

namespace featherstorm {

template <class P> struct HeightField {
  int rows = 0, columns = 0;
  P x{}, y{}, top{}, bottom{};  // half lengths, height of a stored 1, depth below the origin [m] [hfield_size]
  std::vector<P> height;        // (rows * columns) row by row, 0 to 1 [hfield_data]
};

template <class P, class S> HeightField<P> cast(const HeightField<S>& f) {
  HeightField<P> r{f.rows, f.columns, P(f.x), P(f.y), P(f.top), P(f.bottom), {}};
  for (const S& h : f.height) r.height.push_back(P(h));
  return r;
}

}  // namespace featherstorm
