// Kinematic loops of a closed-loop system: the joints that a Model, its spanning tree, does not contain. RBDA sections
// 4.1, 4.2, 8.1, 8.2.
//
//   robot.model.loops = close_loops(robot, {{"pin", LoopType::Revolute, "rod", tip, "", anchor}});
//
// Loop joint l runs from body p to body s and constrains the motion of its successor frame relative to its predecessor
// frame, axis z in both. The tree's joints stay as they are. Algorithms on loops take (model, loops), operations of the
// table the loops that the model carries.
#pragma once
#include <string>
#include <vector>

#include "core/spatial/transform.h"

namespace featherstorm {

struct Robot;
template <class P> struct Model;

// Types of loop joints with the number of their constraints, n^c_k = 6 - freedoms.
enum class LoopType {
  Fixed,        // 6; the universal loop joint
  Revolute,     // 5, about z
  Prismatic,    // 5, along z
  Helical,      // 5, along z by `parameter` [m/rad] times the angle
  RackPinion,   // 5, a pinion of radius `parameter` [m] rolls along the predecessor's x
  Cylindrical,  // 4
  Universal,    // 4, z of the predecessor is perpendicular to x of the successor
  Planar,       // 3, x-y plane
  Spherical,    // 3, origins coincide
  PointOnLine,  // 2, the successor's origin stays on the predecessor's z axis (sphere in a cylinder)
};

FS_HD constexpr int constraints_of(LoopType type) {
  switch (type) {
    case LoopType::Fixed: return 6;
    case LoopType::Revolute:
    case LoopType::Prismatic:
    case LoopType::Helical:
    case LoopType::RackPinion: return 5;
    case LoopType::Cylindrical:
    case LoopType::Universal: return 4;
    case LoopType::Planar:
    case LoopType::Spherical: return 3;
    case LoopType::PointOnLine: return 2;
  }
  return 0;
}

template <class P> struct Loop {
  LoopType type = LoopType::Fixed;
  int p = 0, s = 0;    // predecessor, successor body
  int row = 0;         // first of its rows in K
  P parameter{};       // pitch [m/rad], radius [m]
  Placement<P> X_P{};  // predecessor frame in body p
  Placement<P> X_S{};  // successor frame in body s
};

template <class P> struct Loops {
  using Number = P;
  int nl = 0;                 // loops
  int nc = 0;                 // constraints n^c, rows of K
  std::vector<Loop<P>> loop;  // (nl)
};

template <class P, class S> Loops<P> cast(const Loops<S>& loops) {
  Loops<P> r{loops.nl, loops.nc, {}};
  for (const Loop<S>& l : loops.loop)
    r.loop.push_back({l.type, l.p, l.s, l.row, P(l.parameter), cast<P>(l.X_P), cast<P>(l.X_S)});
  return r;
}

// A loop joint in the user's frames; link "" is the world.
struct LoopSpec {
  std::string name;
  LoopType type = LoopType::Revolute;
  std::string predecessor;
  Placement<double> X_P = identity_placement<double>();  // in the predecessor link
  std::string successor;
  Placement<double> X_S = identity_placement<double>();  // in the successor link
  double parameter = 0;
};

// The loops of a robot. Throws ModelError.
Loops<double> close_loops(const Robot& robot, const std::vector<LoopSpec>& specs);

// Minimal loop clusters, RBDA section 8.9: cluster[l] for each loop. Loops with a common tree joint are in one cluster,
// and K, G are block diagonal by clusters. Reference only: integers, computed once for a batch.
std::vector<int> loop_clusters(const Model<double>& m, const Loops<double>& loops);

}  // namespace featherstorm
