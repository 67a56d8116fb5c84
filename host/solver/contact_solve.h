// Find contacts and solve for the constrained acceleration of one pack of instances.
//
// Only contacts that touch get rows (find_rows.h). MuJoCo's law is solved by Newton's method in blocks of limbs
// (solve_limbs.h), the rigid law in the space of the rows (solve_rows.h).
//
// If the file has noslip_iterations, friction forces are solved again without softness (core/rigid/no_slip.h).
#pragma once
#include "core/rigid/no_slip.h"
#include "host/solver/last_matrix.h"
#include "host/solver/solve_limbs.h"
#include "host/solver/solve_rows.h"

namespace featherstorm {

// Collect the solver's forces of one instance, and its friction rows for the no-slip sweeps.
//
// in   l  the instance;  factor (nh)  as from half_factor;  a (nv)  the solver's acceleration
// out  tau (nv)  J^T f;  soft (nv)  1/2 sum R f^2 of an island, at its first coordinate
// out  island (nv)  another coordinate of the same island, or the coordinate itself
// out  slip, f  friction rows and their forces
template <class T, class Number>
FS_HD void rows_of_friction_of(const auto& solver, const PresentRows<T>& present, const auto& in, int l,
                               ScratchArray<Number> factor, ScratchArray<Number> a, ScratchArray<Number> tau,
                               ScratchArray<Number> soft, ScratchArray<int> island,
                               SlipRows<SlipBlock<Number>*, ScratchArray<Number>>& slip, ScratchArray<Number> f) {
  const int nv = solver.nv;
  const Number half(0.5);
  auto r = scratch<Number>(most_rows), D = scratch<Number>(most_rows), mu = scratch<Number>(most_rows),
       force = scratch<Number>(most_rows), W = scratch<Number>(most_entries);
  const auto root = [&](int k) {
    while (island[k] != k) k = island[k];
    return k;
  };
  // an island contains the coordinates of one tree, and all coordinates that one row moves
  for (int k = 0; k < nv; k++) {
    const int parent = solver.own.dof_parent[k];
    island[k] = parent < 0 ? k : root(parent), tau[k] = soft[k] = Number(0.0);
  }
  for (int i = 0; i < present.count; i++) {
    const PresentBlock& c = present.block[i];
    if (((c.instances >> l) & 1u) == 0) continue;
    for (int k = 1; k < columns_of(solver, c); k++) {
      const int x = root(column_of(solver, c, 0)), y = root(column_of(solver, c, k));
      island[x < y ? y : x] = x < y ? x : y;
    }
  }
  int row = 0;
  for (int i = 0; i < present.count; i++) {
    const PresentBlock& c = present.block[i];
    if (((c.instances >> l) & 1u) == 0) continue;
    const auto& group = solver.group[solver.group_of[c.contact][c.source]];
    const int n = columns_of(solver, c), m = group.rows;
    const auto J = [&](int k, int column) { return Number(lane(T(present.J[c.J + k * n + column]), l)); };
    for (int k = 0; k < m; k++) {
      r[k] = Number(-lane(T(present.aref[c.row + k]), l));
      D[k] = Number(lane(T(present.D[c.row + k]), l)), mu[k] = Number(lane(T(present.friction[c.row + k]), l));
      for (int j = 0; j < n; j++) r[k] = r[k] + J(k, j) * a[column_of(solver, c, j)];
    }
    block_state<Number>(RowBlock{group.kind, 0, m}, r.data(), D.data(), mu.data(), force.data(), W.data());
    const int here = n == 0 ? 0 : root(column_of(solver, c, 0));
    for (int j = 0; j < n; j++)
      for (int k = 0; k < m; k++) tau[column_of(solver, c, j)] = tau[column_of(solver, c, j)] + J(k, j) * force[k];
    const auto add_row = [&](int k, const SlipBlock<Number>& block, bool first) {
      if (first) slip.block[slip.blocks++] = block;
      const auto y = slip.Y + row * nv;
      for (int j = 0; j < nv; j++) y[j] = Number(0.0);
      slip.b[row] = Number(-lane(T(present.aref[c.row + k]), l));
      for (int j = 0; j < n; j++) {
        const int at = column_of(solver, c, j);
        y[at] = J(k, j), slip.b[row] = slip.b[row] + J(k, j) * Number(lane(T(in.qacc_smooth[at]), l));
      }
      solve_from_tips(solver.own, factor, y);
      slip.mu[row] = mu[k], f[row] = force[k], row++;
    };
    Number& cost = soft[here];
    if (group.kind == RowKind::Pyramid) {
      for (int k = 1; k < m; k++) {
        Number sum(0.0);
        for (const int side : {1, -1}) {
          const Number e = r[0] + Number(side) * mu[k] * r[k], edge = e < Number(0.0) ? -D[0] * e : Number(0.0);
          sum = sum + edge, cost = cost + half * edge * edge / D[0];
        }
        add_row(k, {row, 1, here, false, mu[k] * sum}, true);
      }
      continue;
    }
    for (int k = 0; k < m; k++) cost = cost + half * force[k] * force[k] / D[k];
    if (group.kind == RowKind::Friction) add_row(0, {row, 1, here, false, mu[0]}, true);
    if (group.kind == RowKind::Cone)
      for (int k = 1; k < m; k++) add_row(k, {row, m - 1, here, true, force[0]}, k == 1);
  }
}

// Sum the diagonal of M over the coordinates of each island. The sum is stored at the island's first coordinate.
//
// in   island (nv)
// in   mass (nh)
// out  trace (nv)
FS_HD void inertia_of_islands(const auto& m, const auto& island, const auto& mass, auto trace) {
  for (int k = 0; k < m.nv; k++) trace[k] = mass[m.at(k, k)] * 0;
  for (int k = 0; k < m.nv; k++) {
    int root = k;
    while (island[root] != root) root = island[root];
    trace[root] = trace[root] + mass[m.at(k, k)];
  }
}

// Apply the sweeps of core/rigid/no_slip.h to the solver's result, one instance after the other, and store the new
// result.
template <class T>
FS_HD void solve_without_slip(const auto& solver, const PresentRows<T>& present, const auto& in, const auto& out) {
  using Number = std::conditional_t<sizeof(T) / lanes<T> == sizeof(float), float, double>;
  const auto& law = solver.world.no_slip;
  const int nv = solver.nv, nh = solver.own.nh;
  for (int l = 0; l < lanes<T>; l++) {
    int blocks = 0, rows = 0;
    for (int i = 0; i < present.count; i++) {
      const PresentBlock& c = present.block[i];
      const auto& group = solver.group[solver.group_of[c.contact][c.source]];
      const bool slips =
          group.kind == RowKind::Friction || group.kind == RowKind::Pyramid || group.kind == RowKind::Cone;
      if (!slips || ((c.instances >> l) & 1u) == 0) continue;
      const int n = group.kind == RowKind::Friction ? 1 : group.rows - 1;
      rows += n, blocks += group.kind == RowKind::Cone ? 1 : n;
    }
    if (rows == 0) continue;
    auto factor = scratch<Number>(nh), mass = scratch<Number>(nh), a = scratch<Number>(nv), z = scratch<Number>(nv),
         soft = scratch<Number>(nv), trace = scratch<Number>(nv);
    auto Y = scratch<Number>(rows * nv), b = scratch<Number>(rows), mu = scratch<Number>(rows),
         f = scratch<Number>(rows);
    auto block = scratch<SlipBlock<Number>>(blocks);
    auto island = scratch<int>(nv);
    for (int k = 0; k < nh; k++) factor[k] = mass[k] = Number(lane(T(in.inertia[k]), l));
    half_factor(solver.own, mass.data(), factor.data());
    for (int k = 0; k < nv; k++) a[k] = Number(lane(T(out.qacc[k]), l));
    SlipRows<SlipBlock<Number>*, ScratchArray<Number>> slip{block.data(), 0, nv, Y.data(), b.data(), mu.data()};
    rows_of_friction_of<T, Number>(solver, present, in, l, factor.data(), a.data(), z.data(), soft.data(),
                                   island.data(), slip, f.data());
    solve_from_tips(solver.own, factor.data(), z.data());
    inertia_of_islands(solver.own, island.data(), mass.data(), trace.data());
    for (int k = 0; k < nv; k++)
      if (island[k] == k)
        no_slip_sweeps(slip, k, law.iterations, Number(Number(law.tolerance) * trace[k]), Number(soft[k]), z.data(),
                       f.data());
    solve_from_root(solver.own, factor.data(), z.data());
    for (int k = 0; k < nv; k++) set_lane(out.qacc[k], l, lane(T(in.qacc_smooth[k]), l) + lane(z[k], 0));
    int row = 0;
    for (int i = 0; i < present.count; i++) {
      const PresentBlock& c = present.block[i];
      const auto& group = solver.group[solver.group_of[c.contact][c.source]];
      if (((c.instances >> l) & 1u) == 0) continue;
      if (group.kind == RowKind::Friction) set_lane(out.row_force[c.output], l, lane(f[row++], 0));
      if (group.kind != RowKind::Pyramid && group.kind != RowKind::Cone) continue;
      for (int k = 1; k < group.rows; k++, row++) {
        if (solver.forces) set_lane(out.contact_force[c.output + k], l, lane(f[row], 0));
        if (present.contact) set_lane(present.force[c.row + k], l, lane(f[row], 0));
      }
    }
  }
}

// Compute the readings of the contacts found, with the forces of their rows.
template <class T>
FS_HD void read_contacts(const auto& solver, const PresentRows<T>& present, const auto& in, const auto& out) {
  using Memory = std::remove_cvref_t<decltype(in.placement)>;
  const auto& readings = solver.readings;
  auto memory = scratch<T>(readings_memory(readings));
  begin_readings<T>(readings, memory.data(), out);
  const Placements<T, Memory> X{in.placement};
  auto none = scratch<T>(most_rows);
  for (int k = 0; k < most_rows; k++) none[k] = T(0.0);
  for (int i = 0; i < present.contacts; i++) {
    const PresentContact<T>& c = present.contact[i];
    const ScratchArray<T> force = c.row < 0 ? none.data() : present.force + c.row;
    const FoundContact<T, ScratchArray<T>> found{c.pair, c.at, c.there, c.held, force};
    read_contact(solver.world.contacts, readings, X, in.zones, found, memory.data(), out);
  }
  end_readings<T>(readings, memory.data(), out);
}

// Store the outputs that do not depend on the solution, and zeros for the forces of absent rows. Return the instances
// that have rows.
template <class T>
FS_HD unsigned begin_outputs(const auto& solver, const PresentRows<T>& present, const auto& out) {
  const int constraints = solver.constraints.rows(), contacts = solver.contacts.rows;
  store_touched(solver, present, out);
  for (int i = 0; i < constraints; i++) out.row_force[i] = T(0.0);
  for (int i = 0; i < contacts && solver.forces; i++) out.contact_force[i] = T(0.0);
  out.residual[0] = T(0.0), out.gap[0] = solver.report ? present.gap : T(no_contact);
  const T rows = count_rows(solver, present);
  out.rows[0] = out.order_key[0] = rows;
  return instances_above_zero(rows);
}

// Solve the rigid law, in the space of rows.
template <class T> FS_HD void solve_rigid(const auto& solver, const auto& in, const auto& out) {
  const bool reads = reads_contacts(solver.readings);
  const FoundRows<T> found(solver, in, false, reads);
  const PresentRows<T>& present = found.present();
  begin_outputs(solver, present, out);
  solve_rows(solver, present, all_instances<T>, in, out);
  if (reads) read_contacts(solver, present, in, out.read);
}

// Solve MuJoCo's law, in blocks of limbs. slips: whether the no-slip sweeps, which a file may request, are compiled in.
template <class T, bool slips = false> FS_HD void solve_soft(const auto& solver, const auto& in, const auto& out) {
  const bool reads = reads_contacts(solver.readings);
  FoundSlots<T> found(solver, in, reads);
  const PresentRows<T>& present = found.present();
  const unsigned with_rows = begin_outputs(solver, present, out);
  for (int k = 0; k < solver.nv; k++) out.qacc[k] = in.qacc_smooth[k];
  out.passes[0] = out.searches[0] = T(0.0);
  if (with_rows != 0) solve_limbs(solver, found, with_rows, in, out);
  if constexpr (lanes<T> > 1) out.order_key[0] = order_key<T>(solver, found, T(out.passes[0]));
  if constexpr (slips) {
    if (solver.world.no_slip.iterations > 0) {
      const FoundRows<T> by_columns(solver, in, false);
      PresentRows<T> rows = by_columns.present();
      rows.contact = present.contact, rows.force = present.force;
      solve_without_slip(solver, rows, in, out);
    }
  }
  if (reads) read_contacts(solver, present, in, out.read);
}

template <class T> FS_HD void solve_contacts(const auto& solver, const auto& in, const auto& out) {
  if (solver.rigid) solve_rigid<T>(solver, in, out);
  else solve_soft<T, true>(solver, in, out);
}

}  // namespace featherstorm
