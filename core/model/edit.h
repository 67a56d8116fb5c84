// Robots made of robots: descriptions (links, joints, frames as a ModelBuilder holds them) merged, cut, re-rooted, with
// joints replaced or locked. RBDA sections 4.1 (any body may be the floating base, joint polarity) and 3.5 (a joint
// without freedom is a weld).
//
//   ModelBuilder hand = ..., arm = description(load_urdf("arm.urdf"));
//   JointSpec flange{"flange", JointType::Fixed, "tool0", "palm"};
//   Robot robot = merged(arm, hand, flange, "hand_").build();
//
// Links keep their names and frames, joints keep their names and the meaning and sign of their coordinates; only the
// order of coordinates follows from the new tree. Nothing here changes its argument. All throw ModelError.
//
// A description contains only the tree. Loops, couplings and contacts of a robot (model.h) are left out, because they
// hold indices of bodies and coordinates. close_loops, couple and contacts_of make them by name for the new robot.
#pragma once
#include "core/model/builder.h"

namespace featherstorm {

// Merges both robots; `joint` leads from a link or frame of a (or "", the world) to the root link of b, which no longer
// floats. `prefix` is put before the names of b's links, joints and frames; joint.child is the name without it.
// Gravity is a's.
ModelBuilder merged(const ModelBuilder& a, const ModelBuilder& b, JointSpec joint, const std::string& prefix = "");

// The robot without the subtree behind a joint, that subtree, and the joint between them: merged(rest, part, joint) is
// the robot again. The part's root stands on the world; part.float_root(joint.child) lets it move.
struct CutRobot {
  ModelBuilder rest, part;
  JointSpec joint;
};
CutRobot cut(const ModelBuilder& robot, const std::string& joint);

// The robot with another root: joints between the old root and `link` are reversed. The root link floats where the old
// one did (by float_root or by a free joint to the world), else it is fixed to the world with its own frame. A reversed
// joint keeps its coordinates: revolute, prismatic, helical and cylindrical joints reverse their axis; others are
// reversed by polarity (RBDA Table 4.2), for which a link without mass, named `<joint>_base`, carries the joint's
// frame.
ModelBuilder rerooted(const ModelBuilder& robot, const std::string& link);

// The robot with another joint in place of the one with this name; a parent or child that is empty is the old joint's.
ModelBuilder replaced(const ModelBuilder& robot, JointSpec joint);

// The robot with the joint welded at position q (its nq numbers).
ModelBuilder locked(const ModelBuilder& robot, const std::string& joint, const std::vector<double>& q);

// The robot with its joints in this order, which must contain every name once. It decides the numbering of bodies.
ModelBuilder reordered(const ModelBuilder& robot, const std::vector<std::string>& joints);

// Placement of the child link in the parent link at position q, polarity included. Not for time-dependent joints.
Placement<double> placement_at(const JointSpec& joint, const std::vector<double>& q);

// The description of a robot that was built or loaded: one link for each body, with the inertia of all links merged
// into it, and frames for the other links. Links welded to the world become links without mass.
ModelBuilder description(const Robot& robot);

}  // namespace featherstorm
