// The contact solver of one robot as a kernel's parameter: the members of a ContactSolver that
// host/solver/contact_solve.h reads, with the same names, and with arrays in one block of device memory.
#pragma once
#include <array>
#include <vector>

#include "cuda/kernels/instance_view.h"
#include "host/contacts/solver_data.h"
#include "host/memory/cuda_table.h"

namespace featherstorm {

// An array in device memory, with the functions of a vector that the solver's algorithms call.
template <class E> struct Listed {
  const E* first;
  int count;
  FS_HD std::size_t size() const { return static_cast<std::size_t>(count); }
  FS_HD bool empty() const { return count == 0; }
  FS_HD const E* data() const { return first; }
  FS_HD const E* begin() const { return first; }
  FS_HD const E* end() const { return first + count; }
  FS_HD const E& operator[](int i) const { return first[i]; }
};

// core/world/hull.h, core/world/height_field.h, core/world/contacts.h
template <class P> struct DeviceHullCorner {
  Vec3<P> r;
  Listed<HullFace<P>> face;
};
template <class P> struct DeviceHullPolygon {
  Vec3<P> normal;
  Listed<int> corner;
};
template <class P> struct DeviceHull {
  Listed<DeviceHullCorner<P>> corner;
  Listed<DeviceHullPolygon<P>> polygon;
  Listed<int> neighbour, first_neighbour;
  P reach;
};
template <class P> struct DeviceHeightField {
  int rows, columns;
  P x, y, top, bottom;
  Listed<P> height;
};
template <class P> struct DeviceGeomContacts {
  Listed<Geom<P>> geom;
  Listed<DeviceHull<P>> hull;
  Listed<DeviceHeightField<P>> field;
  Listed<ContactPair<P>> pair;
  bool several, elliptic;
  P impedance_ratio;
};
// The members of a world that rows of contacts need.
template <class P> struct DeviceContactWorld {
  P timestep;
  struct { bool safe_reference, exact_inertia; } constraints;
  bool discrete;
  DeviceGeomContacts<P> contacts;
  NoSlip<P> no_slip;
  FS_HD bool is_discrete() const { return discrete; }
};

struct DevicePairColumns {
  Listed<PathColumn> column;
  Listed<int> start;
  FS_HD int columns(int pair) const { return start[pair + 1] - start[pair]; }
};
struct DeviceTree {
  int nv, nh;
  Listed<int> dof_parent, depth, row_start, column;
  FS_HD int at(int i, int j) const { return row_start[i] + depth[j]; }
};
struct DeviceHalfSolution {
  Listed<int> column, position, start;
  Listed<HalfSolution::Term> term;
};
struct DeviceTouchNumbers {
  int size;
  Listed<std::array<int, 18>> of_pair;
  Listed<int> power;
  Listed<std::array<int, 16>> of_geom;
  std::array<int, 2> of_all;
  FS_HD bool margin_differs(int pair) const {
    return !of_pair.empty() && (of_pair[pair][16] >= 0 || of_pair[pair][17] >= 0);
  }
};

// core/world/contact_readings.h
template <class P> struct DeviceContactReadings {
  Listed<int> link;
  Listed<ContactZone<P>> zone;
  Listed<ContactSensor> sensor;
  Listed<unsigned char> side;
  int selections, links;
  bool counts;
};

// host/contacts/solver_data.h
template <class P> struct DeviceSolver {
  int nv, nb;
  LimbTablesOf<Listed> limbs;
  DeviceContactWorld<P> world;
  RowPatternOf<Listed<PackedBlock>, Listed<int>> constraints;
  DevicePairColumns pairs;
  CandidateCounts contacts;
  Listed<int> first_row;
  DeviceTouchNumbers touch;
  Listed<int> number, first_number;
  Listed<P> reach;
  Listed<int> alone, alone_of;
  Listed<char> reaches_differ;
  Listed<PairBound<P>> bound;
  Listed<ContactGains<P>> gains;
  Listed<Vec3<P>> body_centre;
  Listed<PairGroup<P>> group_of_pairs;
  DeviceTree own;
  Listed<int> diagonal;
  Listed<RowGroup> group;
  Listed<DeviceHalfSolution> half;
  Listed<int> group_of[2], half_of[2];
  bool forces;
  int iterations, refinements;
  P tolerance;
  std::optional<RigidLaw<P>> rigid;
  bool report;
  DeviceContactReadings<P> readings;
  Listed<P> detection;
};

// Arguments of a launch besides the solver: arrays in the order of host/solver/contact_solver.h, and working memory.
// most_numbers and most_bytes are the sizes for one thread; the numbers of a warp lie together.
template <class Real, SolverAlgorithm text> struct SolverArguments {
  InstanceView<Real> in[arrays_of(text).in], out[arrays_of(text).out];
  Real* numbers;
  unsigned char* bytes;
  int most_numbers, most_bytes;
  int count;
};

// Return the solver in its device form. place(vector) returns the address at which the first element of an array lies.
template <class P, class Place> DeviceSolver<P> device_solver(const ContactSolver<P>& s, Place&& place) {
  const auto listed = [&]<class E>(const std::vector<E>& array) {
    return Listed<E>{place(array), static_cast<int>(array.size())};
  };
  const auto tree = [&](const EliminationTree& t) {
    return DeviceTree{t.nv, t.nh, listed(t.dof_parent), listed(t.depth), listed(t.row_start), listed(t.column)};
  };
  const auto hull = [&](const Hull<P>& h) {
    std::vector<DeviceHullCorner<P>> corner;
    for (const HullCorner<P>& c : h.corner) corner.push_back({c.r, listed(c.face)});
    std::vector<DeviceHullPolygon<P>> polygon;
    for (const HullPolygon<P>& p : h.polygon) polygon.push_back({p.normal, listed(p.corner)});
    return DeviceHull<P>{listed(corner), listed(polygon), listed(h.neighbour), listed(h.first_neighbour), h.reach};
  };
  DeviceSolver<P> d{};
  d.nv = s.nv, d.nb = s.nb;
  d.world.timestep = s.world.timestep, d.world.discrete = s.world.is_discrete();
  d.world.constraints = {s.world.constraints.safe_reference, s.world.constraints.exact_inertia};
  d.world.no_slip = s.world.no_slip;
  const GeomContacts<P>& from = s.world.contacts;
  DeviceGeomContacts<P>& to = d.world.contacts;
  std::vector<DeviceHull<P>> hulls;
  for (const Hull<P>& h : from.hull) hulls.push_back(hull(h));
  std::vector<DeviceHeightField<P>> fields;
  for (const HeightField<P>& f : from.field)
    fields.push_back({f.rows, f.columns, f.x, f.y, f.top, f.bottom, listed(f.height)});
  to.geom = listed(from.geom), to.hull = listed(hulls), to.field = listed(fields), to.pair = listed(from.pair);
  to.several = from.several, to.elliptic = from.elliptic, to.impedance_ratio = from.impedance_ratio;
  d.constraints = {listed(s.constraints.block), listed(s.constraints.column)};
  d.pairs = {listed(s.pairs.column), listed(s.pairs.start)};
  d.contacts = s.contacts;
  for (int k = 0; k < 2; k++) d.group_of[k] = listed(s.group_of[k]), d.half_of[k] = listed(s.half_of[k]);
  d.first_row = listed(s.first_row);
  d.touch = {s.touch.size, listed(s.touch.of_pair), listed(s.touch.power), listed(s.touch.of_geom), s.touch.of_all};
  d.number = listed(s.number), d.first_number = listed(s.first_number);
  d.alone = listed(s.alone), d.alone_of = listed(s.alone_of), d.reaches_differ = listed(s.reaches_differ);
  d.reach = listed(s.reach), d.body_centre = listed(s.body_centre);
  d.bound = listed(s.bound), d.gains = listed(s.gains), d.group_of_pairs = listed(s.group_of_pairs);
  d.own = tree(s.own), d.diagonal = listed(s.diagonal), d.group = listed(s.group);
  std::vector<DeviceHalfSolution> halves;
  for (const HalfSolution& h : s.half)
    halves.push_back({listed(h.column), listed(h.position), listed(h.start), listed(h.term)});
  d.half = listed(halves);
  const LimbTables& l = s.limbs;
  d.limbs = {listed(l.limb),
             listed(l.place),
             listed(l.row),
             listed(l.column),
             listed(l.mass),
             listed(l.parent),
             listed(l.first_dof),
             listed(l.limb_of),
             listed(l.reference),
             listed(l.type),
             listed(l.segment),
             {listed(l.type_of[0]), listed(l.type_of[1])},
             listed(l.body_of),
             {listed(l.place_of[0]), listed(l.place_of[1])},
             listed(l.free_dof),
             l.numbers,
             l.most_numbers,
             l.words,
             l.slots,
             l.slot_numbers};
  d.forces = s.forces, d.iterations = s.iterations, d.refinements = s.refinements, d.tolerance = s.tolerance;
  d.rigid = s.rigid, d.report = s.report;
  const ContactReadings<P>& r = s.readings;
  d.readings = {listed(r.link), listed(r.zone), listed(r.sensor), listed(r.side), r.selections, r.links, r.counts};
  d.detection = listed(s.detection);
  return d;
}

}  // namespace featherstorm
