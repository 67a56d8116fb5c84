// How much working memory the text of contact_solve.h takes for one instance, at most: where every candidate of a contact touches and
// every limit is reached. Launches on a device are given so much a thread (core/scalar/launched_scratch.h).
//
// What is taken at once, function by function; tests run the text with no more, and see that little is left.
#pragma once
#include <algorithm>

#include "host/solver/contact_solve.h"

namespace featherstorm {

struct SolverRoom {
  long numbers = 0, bytes = 0;  // scalars; what else there is
};

template <class Element> constexpr long bytes_of_array(long count) {
  constexpr long size = sizeof(Element), alignment = 16;
  return (count * size + alignment - 1) / alignment * alignment;
}

// Of the loops of core/convex, in double.
template <class P> long convex_bytes(const GeomContacts<P>& contacts) {
  const bool any = std::any_of(contacts.pair.begin(), contacts.pair.end(), [&](const ContactPair<P>& p) {
    return !has_closed_form(contacts.geom[p.geom[0]].type, contacts.geom[p.geom[1]].type);
  });
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

template <class P> SolverRoom solver_room(const ContactSolver<P>& s) {
  const long blocks = s.constraints.size() + s.contacts.slots + 1, rows = s.constraints.rows() + s.contacts.rows + 1,
             entries = s.constraints.entries() + s.contacts.entries + 1, groups = static_cast<long>(s.group.size()) + 1,
             geoms = static_cast<long>(s.world.contacts.geom.size()), nv = s.nv;
  SolverRoom room{entries + 3 * rows, bytes_of_array<PresentBlock>(blocks)};

  // what touches
  const long find = bytes_of_array<Placement<P>>(geoms) + bytes_of_array<Vec3<P>>(geoms) + bytes_of_array<char>(geoms) +
                    bytes_of_array<char>(static_cast<long>(s.bodies.size()) + 1) + bytes_of_array<Vec3<P>>(s.nb + 1) +
                    bytes_of_array<char>(s.nb + 1) + bytes_of_array<ContactPoint<P>>(most_slots) +
                    convex_bytes(s.world.contacts);

  // n rows of an instance: curvatures of blocks of at most six, triangles of matrices
  const long all = rows - 1, words = (nv + 63) / 64;
  const auto triangle = [](long n) { return n * (n + 1) / 2; };
  const auto slots = [&](long n) { return nv + n * nv + 5 * n + most_rows * nv; };
  const auto slots_bytes = [&](long n) {
    const long of_rows = std::min(n, blocks);
    return bytes_of_array<PackedBlock>(of_rows + 1) + bytes_of_array<int>(groups) +
           bytes_of_array<std::uint64_t>(of_rows * words);
  };
  const auto curvatures = [](long n) { return 4 * n; };
  long n = std::min<long>(s.most_rows, all);
  const long newton = 2 * n + nv + 2 * curvatures(n) + triangle(n) + 7 * n + 2 * nv;
  const long rigid = s.rigid ? 5 * n + n * n : 0;
  const long by_rows = slots(n) + triangle(n) + std::max(newton, rigid);
  long by_coordinates = 0;
  if (n < all) {
    n = all;
    by_coordinates = slots(n) + 2 * n + nv + curvatures(n) + triangle(nv) + 5 * n + 3 * nv;
  }
  const long tree_bytes = 2 * bytes_of_array<int>(nv) + bytes_of_array<int>(nv + 1) +
                          bytes_of_array<std::uint64_t>(nv * words) + bytes_of_array<std::uint64_t>(words);

  const long finding = 2L * most_rows + 3 * nv;
  room.numbers += std::max({finding, by_rows, by_coordinates});
  const long ranks = bytes_of_array<unsigned short>(blocks + 1) + bytes_of_array<int>(groups);
  room.bytes += std::max(find, ranks + slots_bytes(n) + tree_bytes);
  return room;
}

}  // namespace featherstorm
