// What a solver of contacts knows of one robot, and what it is given and gives.
#pragma once
#include <optional>

#include "core/constraint/contact_rows.h"
#include "core/constraint/delassus.h"
#include "core/limbs/row_slots.h"
#include "core/linear/elimination_tree.h"
#include "core/linear/limb_blocks.h"
#include "core/mujoco/constrained.h"
#include "core/rigid/rigid_constraints.h"
#include "core/scalar/bits.h"
#include "core/scalar/instances.h"
#include "core/sensor/contact_readings.h"
#include "core/world/touch_numbers.h"
#include "host/memory/kernel.h"

namespace featherstorm {

// Blocks of rows that may share a place in the space of rows.
struct RowGroup {
  RowKind kind = RowKind::Equality;
  int rows = 1;
};

// Pairs that follow each other, of two bodies or of a plane that does not move and a body: first <= pair < last.
template <class P> struct PairGroup {
  int first = 0, last = 0;
  int plane = -1;  // among geoms
  int a = 0, b = 0;
  bool always = false;  // whether they count as near
  // between the centres of the bodies' bounding spheres, squared; of a plane how far above it that of the body may be
  P reach{};
};

// What is known of how two geoms must be to touch (host/contacts/near_pairs.h).
enum class BoundShape : unsigned char { Round, AbovePlane, FirstIsBox, SecondIsBox, Differs };
inline constexpr double without_bound = 1e30;
template <class P> struct PairBound {
  int geom[2] = {};
  BoundShape shape = BoundShape::Round;
  P spheres{};  // between the centres of their bounding spheres, squared; of a plane how far above it a centre may be
  // from the axis of geom 1 or 2, a capsule, to the centre of the other, squared
  P about_axis[2] = {P(without_bound), P(without_bound)};
  P half[2]{};    // half lengths of these axes
  P about_box{};  // from the box to the centre of the other, squared
  P radius{};     // of that one, if it is a capsule
};

// visit(x) for each number of the gains of a contact.
template <class P> FS_HD void for_each_number(ContactGains<P>& g, const auto& visit) {
  ImpedanceCurve<P>& d = g.impedance;
  visit(d.first), visit(d.rise), visit(d.per_width), visit(d.midpoint), visit(d.below), visit(d.above);
  visit(d.exponent), visit(g.normal.stiffness), visit(g.normal.damping), visit(g.damping), visit(g.hardness);
  for (P& x : g.weight) visit(x);
  for (P& x : g.friction) visit(x);
}
inline constexpr int numbers_of_gains = 11 + 2 * most_rows;
// Numbers of a pair for lists: gains, margin, detection.
inline constexpr int numbers_of_pair = numbers_of_gains + 2;

// Limbs of a robot, and how the rows of constraints and contacts move them (core/limbs/limb_newton.h). List: of elements in memory.
template <template <class> class List> struct LimbTablesOf {
  List<Limb> limb;
  List<int> place;                  // blocks of M (core/linear/limb_blocks.h)
  List<std::uint64_t> row, column;  // the same
  List<int> mass;                   // (numbers of M's blocks)  which entry of the packed M, or -1
  List<int> parent, first_dof;      // (nb + 1), (nb + 2)  of bodies
  List<int> limb_of;                // (nv)
  List<int> reference;              // (nb + 1)  the body whose origin is the reference point, or 0
  List<RowType> type;
  List<RowSegment> segment;
  List<int> type_of[2];  // (blocks of constraints), (pairs)  -1: of a body with the world
  List<int> body_of;     // (pairs)  that body, below zero where it is that of the first geom, or 0
  // (columns of constraints), (columns of pairs)  where among the type's columns; of constraints with a coordinate of a free limb, where
  // the limb's begin
  List<int> place_of[2];
  List<int> free_dof;              // (nv)  which of a free limb's coordinates, or -1
  int numbers, most_numbers;       // of M's blocks, and where all types of rows are there
  int words, slots, slot_numbers;  // of sets of limbs; slots at most, and their numbers
  FS_HD int limbs() const { return static_cast<int>(limb.size()); }
  FS_HD LimbBlocks blocks() const {
    return {limbs(), words, numbers, limb.data(), place.data(), row.data(), column.data()};
  }
};
template <class Element> using VectorOfElements = std::vector<Element>;
using LimbTables = LimbTablesOf<VectorOfElements>;

// Of all candidates of contacts together.
struct CandidateCounts { int slots = 0, rows = 0, entries = 0; };  // entries: numbers of their Jacobians

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
  std::vector<PairBound<P>> bound;     // (pairs)
  std::vector<ContactGains<P>> gains;  // (pairs)  empty where they differ among instances, or with time
  int lists = 0;                       // of pairs that are looked at instance by instance (host/contacts/pair_lists.h)
  std::vector<int> list_of;            // (pairs) or -1
  std::vector<P> pair_number;          // (pairs, numbers_of_pair)
  std::vector<int> list_group;  // (lists)  lists whose contacts have the same number of rows and power of softness
  std::vector<unsigned> list_differs;  // (lists)  which of these are not the same of all pairs of its group, a bit each
  std::vector<P> reach;                // (geoms) radius of the bounding sphere about its centre [m]; 0 of planes
  // Bodies that turn by their gyroscopic terms where no contact has a row (core/mujoco/discrete_step.h), and (nb + 1) which of them a
  // body is, or -1.
  std::vector<int> alone, alone_of;
  std::vector<char>
      reaches_differ;  // (pairs) whether the sizes of the geoms, or how far apart they touch, differ among instances
  std::vector<Vec3<P>> body_centre;          // (nb + 1)  of the bodies' bounding spheres, body axes
  std::vector<PairGroup<P>> group_of_pairs;  // all pairs
  EliminationTree own;                       // of M alone
  std::vector<int> diagonal;                 // (nv) of M
  std::vector<RowGroup> group;               // those there are
  std::vector<int> group_of[2];              // (blocks of constraints), (pairs)
  std::vector<HalfSolution> half;            // of the rigid law, those there are
  std::vector<int> half_of[2];
  LimbTables limbs;
  bool forces = true;  // whether those of contacts are asked for
  int iterations = 100;
  int refinements = 1;  // of a solution (core/limbs/limb_newton.h)
  P tolerance{};
  // The rigid law in place of MuJoCo's; margins of pairs are greater by its look_ahead then. D of its rows is their scale.
  std::optional<RigidLaw<P>> rigid;
  bool report = false;  // whether residual and gap are asked for
  ContactReadings<P> readings;
  std::vector<P> detection;  // (pairs) the file's, below which contacts count
};

// What the equations hand on (host/trace/world_programs.h), each an array of scalars.
template <class Array> struct SolverInputs {
  // (nh) M, or of the rigid law its factor (core/constraint/delassus.h)
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
  Array order_key;      // near for instances that should stand side by side
  Array searches;       // how many of the passes searched the line
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

}  // namespace featherstorm
