// What touches, and the acceleration under all constraints, of instances side by side.
//
// Where all candidates of a robot are more than touch at a time, what is far is left out (find_rows.h). What is left is solved in the
// space of its rows (solve_rows.h), of instances with very many in that of coordinates (solve_coordinates.h).
#pragma once
#include "host/solver/solve_rows.h"

namespace featherstorm {

// in   in
// out  out
template <class T, class P>
FS_HD void solve_contacts(const ContactSolver<P>& solver, const auto& in, const auto& out) {
  const World<P>& w = solver.world;
  const int constraints = solver.constraints.rows(), contacts = rows_of(w.contacts);
  const int rows = constraints + contacts + 1;
  auto block = scratch<PresentBlock>(solver.constraints.size() + slots_of(w.contacts) + 1);
  auto J = scratch<T>(solver.constraints.entries() + solver.pairs.entries(w.contacts) + 1);
  auto D = scratch<T>(rows), aref = scratch<T>(rows), friction = scratch<T>(rows);
  PresentRows<T> present{block.data(), J.data(), D.data(), aref.data(), friction.data()};
  find_constraints(solver, in, present);
  using Memory = std::remove_cvref_t<decltype(in.placement)>;
  if (!w.contacts.pair.empty())
    find_contacts(solver, Placements<T, Memory>{in.placement}, Motions<T, Memory>{in.twist},
                  Motions<T, Memory>{in.axis}, in.touch, in.weights, present);
  hand_out_touched(solver, present, out);
  for (int i = 0; i < constraints; i++) out.row_force[i] = T(0.0);
  if (solver.forces)
    for (int i = 0; i < contacts; i++) out.contact_force[i] = T(0.0);
  if (solver.report) out.residual[0] = T(0.0), out.gap[0] = present.gap;
  auto rank = scratch<unsigned short[lanes<T>]>(present.count + 1);
  auto most = scratch<int>(static_cast<int>(solver.group.size()) + 1);
  Ranks<T> ranks{rank.data(), most.data()};
  rank_blocks(solver, present, ranks, out.rows[0]);
  constexpr unsigned all = lanes<T> == 32 ? ~0u : (1u << lanes<T>)-1;
  if (ranks.instances != 0) solve_by_rows(solver, present, ranks, in, out);
  if (ranks.instances != all) solve_by_coordinates(solver, present, all & ~ranks.instances, in, out);
}

}  // namespace featherstorm
