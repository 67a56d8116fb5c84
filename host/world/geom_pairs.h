// Which geoms of a compiled MuJoCo model may touch.
#pragma once
#include <array>

#include "core/world/contacts.h"
#include "host/world/mujoco_tables.h"

namespace featherstorm {

// Two geoms that may touch, the first not after the second in MuJoCo's order of shapes.
struct GeomPair {
  int geom[2] = {};
  int named = -1;              // of <pair>; -1: they touch by themselves
  std::array<int, 5> order{};  // by bodies, within them those of <pair> first
};

// In the order of MuJoCo's contacts.
std::vector<GeomPair> geom_pairs(const MujocoTables& tables, const std::vector<Geom<double>>& geoms);

}  // namespace featherstorm
