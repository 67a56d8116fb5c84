// The pairs of geoms of a compiled MuJoCo model that may touch.
#pragma once
#include <array>

#include "core/world/contacts.h"
#include "host/world/mujoco_tables.h"

namespace featherstorm {

// Two geoms that may touch, the first not after the second in MuJoCo's order of shapes.
struct GeomPair {
  int geom[2] = {};
  int named = -1;              // index of the <pair>; -1: found by the geoms' bodies
  std::array<int, 5> order{};  // sort key: by bodies, and for the same bodies <pair> first
};

// A table that MuJoCo does not have: numbers of the two geoms of each pair that may touch. Without it all pairs may.
inline constexpr const char* kept_pairs = "kept_pairs";

// The pairs in the order of MuJoCo's contacts.
std::vector<GeomPair> geom_pairs(const MujocoTables& tables, const std::vector<Geom<double>>& geoms);

}  // namespace featherstorm
