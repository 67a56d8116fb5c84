// The acceleration under all rows that are present, by Newton's method in the space of coordinates
// (core/constraint/coordinate_newton.h).
#pragma once
#include "core/constraint/coordinate_newton.h"
#include "host/solver/hand_out.h"

namespace featherstorm {

// What is left of the forces where r = r0 + J x, beside the greatest: M x = J^T f of a solution, each coordinate divided by the
// root of its inertia.
template <class T> FS_HD T coordinate_residual(const auto& problem, ScratchArray<T> r, ScratchArray<T> x) {
  const int n = problem.rows.rows(), nv = problem.own.nv;
  auto f = scratch<T>(n), W = scratch<T>(problem.rows.curvatures()), Mx = scratch<T>(nv), of_rows = scratch<T>(nv);
  block_states(problem, r, f.data(), W.data());
  mul_h(problem.own, problem.mass, x, Mx.data());
  for (int k = 0; k < nv; k++) of_rows[k] = T(0.0);
  add_rows_transposed(problem.rows, problem.jacobian, f.data(), of_rows.data());
  T left(0.0), most(1e-30);
  for (int k = 0; k < nv; k++) {
    const T scale = rcp(sqrt(T(problem.mass[problem.own.at(k, k)])));
    left = max(left, scale * abs(T(Mx[k] - of_rows[k])));
    most = max(most, scale * max(abs(Mx[k]), abs(of_rows[k])));
  }
  return left * rcp(most);
}

// The tree of M + J^T W J: the robot's own, and what couples its branches in some instances.
// in   each  calls its argument with how many coordinates a block moves, and which the k-th is, in ascending order
FS_HD void tree_of(const auto& solver, const auto& each, EliminationTreeIn& tree) {
  const int words = (solver.nv + 63) / 64;
  auto below = scratch<std::uint64_t>(words);
  for (int i = 0; i < solver.nv * words; i++) tree.row[i] = 0;
  for (int k = 0; k < solver.nv; k++)
    if (const int parent = solver.own.dof_parent[k]; parent >= 0) CoordinateSet{tree.row + k * words}.add(parent);
  each([&](int columns, const auto& column) {
    if (columns < 2) return;
    for (int j = 0; j < words; j++) below[j] = 0;
    for (int c = 0; c < columns; c++) {
      const int k = column(c);
      for (int j = 0; j < words; j++) tree.row[k * words + j] |= below[j];
      CoordinateSet{below.data()}.add(k);
    }
  });
  eliminate(words, tree);
}

// Of constraints each block has a slot; those of contacts between the same branches follow each other, as many as the instance with
// most of them has.
template <class T>
FS_HD void solve_coordinates(const auto& solver, const PresentRows<T>& present, unsigned instances, const auto& in,
                             const auto& out) {
  const T zero(0.0);
  const int nv = solver.nv, words = (nv + 63) / 64, branches = static_cast<int>(solver.branches.size());
  auto rank = scratch<unsigned short[lanes<T>]>(present.count + 1);
  auto most = scratch<int>(branches + 1);
  Ranks<T> ranks{rank.data(), most.data()};
  const auto branches_of = [&](const PresentBlock& c) { return c.contact ? solver.branches_of[c.source] : -1; };
  rank_blocks(present, branches, branches_of, instances, ranks);
  // how many there are
  int slots = present.constraints, columns = 0, n = present.constraints, entries = 0;
  for (int i = 0; i < present.constraints; i++) {
    const int of = solver.constraints.block[present.block[i].source].columns;
    columns += of, entries += of;
  }
  for (int g = 0; g < branches; g++) {
    const auto& b = solver.branches[g];
    const int of = solver.pairs.columns(b.pair);
    slots += most[g], n += most[g] * b.rows, columns += most[g] > 0 ? of : 0, entries += most[g] * b.rows * of;
  }
  auto x = scratch<T>(nv);
  const auto hand_out_x = [&](const T& passes) {
    for (int k = 0; k < nv; k++) x[k] = in.qacc_smooth[k] + x[k];
    hand_out(solver, instances, x.data(), passes, out);
  };
  for (int k = 0; k < nv; k++) x[k] = zero;
  if (n == 0) return hand_out_x(zero);
  auto block = scratch<PackedBlock>(slots + 1);
  auto column = scratch<int>(columns), first = scratch<int>(branches + 1);
  RowPatternOf<BlockList, int*> rows{{block.data()}, column.data()};
  columns = 0;
  for (int i = 0; i < present.constraints; i++) {
    const PackedBlock& b = solver.constraints.block[present.block[i].source];
    for (int k = 0; k < b.columns; k++) column[columns + k] = solver.constraints.column[b.column + k];
    rows.add(b.kind, 1, columns, b.columns);
    columns += b.columns;
  }
  for (int g = 0; g < branches; g++) {
    first[g] = rows.size();
    if (most[g] == 0) continue;
    const auto& b = solver.branches[g];
    const int from = solver.pairs.start[b.pair], of = solver.pairs.columns(b.pair);
    for (int k = 0; k < of; k++) column[columns + k] = solver.pairs.column[from + k].v;
    for (int i = 0; i < most[g]; i++) rows.add(b.kind, b.rows, columns, of);
    columns += of;
  }
  // their numbers, zero of instances that have none there
  auto J = scratch<T>(entries), r0 = scratch<T>(n), r = scratch<T>(n), D = scratch<T>(n), friction = scratch<T>(n),
       f = scratch<T>(n);
  for (int i = 0; i < entries; i++) J[i] = zero;
  for (int i = 0; i < n; i++) r0[i] = r[i] = D[i] = friction[i] = f[i] = zero;
  const auto slot_of = [&](int i, int rank) {
    const int g = branches_of(present.block[i]);
    return g < 0 ? i : first[g] + rank;
  };
  for (int i = 0; i < present.count; i++) {
    const PresentBlock& c = present.block[i];
    for_each_rank(ranks, i, c.instances, [&](int rank, unsigned bits) {
      const PackedBlock& b = rows.block[slot_of(i, rank)];
      const auto here = where<T>(bits);
      for (int k = 0; k < b.rows * b.columns; k++) J[b.entry + k] = select(here, T(present.J[c.J + k]), J[b.entry + k]);
      for (int k = 0; k < b.rows; k++) {
        const int to = b.first + k;
        D[to] = select(here, T(present.D[c.row + k]), D[to]);
        friction[to] = select(here, T(present.friction[c.row + k]), friction[to]);
        r0[to] = select(here, T(-present.aref[c.row + k]), r0[to]);
      }
    });
  }
  for (const PackedBlock& b : rows.block)
    for (int i = 0; i < b.rows; i++) {
      T free = r0[b.first + i], guess = free;
      for (int k = 0; k < b.columns; k++) {
        const int at = rows.column[b.column + k];
        const T j = J[b.entry + i * b.columns + k];
        free = free + j * in.qacc_smooth[at], guess = guess + j * in.qacc[at];
      }
      r0[b.first + i] = free, r[b.first + i] = guess;
    }
  auto parent = scratch<int>(nv), depth = scratch<int>(nv), start = scratch<int>(nv + 1);
  auto row = scratch<std::uint64_t>(nv * words);
  EliminationTreeIn tree{nv, 0, parent.data(), depth.data(), start.data(), row.data()};
  const auto couples = [&](const auto& couple) {
    for (const PackedBlock& b : rows.block) couple(b.columns, [&](int k) { return rows.column[b.column + k]; });
  };
  tree_of(solver, couples, tree);
  auto mass = scratch<T>(solver.own.nh);
  for (int k = 0; k < solver.own.nh; k++) mass[k] = in.inertia[k];
  if (solver.most_rows > 0) mass_of_half_factor(solver.own, in.inertia, mass.data());
  const CoordinateProblem problem{solver.own, tree, rows, mass.data(), J.data(), r0.data(), D.data(), friction.data()};
  const T passes = newton_until_done<T>(
      solver, problem, instances, [](const auto&... x) { return coordinate_newton_step(x...); }, r.data(), x.data(),
      f.data());
  if (solver.report) hand_out_residual(instances, coordinate_residual<T>(problem, r.data(), x.data()), out);
  hand_out_x(passes);
  for (int i = 0; i < present.count; i++) {
    const PresentBlock& c = present.block[i];
    for_each_rank(ranks, i, c.instances, [&](int rank, unsigned bits) {
      const PackedBlock& b = rows.block[slot_of(i, rank)];
      hand_out_forces<T>(solver, present, c, b.rows, where<T>(bits), f.data() + b.first, out);
    });
  }
}

}  // namespace featherstorm
