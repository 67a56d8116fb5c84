// Data of a contact solver for one robot, and its inputs and outputs.
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

// Kind and number of rows of the blocks that may share a slot.
struct RowGroup {
  RowKind kind = RowKind::Equality;
  int rows = 1;
};

// Consecutive pairs, first <= pair < last, of the same two bodies, or of a static plane and the same body.
template <class P> struct PairGroup {
  int first = 0, last = 0;
  int plane = -1;  // among geoms
  int a = 0, b = 0;
  bool always = false;  // whether they always count as near
  // greatest squared distance of the bodies' bounding spheres' centres; with a plane, greatest height of the body's
  // centre
  P reach{};
};

// Necessary conditions for two geoms to touch (host/contacts/near_pairs.h).
enum class BoundShape : unsigned char { Round, AbovePlane, FirstIsBox, SecondIsBox, Differs };
inline constexpr double without_bound = 1e30;
template <class P> struct PairBound {
  int geom[2] = {};
  BoundShape shape = BoundShape::Round;
  P spheres{};  // greatest squared distance of bounding spheres' centres; with a plane, greatest height of a centre
  // from the axis of geom 1 or 2, a capsule, to the centre of the other, squared
  P about_axis[2] = {P(without_bound), P(without_bound)};
  P half[2]{};    // half lengths of these axes
  P about_box{};  // from the box to the centre of the other, squared
  P radius{};     // of the other geom, if it is a capsule
};

// Call visit(x) for each number of the gains of a contact.
template <class P> FS_HD void for_each_number(ContactGains<P>& g, const auto& visit) {
  ImpedanceCurve<P>& d = g.impedance;
  visit(d.first), visit(d.rise), visit(d.per_width), visit(d.midpoint), visit(d.below), visit(d.above);
  visit(d.exponent), visit(g.normal.stiffness), visit(g.normal.damping), visit(g.damping), visit(g.hardness);
  for (P& x : g.weight) visit(x);
  for (P& x : g.friction) visit(x);
  visit(g.greatest);
}
inline constexpr int numbers_of_gains = 12 + 2 * most_rows;
// Numbers of a pair for lists: gains, margin, detection.
inline constexpr int numbers_of_pair = numbers_of_gains + 2;

// Limbs of a robot, and their coordinates in rows of constraints and contacts (core/limbs/limb_newton.h). List:
// container of elements.
template <template <class> class List> struct LimbTablesOf {
  List<Limb> limb;
  List<int> place;                  // blocks of M (core/linear/limb_blocks.h)
  List<std::uint64_t> row, column;  // the same
  List<int> mass;                   // (numbers of M's blocks)  index of the entry in the packed M, or -1
  List<int> parent, first_dof;      // of bodies: (nb + 1), (nb + 2)
  List<int> limb_of;                // (nv)
  List<int> reference;              // (nb + 1)  the body whose origin is the reference point, or 0
  List<RowType> type;
  List<RowSegment> segment;
  List<int> type_of[2];  // (blocks of constraints), (pairs)  -1: of a body with the world
  List<int> body_of;     // (pairs)  the body that touches the world, negative if it has the first geom; else 0
  // (columns of constraints), (columns of pairs)  index among the type's columns; for a constraint that moves a
  // coordinate of a free limb, index of the limb's first column
  List<int> place_of[2];
  List<int> free_dof;              // (nv)  index among a free limb's coordinates, or -1
  int numbers, most_numbers;       // of M's blocks, alone and with the couplings of all types of rows
  int words, slots, slot_numbers;  // words of a set of limbs; greatest number of slots, and their numbers
  FS_HD int limbs() const { return static_cast<int>(limb.size()); }
  FS_HD LimbBlocks blocks() const {
    return {limbs(), words, numbers, limb.data(), place.data(), row.data(), column.data()};
  }
};
template <class Element> using VectorOfElements = std::vector<Element>;
using LimbTables = LimbTablesOf<VectorOfElements>;

// Counts for all contact candidates together. entries: numbers of their Jacobians
struct CandidateCounts { int slots = 0, rows = 0, entries = 0; };

// Data of the solver for one robot.
template <class P> struct ContactSolver {
  int nv = 0, nb = 0;
  World<P> world;          // with its contacts and their parameters
  RowPattern constraints;  // rows of constraints
  PairColumns pairs;       // columns of contacts
  CandidateCounts contacts;
  std::vector<int> first_row;  // (pairs) first candidate row, among the rows of contacts
  TouchNumbers touch;          // numbers that differ among instances
  // (pairs) numbers that contacts of pair p depend on: number[first_number[p]] ... number[first_number[p + 1] - 1]
  std::vector<int> number, first_number;
  std::vector<PairBound<P>> bound;     // (pairs)
  std::vector<ContactGains<P>> gains;  // (pairs)  empty if they differ among instances or depend on the state
  int lists = 0;                       // of pairs that are tested instance by instance (host/contacts/pair_lists.h)
  std::vector<int> list_of;            // (pairs) or -1
  std::vector<P> pair_number;          // (pairs, numbers_of_pair)
  std::vector<int> list_group;  // (lists)  lists whose contacts have the same number of rows and power of softness
  std::vector<unsigned> list_differs;  // (lists)  bit k: pair_number k differs among the pairs of the list's group
  std::vector<P> reach;                // (geoms) radius of the bounding sphere about its centre [m]; 0 of planes
  // Bodies that rotate by their gyroscopic terms while no contact has a row (core/mujoco/discrete_step.h), and, for
  // each body (nb + 1), its index among them or -1.
  std::vector<int> alone, alone_of;
  std::vector<char>
      reaches_differ;  // (pairs) whether the sizes of the geoms, or how far apart they touch, differ among instances
  std::vector<Vec3<P>> body_centre;          // (nb + 1)  of the bodies' bounding spheres, body axes
  std::vector<PairGroup<P>> group_of_pairs;  // all pairs
  EliminationTree own;                       // of M alone
  std::vector<int> diagonal;                 // (nv) of M
  std::vector<RowGroup> group;               // distinct kinds
  std::vector<int> group_of[2];              // (blocks of constraints), (pairs)
  std::vector<HalfSolution> half;            // for the rigid law, distinct ones
  std::vector<int> half_of[2];
  LimbTables limbs;
  bool forces = true;  // whether contact forces are requested
  int iterations = 100;
  int refinements = 1;  // refinements of a solution (core/limbs/limb_newton.h)
  P tolerance{};
  // The rigid law, if it replaces MuJoCo's. Margins of pairs are then increased by its look_ahead. D of its rows is
  // their scale.
  std::optional<RigidLaw<P>> rigid;
  bool report = false;  // whether residual and gap are requested
  ContactReadings<P> readings;
  std::vector<P> detection;  // (pairs) as in the file; contacts below it count
};

// Outputs of the equations (host/trace/world_programs.h), each an array of scalars.
template <class Array> struct SolverInputs {
  // (nh) M, or for the rigid law its factor (core/constraint/delassus.h)
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
  Array rows;           // number of rows with a force
  Array row_force;      // (rows of constraints)
  Array contact_force;  // (rows of contacts)
  Array residual, gap;  // residual of the solver, least distance of a contact
  Array touched;        // (alone) 1 where a contact has a row
  Array order_key;      // similar for instances that should share a pack
  Array searches;       // iterations that searched the line
  ReadContacts<Array> read;
};

// Blocks in memory that is allocated beforehand.
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
