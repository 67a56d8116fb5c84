#include "host/solver/limb_tables.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <type_traits>

namespace featherstorm {
namespace {

// Split each unbranched chain of bodies into the least number of limbs, of about equal size.
void add_limbs(const Model<double>& m, bool touches, LimbTables& t) {
  const auto size = static_cast<std::size_t>(m.nb) + 2;
  std::vector<int> children(size), limb_of(size, -1);
  t.parent.assign(size - 1, 0), t.reference.assign(size - 1, 0), t.free_dof.assign(static_cast<std::size_t>(m.nv), -1);
  const auto first_dof = [&](int b) { return b > m.nb ? m.nv : m.body[b].v; };
  for (int b = 0; b <= m.nb + 1; b++) t.first_dof.push_back(b == 0 ? 0 : first_dof(b));
  const auto is_free = [&](int b) {
    const Body<double>& body = m.body[b];
    return touches && joint_traits(body.type).lengths == 3 && joint_traits(body.type).quaternion >= 0 &&
           body.parent == 0 && !body.reversed;
  };
  for (int b = 1; b <= m.nb; b++) t.parent[b] = m.body[b].parent, children[m.body[b].parent]++;
  for (int b = 1; b <= m.nb;) {
    int end = b + 1;  // end of the chain
    while (end <= m.nb && m.body[end].parent == end - 1 && children[end - 1] == 1 && !is_free(end - 1)) end++;
    const int coordinates = first_dof(end) - first_dof(b), parts = (coordinates + most_limb - 1) / most_limb;
    const int each = (coordinates + parts - 1) / parts;
    for (int first = b; first < end;) {
      int next = first + 1;
      while (next < end && first_dof(next + 1) - first_dof(first) <= each) next++;
      const int parent = m.body[first].parent;
      t.limb.push_back({parent == 0 ? -1 : limb_of[parent], first_dof(first), first_dof(next) - first_dof(first), first,
                        next - first, is_free(first)});
      for (int i = first; i < next; i++) {
        limb_of[i] = static_cast<int>(t.limb.size()) - 1;
        t.reference[i] = !touches ? 0 : parent == 0 ? next - 1 : t.reference[parent];
      }
      for (int k = 0; k < 6 && is_free(first); k++) t.free_dof[first_dof(first) + k] = k;
      first = next;
    }
    b = end;
  }
}

// Set the blocks of M, and the indices of its packed entries in them.
void add_blocks(const Model<double>& m, LimbTables& t) {
  const auto limbs = t.limb.size();
  t.words = static_cast<int>((limbs + 63) / 64);
  t.row.assign(limbs * t.words, 0), t.column.assign(limbs * t.words, 0);
  t.place.resize(static_cast<std::size_t>(lower_half(static_cast<int>(limbs), 0)));
  for (std::size_t l = 0; l < limbs; l++)
    for (int n = t.limb[l].parent; n >= 0; n = t.limb[n].parent)
      t.row[l * t.words + n / 64] |= std::uint64_t{1} << (n % 64);
  t.numbers = eliminate_limbs(t.limbs(), t.words, t.limb.data(), t.row.data(), t.place.data(), t.column.data());
  for (std::size_t l = 0; l < limbs; l++) t.limb_of.insert(t.limb_of.end(), t.limb[l].count, static_cast<int>(l));
  t.mass.assign(static_cast<std::size_t>(t.numbers), -1);
  for (int l = 0; l < t.limbs(); l++)
    for (int n = l; n >= 0; n = t.limb[n].parent)
      for (int i = 0; i < t.limb[l].count; i++)
        for (int j = 0; j < (n == l ? i + 1 : t.limb[n].count); j++)
          t.mass[t.place[lower_half(l, n)] + i * t.limb[n].count + j] = m.at(t.limb[l].first + i, t.limb[n].first + j);
}

// Return whether N W N^T of a contact with the world is too inaccurate. The rounding error of that 6 x 6 matrix is
// about D c^2, with c the distance from the reference point. A contact that hardly moves its body, such as a contact of
// a link with the link that carries its joint, has a very large D. The rounding error of S^T (N W N^T) S then exceeds
// the inertia of the joint. Such contacts use J by columns.
template <class P> bool is_hard(const ContactLaw<double>& law, const ContactPair<double>& pair) {
  constexpr double most = std::is_same_v<P, float> ? 1e9 : 1e13;  // D over the least inertia [1/m^2]
  const ContactGains<double> g = contact_gains<double>(law, pair, usual_inertia<double>(pair, law.cone));
  const double weight = *std::max_element(g.weight, g.weight + pair.dimension);
  return greatest_weight(g) * g.hardness * weight * pair.inverse_inertia[1] > most;
}

// Set the types of rows with a Jacobian J. For constraints J has the coordinates that each row moves. For contacts
// between two moving bodies it has all coordinates of the limbs between them.
template <class P> void add_types(const Model<double>& m, ContactSolver<P>& s) {
  const GeomContacts<double>& contacts = m.world.contacts;
  LimbTables& t = s.limbs;
  const std::vector<int>& limb_of = t.limb_of;
  std::map<std::tuple<RowKind, int, std::vector<int>>, int> number;  // by kind, rows, limbs
  const auto add = [&](RowKind kind, int rows, const std::vector<RowSegment>& segments, bool of_contacts) {
    RowType type{kind, rows, static_cast<int>(t.segment.size()), static_cast<int>(segments.size()), 0, of_contacts};
    for (const RowSegment& part : segments) type.columns += part.count;
    t.segment.insert(t.segment.end(), segments.begin(), segments.end());
    t.type.push_back(type);
    return static_cast<int>(t.type.size()) - 1;
  };
  const auto column_in = [&](const RowType& type, int v) {
    int at = 0;
    for (int k = type.segment; k < type.segment + type.segments; k++) {
      const RowSegment& part = t.segment[k];
      const int i = v - t.limb[part.limb].first - part.first;
      if (part.limb == limb_of[v] && i >= 0 && i < part.count) return at + i;
      at += part.count;
    }
    return -1;
  };
  const auto whole = [&](int l) { return RowSegment{l, 0, t.limb[l].count}; };
  t.slots = s.constraints.size() + s.contacts.slots, t.slot_numbers = 0;
  const ContactLaw<double> law = contact_law<double>(m.world);
  for (int p = 0; p < static_cast<int>(contacts.pair.size()); p++) {
    const ContactPair<double>& pair = contacts.pair[static_cast<std::size_t>(p)];
    const int a = contacts.geom[static_cast<std::size_t>(pair.geom[0])].place.body,
              b = contacts.geom[static_cast<std::size_t>(pair.geom[1])].place.body;
    const RowKind kind = kind_of(contacts, pair);
    std::set<int> limbs;
    for (int k = s.pairs.start[p]; k < s.pairs.start[p + 1]; k++) limbs.insert(limb_of[s.pairs.column[k].v]);
    const bool with_world = (a == 0 || b == 0) && !is_hard<P>(law, pair);
    t.body_of.push_back(!with_world ? 0 : a == 0 ? b : -a);
    int type = -1;
    if (!with_world && !limbs.empty()) {
      const auto [at, is_new] = number.try_emplace({kind, pair.dimension, {limbs.begin(), limbs.end()}}, 0);
      if (is_new) {
        std::vector<RowSegment> segments;
        for (const int l : limbs) segments.push_back(whole(l));
        at->second = add(kind, pair.dimension, segments, true);
      }
      type = at->second;
    }
    t.type_of[1].push_back(type);
    for (int k = s.pairs.start[p]; k < s.pairs.start[p + 1]; k++)
      t.place_of[1].push_back(type < 0 ? -1 : column_in(t.type[type], s.pairs.column[k].v));
    const int J = type < 0 ? 0 : pair.dimension * t.type[type].columns;
    t.slot_numbers += pair.slots * (slot_geometry(kind, pair.dimension) + J + point_and_axes);
  }
  std::map<std::tuple<RowKind, int, std::vector<int>>, int> type_with;  // by kind, rows, columns
  for (const PackedBlock& block : s.constraints.block) {
    std::vector<int> columns(s.constraints.column.begin() + block.column,
                             s.constraints.column.begin() + block.column + block.columns);
    std::vector<RowSegment> segments;
    for (const int v : columns) {
      const int l = limb_of[v], i = v - t.limb[l].first;
      RowSegment* last = segments.empty() ? nullptr : &segments.back();
      if (last && last->limb == l && (t.limb[l].free || last->first + last->count == i)) {
        if (!t.limb[l].free) last->count++;
      } else {
        segments.push_back(t.limb[l].free ? whole(l) : RowSegment{l, i, 1});
      }
    }
    const auto [at, is_new] = type_with.try_emplace({block.kind, block.rows, columns}, 0);
    if (is_new) at->second = add(block.kind, block.rows, segments, false);
    const int type = at->second;
    t.type_of[0].push_back(type);
    for (const int v : columns) {
      const int place = column_in(t.type[type], v);
      t.place_of[0].push_back(t.free_dof[v] < 0 ? place : place - t.free_dof[v]);
    }
    t.slot_numbers += slot_geometry(block.kind, block.rows) + block.rows * t.type[type].columns;
  }
  // count the numbers of the blocks when rows of all types are present
  std::vector<std::uint64_t> row = t.row, column = t.column;
  std::vector<int> place = t.place;
  for (const RowType& type : t.type)
    for (int k = type.segment; k + 1 < type.segment + type.segments; k++) {
      const int last = t.segment[type.segment + type.segments - 1].limb, n = t.segment[k].limb;
      if (n != last) row[static_cast<std::size_t>(last) * t.words + n / 64] |= std::uint64_t{1} << (n % 64);
    }
  t.most_numbers = eliminate_limbs(t.limbs(), t.words, t.limb.data(), row.data(), place.data(), column.data());
}

}  // namespace

template <class P> void add_limb_tables(const Model<double>& m, ContactSolver<P>& s) {
  add_limbs(m, !m.world.contacts.pair.empty(), s.limbs), add_blocks(m, s.limbs), add_types(m, s);
}
template void add_limb_tables(const Model<double>&, ContactSolver<float>&);
template void add_limb_tables(const Model<double>&, ContactSolver<double>&);

}  // namespace featherstorm
