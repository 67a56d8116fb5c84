// The system model (RBDA chapter 4, Table 4.3): bodies, joints, parents, placements, inertias, derived index tables.
//
// Immutable after ModelBuilder::build. Body 0 is the world; bodies 1..nb are numbered depth first, with parent < own
// number. A body's frame has its joint's axis as z; the frames users name (links of a file) are placed relative to it.
// P is the scalar of the parameters: double in the reference, float beside a pack of floats, or a tracing scalar.
#pragma once
#include <vector>

#include "core/joint/joint_type.h"
#include "core/joint/user_joint.h"
#include "core/model/contacts.h"
#include "core/model/coupling.h"
#include "core/model/loops.h"
#include "core/spatial/transform.h"
#include "core/world/world.h"

namespace featherstorm {

template <class P> struct Body {
  int parent = 0;                     // lambda(i)
  JointType type = JointType::Fixed;  // joint from the parent to this body
  JointShape shape = JointShape::General1;
  bool reversed = false;     // the joint runs from this body to its parent (RBDA 4.1.3)
  int q = 0, v = 0;          // first position and velocity coordinate
  int x = 0;                 // first of the numbers an algorithm keeps for this joint (joints.h)
  int user = 0;              // index of the user-defined joint
  bool rotor = false;        // true if any of its coordinates has an armature
  P parameter{};             // pitch of a helical joint [m/rad], radius of a rack and pinion [m]
  RotationZ<P> zero{};       // revolute: fixed turn about z added to q
  RotationX<P> tilt{};       // RevoluteTilted: the rotation of the placement
  Placement<P> X_T{};        // fixed placement of the joint in the parent; without `zero`
  RigidBodyInertia<P> I{};   // about the body's origin, body axes
  Sym3<P> second_moments{};  // int r r^T dm about the body's origin [kg m^2], from I
};

template <class P> struct Model {
  using Number = P;
  int nb = 0;                   // moving bodies
  int nq = 0;                   // positions
  int nv = 0;                   // velocities
  int nx = 0;                   // joint numbers (joints.h)
  int nh = 0;                   // entries of the packed joint-space inertia matrix, n + D1
  int nf = 0;                   // named frames
  std::vector<Body<P>> body;    // (nb + 1)
  std::vector<Frame<P>> frame;  // (nf)
  Vec3<P> gravity;              // world [m/s^2]

  std::vector<P> armature;      // (nv) reflected rotor inertia [kg m^2 | kg]
  std::vector<P> damping;       // (nv) [N m s | N s/m]
  std::vector<P> friction;      // (nv) dry friction [N m | N]
  std::vector<P> lower, upper;  // (nv) position limits, +-infinity where there is none [rad | m]
  std::vector<P> max_velocity;  // (nv) [rad/s | m/s]
  std::vector<P> max_effort;    // (nv) [N m | N]
  std::vector<int> dof_q;       // (nv) position coordinate that a limit applies to, -1 where v is not its derivative

  std::vector<int> dof_body;    // (nv) body whose joint has this coordinate
  std::vector<int> dof_parent;  // (nv) expanded parent array lambda', -1 at a root (RBDA Table 6.4)
  std::vector<int> depth;       // (nv) number of ancestors in dof_parent
  std::vector<int> row_start;   // (nv + 1) packed lower triangle: row i holds its ancestors from the root, then i
  std::vector<int> column;      // (nh) column of each packed entry
  std::vector<UserJoint> user;  // user-defined joints

  // Parts beside the tree, for operations that need them; empty where there are none.
  Loops<P> loops;        // kinematic loops (close_loops)
  Coupling<P> coupling;  // gears and mimic joints (couple)
  Contacts<P> contacts;  // pairs that may touch (contacts_of)
  World<P> world;        // other parts of a model file

  // Index of entry (i, j) of the packed lower triangle; j must be i or an ancestor of i.
  FS_HD int at(int i, int j) const { return row_start[i] + depth[j]; }
};

// The same model with parameters of another scalar.
template <class P, class S> Model<P> cast(const Model<S>& m);

// kappa(i): the bodies on the path from the world to body i, i last. nu(i): the bodies of the subtree of i.
// mu(i): children.
template <class P> std::vector<int> support(const Model<P>& m, int i) {
  std::vector<int> k;
  for (; i > 0; i = m.body[i].parent) k.insert(k.begin(), i);
  return k;
}
template <class P> std::vector<int> subtree(const Model<P>& m, int i) {
  std::vector<int> nu;
  std::vector<char> in(m.nb + 1);
  in[i] = 1;
  for (int j = i; j <= m.nb; j++) {
    if (j > 0 && j != i) in[j] = in[m.body[j].parent];
    if (in[j]) nu.push_back(j);
  }
  return nu;
}
template <class P> std::vector<int> children(const Model<P>& m, int i) {
  std::vector<int> mu;
  for (int j = 1; j <= m.nb; j++)
    if (m.body[j].parent == i) mu.push_back(j);
  return mu;
}

template <class P, class S> Model<P> cast(const Model<S>& m) {
  Model<P> r;
  r.nb = m.nb, r.nq = m.nq, r.nv = m.nv, r.nx = m.nx, r.nh = m.nh, r.nf = m.nf;
  auto numbers = [](const std::vector<S>& a) {
    std::vector<P> b;
    for (const S& x : a) b.push_back(P(x));
    return b;
  };
  for (const Body<S>& b : m.body)
    r.body.push_back({b.parent,
                      b.type,
                      b.shape,
                      b.reversed,
                      b.q,
                      b.v,
                      b.x,
                      b.user,
                      b.rotor,
                      P(b.parameter),
                      {P(b.zero.c), P(b.zero.s)},
                      {P(b.tilt.c), P(b.tilt.s)},
                      cast<P>(b.X_T),
                      cast<P>(b.I),
                      cast<P>(b.second_moments)});
  for (const Frame<S>& f : m.frame) r.frame.push_back(cast<P>(f));
  r.gravity = cast<P>(m.gravity);
  r.armature = numbers(m.armature), r.damping = numbers(m.damping), r.friction = numbers(m.friction);
  r.lower = numbers(m.lower), r.upper = numbers(m.upper);
  r.max_velocity = numbers(m.max_velocity), r.max_effort = numbers(m.max_effort);
  r.dof_q = m.dof_q, r.dof_body = m.dof_body, r.dof_parent = m.dof_parent, r.depth = m.depth;
  r.row_start = m.row_start, r.column = m.column, r.user = m.user;
  r.loops = cast<P>(m.loops), r.coupling = cast<P>(m.coupling), r.contacts = cast<P>(m.contacts);
  r.world = cast<P>(m.world);
  return r;
}

}  // namespace featherstorm
