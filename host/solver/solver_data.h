// What a solver of contacts knows of one robot, and what it is given and gives.
#pragma once
#include <optional>

#include "core/constraint/contact_rows.h"
#include "core/constraint/delassus.h"
#include "core/linear/elimination_tree.h"
#include "core/mujoco/constrained.h"
#include "core/rigid/rigid_constraints.h"
#include "core/scalar/bits.h"
#include "core/sensor/contact_readings.h"
#include "core/world/touch_numbers.h"
#include "host/memory/kernel.h"

namespace featherstorm {

// Blocks of rows that may share a place in the space of rows.
struct RowGroup {
  RowKind kind = RowKind::Equality;
  int rows = 1;
};

// Contacts whose rows move the same coordinates.
struct ContactBranches {
  RowKind kind = RowKind::Unilateral;
  int rows = 1;
  int pair = 0;  // one that has them
};

// Of all candidates of contacts together.
struct CandidateCounts { int slots = 0, rows = 0, entries = 0; };  // entries: numbers of their Jacobians

// Two bodies whose geoms may touch, and how far apart the centres of their bounding spheres may be then; or a plane that does not move and
// a body, and how far above it that one's centre.
template <class P> struct BodyPair {
  int plane = -1;  // among geoms
  int a = 0, b = 0;
  P reach{};
};

// Data of one robot.
template <class P> struct ContactSolver {
  int nv = 0, nb = 0;
  World<P> world;          // its contacts and how they are held
  RowPattern constraints;  // rows of constraints
  PairColumns pairs;       // columns of contacts
  CandidateCounts contacts;
  std::vector<int> first_row;  // (pairs) of its candidates, among the rows of contacts
  TouchNumbers touch;          // which numbers differ from instance to instance
  // (pairs) those that contacts of pair p hang on: number[first_number[p]] ... number[first_number[p + 1] - 1]
  std::vector<int> number, first_number;
  std::vector<P> reach;  // (geoms) radius of the bounding sphere about its centre [m]; 0 of planes
  // Bodies that turn by their gyroscopic terms where no contact has a row (core/mujoco/discrete_step.h), and (nb + 1) which of them a
  // body is, or -1.
  std::vector<int> alone, alone_of;
  std::vector<char>
      reaches_differ;  // (pairs) whether the sizes of the geoms, or how far apart they touch, differ among instances
  // Bodies before their geoms: centres of their bounding spheres (nb + 1) in their axes; (pairs) which of `bodies`, or -1.
  std::vector<Vec3<P>> body_centre;
  std::vector<BodyPair<P>> bodies;
  std::vector<int> bodies_of;
  std::vector<int> next_bodies;              // (pairs) the next one that is of others
  EliminationTree own;                       // of M alone
  std::vector<int> diagonal;                 // (nv) of M
  std::vector<RowGroup> group;               // those there are
  std::vector<HalfSolution> half;            // those there are
  std::vector<int> group_of[2], half_of[2];  // (blocks of constraints), (pairs)
  std::vector<ContactBranches> branches;     // those there are
  std::vector<int> branches_of;              // (pairs)
  bool forces = true;                        // whether those of contacts are asked for
  int most_rows = 0;                         // of an instance that is solved in the space of rows; 0: none is
  int iterations = 100;
  P tolerance{};
  // The rigid law in place of MuJoCo's; margins of pairs are greater by its look_ahead then. D of its rows is their scale.
  std::optional<RigidLaw<P>> rigid;
  bool report = false;  // whether residual and gap are asked for
  ContactReadings<P> readings;
  std::vector<P> detection;  // (pairs) the file's, below which contacts count
};

// What the equations hand on (host/trace/world_programs.h), each an array of scalars.
template <class Array> struct SolverInputs {
  // (nh) M where all instances are solved in the space of coordinates, else its factor (core/constraint/delassus.h)
  Array inertia;
  Array qacc_smooth;                  // (nv)
  Array jacobian, D, aref, friction;  // rows of constraints
  Array placement, twist, axis;       // (nb + 1) R row by row, r; (nb + 1) w, v; (nv) w, v
  Array qacc;                         // (nv)
  Array touch;                        // (touch.size)
  Array weights;                      // of rows (core/constraint/row_inertia.h)
  Array zones;                        // (zones, 12) of `readings`: R row by row, r
};
template <class Array> struct SolverOutputs {
  Array qacc, passes;
  Array rows;           // how many have a force
  Array row_force;      // (rows of constraints)
  Array contact_force;  // (rows of contacts)
  Array residual, gap;  // what the solver leaves undone, the least distance of a contact
  Array touched;        // (alone) 1 where a contact has a row
  ReadContacts<Array> read;
};

// Blocks in memory taken beforehand.
struct BlockList {
  PackedBlock* data;
  int count = 0;
  FS_HD PackedBlock* begin() const { return data; }
  FS_HD PackedBlock* end() const { return data + count; }
  FS_HD std::size_t size() const { return static_cast<std::size_t>(count); }
  FS_HD const PackedBlock& operator[](int i) const { return data[i]; }
  FS_HD void push_back(const PackedBlock& b) { data[count++] = b; }
};

// Which instances of x are above zero, a bit each; and where bits are set.
FS_HD unsigned instances_above_zero(const double& x) { return x > 0 ? 1 : 0; }
FS_HD unsigned instances_above_zero(const float& x) { return x > 0 ? 1 : 0; }
template <class T> struct InstancesOf {
  FS_HD static bool where(unsigned bits) { return bits != 0; }
};
template <class T> FS_HD auto where(unsigned bits) { return InstancesOf<T>::where(bits); }

}  // namespace featherstorm
