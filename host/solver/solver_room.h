// The greatest working memory that an algorithm of solver_algorithms.h needs for one instance: every contact candidate
// touches and every limit is reached. Launches on a device reserve this much for each thread
// (core/scalar/launched_scratch.h).
//
// The sums follow the algorithms function by function. Tests run the algorithms with exactly this memory, and check
// that little of it stays unused.
#pragma once
#include <algorithm>

#include "host/solver/solver_algorithms.h"

namespace featherstorm {

struct SolverRoom {
  long numbers = 0, bytes = 0;  // scalars; bytes of everything else
};

template <class Element> constexpr long bytes_of_array(long count) {
  constexpr long size = sizeof(Element), alignment = 16;
  return (count * size + alignment - 1) / alignment * alignment;
}

// Bytes of the iterative algorithms of core/convex, which run in double.
template <class P> long convex_bytes(const GeomContacts<P>& contacts) {
  const bool any = std::any_of(contacts.pair.begin(), contacts.pair.end(),
                               [&](const ContactPair<P>& p) { return !has_closed_form(contacts, p); });
  if (!any) return 0;
  using Polyhedron = Polytope<double>;
  const long polytope = bytes_of_array<Difference<double>>(Polyhedron::most_corners) +
                        bytes_of_array<Polyhedron::Face>(Polyhedron::most_faces) +
                        bytes_of_array<int>(Polyhedron::most_faces);
  long corners = cap_corners;
  for (const Hull<P>& h : contacts.hull)
    for (const HullPolygon<P>& polygon : h.polygon)
      corners = std::max(corners, static_cast<long>(polygon.corner.size()));
  const long polygons = bytes_of_array<Vec3<double>>(corners) + 2 * bytes_of_array<Vec3<double>>(4 * corners);
  const long flats = 2 * bytes_of_array<Facet<double>>(most_facets) +
                     std::max(bytes_of_array<BodyEdge<double>>(most_facets), polygons);
  return bytes_of_array<ContactPoint<double>>(most_prisms) + std::max(polytope, flats);
}

// Found contacts and the numbers of their rows: memory during the search, and memory that is kept.
struct RowsRoom {
  SolverRoom kept;
  long finding, finding_bytes;
};
template <class P> RowsRoom rows_room(const ContactSolver<P>& s) {
  const long blocks = s.constraints.size() + s.contacts.slots + 1, rows = s.constraints.rows() + s.contacts.rows + 1,
             entries = s.constraints.entries() + s.contacts.entries + 1,
             geoms = static_cast<long>(s.world.contacts.geom.size());
  const long bytes =
      bytes_of_array<Placement<P>>(geoms) + bytes_of_array<char>(geoms) +
      bytes_of_array<unsigned>(static_cast<long>(s.group_of_pairs.size())) +
      std::max(bytes_of_array<Vec3<P>>(s.nb + 1),
               bytes_of_array<ContactPair<P>>(1) + bytes_of_array<Geom<P>>(2) + convex_bytes(s.world.contacts)) +
      bytes_of_array<ContactPoint<P>>(most_slots);
  return {{entries + 3 * rows, bytes_of_array<PresentBlock>(blocks)}, 2L * most_rows + 3L * s.nv, bytes};
}

constexpr long triangle(long n) { return n * (n + 1) / 2; }

template <class P> SolverRoom solution_room(const ContactSolver<P>& s) {
  const long blocks = s.constraints.size() + s.contacts.slots + 1, rows = s.constraints.rows() + s.contacts.rows + 1,
             entries = s.constraints.entries() + s.contacts.entries + 1, groups = static_cast<long>(s.group.size()) + 1,
             nv = s.nv;
  const RowsRoom found = rows_room(s);
  SolverRoom room = found.kept;
  const bool reads = reads_contacts(s.readings);
  const long reading = reads ? readings_memory(s.readings) + most_rows : 0;
  if (reads) room.numbers += rows, room.bytes += bytes_of_array<PresentContact<P>>(s.contacts.slots);

  long solving = 0, solving_bytes = 0, finding = found.finding, finding_bytes = found.finding_bytes;
  const long all = rows - 1;
  if (s.rigid) {  // triangles of matrices of all rows
    const long words = (nv + 63) / 64, n = all, slots = std::min(n, blocks);
    solving = nv + n * nv + 5 * n + most_rows * nv + triangle(n) + 5 * n + n * n;
    solving_bytes = bytes_of_array<PackedBlock>(slots + 1) + 2 * bytes_of_array<int>(groups) +
                    bytes_of_array<std::uint64_t>(slots * words) + bytes_of_array<unsigned short>(blocks + 1) +
                    bytes_of_array<unsigned short>(groups);
  } else {
    const LimbTables& t = s.limbs;
    const long limbs = t.limbs(), bodies = s.nb + 1, types = static_cast<long>(t.type.size());
    room.numbers += t.slot_numbers + 6 * nv - entries - 3 * rows;
    room.bytes += bytes_of_array<RowSlot>(t.slots) + bytes_of_array<int>(bodies * (groups - 1) + types) +
                  2 * bytes_of_array<int>(t.slots) + bytes_of_array<int>(bodies + 1) +
                  bytes_of_array<unsigned short>(blocks);
    finding_bytes = std::max(finding_bytes, bytes_of_array<unsigned>(2 * nv));
    finding += 3L * most_rows + most_rows * nv + 3 * bodies;
    solving = t.numbers + 2L * t.most_numbers + 4 * nv + 6 * bodies + body_numbers * limbs +
              std::max(nv + 6 * bodies, 2 * nv);
    solving_bytes = 2 * bytes_of_array<std::uint64_t>(limbs * t.words) + bytes_of_array<int>(triangle(limbs)) +
                    bytes_of_array<char>(limbs);
  }

  long no_slip = 0, no_slip_bytes = 0;
  if (s.world.no_slip.iterations > 0 && !s.rigid) {
    long slip = 0, bounds = 0;  // friction rows, and blocks that share a bound
    for (const PackedBlock& b : s.constraints.block) slip += b.kind == RowKind::Friction ? 1 : 0;
    bounds = slip;
    for (const ContactPair<P>& pair : s.world.contacts.pair) {
      const long tangents = static_cast<long>(pair.slots) * (pair.dimension - 1);
      slip += tangents;
      bounds += s.world.contacts.elliptic ? std::min<long>(pair.slots, tangents) : tangents;
    }
    no_slip = found.kept.numbers + 2 * s.own.nh + 4 * nv + slip * (nv + 3) + 4 * most_rows + most_entries;
    no_slip_bytes = found.kept.bytes + bytes_of_array<SlipBlock<P>>(bounds) + bytes_of_array<int>(nv);
    finding_bytes += found.kept.bytes, finding += found.kept.numbers;
  }

  room.numbers += std::max({finding, solving, no_slip, reading});
  room.bytes += std::max({finding_bytes, solving_bytes, no_slip_bytes});
  return room;
}

// Memory of contact_gradients.h and contact_tangents.h: H, forces and curvatures of all blocks, contacts with
// derivatives.
template <class P> SolverRoom derivatives_room(const ContactSolver<P>& s, bool tangents) {
  using U = Dual<P>;
  const long blocks = s.constraints.size() + s.contacts.slots + 1,
             geoms = static_cast<long>(s.world.contacts.geom.size()), nv = s.nv, limbs = s.limbs.limbs();
  const RowsRoom found = rows_room(s);
  SolverRoom room = found.kept;
  room.bytes += bytes_of_array<ContactPoint<P>>(blocks);
  const long rows = tangents ? 0 : 5 * most_rows;
  room.numbers +=
      std::max(found.finding, nv + (most_rows + most_entries) * blocks + std::max(2L * s.limbs.most_numbers, rows));
  const long matrix = 2 * bytes_of_array<std::uint64_t>(limbs * s.limbs.words) + bytes_of_array<int>(triangle(limbs));
  const long loops = convex_bytes(s.world.contacts);
  const long convex = loops == 0 ? 0 : 3 * bytes_of_array<ContactPoint<double>>(most_prisms) + loops;
  const auto places = [&]<class T>(T) { return bytes_of_array<Placement<T>>(geoms) + bytes_of_array<char>(geoms); };
  const long rows_along = bytes_of_array<U>(most_rows), entries = bytes_of_array<U>(most_entries),
             pair = bytes_of_array<ContactPair<U>>(1), points = bytes_of_array<ContactPoint<U>>(most_slots),
             sized = bytes_of_array<Geom<U>>(2) + convex;
  if (tangents) {
    const long of_contact = points + 8 * rows_along + entries + pair + bytes_of_array<U>(most_rows * (nv + 1));
    room.bytes += std::max(found.finding_bytes, places(U{}) + of_contact + std::max(matrix, sized));
    return room;
  }
  const long own_pair = bytes_of_array<ContactPair<P>>(1);
  const long of_contact = points + 6 * rows_along + own_pair + bytes_of_array<ContactShare<P>>(most_slots);
  const long by_ways = own_pair + bytes_of_array<Geom<P>>(2) + convex;
  const long by_numbers = s.number.empty() ? 0 : points + 9 * rows_along + entries + pair + sized;
  room.bytes += std::max({found.finding_bytes, matrix, places(P{}) + of_contact + std::max(by_ways, by_numbers)});
  return room;
}

template <class P> SolverRoom solver_room(const ContactSolver<P>& s, SolverAlgorithm text) {
  return text == SolverAlgorithm::solution || text == SolverAlgorithm::soft
             ? solution_room(s)
             : derivatives_room(s, text == SolverAlgorithm::tangents);
}

}  // namespace featherstorm
