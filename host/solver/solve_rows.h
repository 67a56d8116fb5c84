// The acceleration under all rows that are present, in the space of rows: by Newton's method (core/constraint/row_newton.h), or the
// rigid law's.
#pragma once
#include "core/constraint/row_newton.h"
#include "core/rigid/rigid_solve.h"
#include "host/solver/hand_out.h"

namespace featherstorm {

// What is left of the forces where r = r0 + Y x, beside the greatest: x = Y^T f of a solution.
template <class T> FS_HD T row_residual(const auto& problem, ScratchArray<T> r, ScratchArray<T> x) {
  const int n = problem.rows.rows(), nv = problem.half.columns;
  auto f = scratch<T>(n), W = scratch<T>(problem.rows.curvatures()), y = scratch<T>(nv);
  block_states(problem, r, f.data(), W.data());
  problem.half.transposed_times(f.data(), y.data());
  T left(0.0), most(1e-30);
  for (int k = 0; k < nv; k++) {
    left = max(left, abs(T(x[k] - y[k])));
    most = max(most, max(abs(x[k]), abs(y[k])));
  }
  return left * rcp(most);
}

// A = Y Y^T, the lower half.
template <class T> FS_HD void delassus(const auto& half, ScratchArray<T> A) {
  for (int s = 0; s < half.rows.size(); s++)
    with_rows(half.rows.block[s].rows, [&](auto of_rows) {
      constexpr int m = of_rows;
      const int first = half.rows.block[s].first;
      for (int t = 0; t <= s; t++)
        with_rows(half.rows.block[t].rows, [&](auto of_others) {
          constexpr int l = of_others;
          const int other = half.rows.block[t].first;
          T sum[m][l];
          for (int i = 0; i < m; i++)
            for (int j = 0; j < l; j++) sum[i][j] = T(0.0);
          for_each_common(half.words, half.sets + s * half.words, half.sets + t * half.words, [&](int k) {
            const auto x = half.Y + (first * half.columns + k * m), y = half.Y + (other * half.columns + k * l);
            for (int i = 0; i < m; i++)
              for (int j = 0; j < l; j++) sum[i][j] = sum[i][j] + x[i] * y[j];
          });
          for (int i = 0; i < m; i++)
            for (int j = 0; j < l && other + j <= first + i; j++) A[lower_half(first + i, other + j)] = sum[i][j];
        });
    });
}

template <class T>
FS_HD void solve_rows(const auto& solver, const PresentRows<T>& present, unsigned instances, const auto& in,
                      const auto& out) {
  const T zero(0.0);
  const int groups = static_cast<int>(solver.group.size()), nv = solver.nv, words = (nv + 63) / 64;
  const auto group_of = [&](const PresentBlock& c) { return solver.group_of[c.contact][c.source]; };
  auto rank = scratch<unsigned short[lanes<T>]>(present.count + 1);
  auto most = scratch<int>(groups + 1);
  Ranks<T> ranks{rank.data(), most.data()};
  rank_blocks(present, groups, group_of, instances, ranks);
  auto a = scratch<T>(nv);
  // the slots
  int slots = 0;
  for (int g = 0; g < groups; g++) slots += ranks.most[g];
  auto blocks = scratch<PackedBlock>(slots + 1);
  auto first_slot = scratch<int>(groups + 1);
  RowPatternOf<BlockList, const int*> rows{{blocks.data()}, nullptr};
  for (int g = 0; g < groups; g++) {
    first_slot[g] = rows.size();
    for (int i = 0; i < ranks.most[g]; i++) rows.add(solver.group[g].kind, solver.group[g].rows, 0, 0);
  }
  const int n = rows.rows();
  if (n == 0) {
    for (int k = 0; k < nv; k++) a[k] = in.qacc_smooth[k];
    return hand_out(solver, instances, a.data(), zero, out);
  }
  auto Y = scratch<T>(n * nv);
  auto r0 = scratch<T>(n), r = scratch<T>(n), D = scratch<T>(n), friction = scratch<T>(n), f = scratch<T>(n);
  auto sets = scratch<std::uint64_t>(slots * words);
  for (int i = 0; i < slots * words; i++) sets[i] = 0;
  for (int i = 0; i < n; i++) r0[i] = r[i] = D[i] = friction[i] = f[i] = zero;
  // where the rows of a block go
  const auto slot_of = [&](const PresentBlock& c, int rank) { return first_slot[group_of(c)] + rank; };
  auto solved = scratch<T>(most_rows * nv);
  for (int i = 0; i < present.count; i++) {
    const PresentBlock& c = present.block[i];
    if ((c.instances & instances) == 0) continue;
    const auto& h = solver.half[solver.half_of[c.contact][c.source]];
    const int columns = static_cast<int>(h.position.size());
    with_rows(solver.group[group_of(c)].rows, [&](auto of_rows) {
      constexpr int m = of_rows;
      const auto J = present.J + c.J;
      half_solve<m>(h, in.inertia, solver.diagonal, J, solved.data());
      T free[m], guess[m];
      for (int k = 0; k < m; k++) free[k] = guess[k] = -present.aref[c.row + k];
      for (int l = 0; l < columns; l++) {
        const int at = h.column[h.position[l]];
        const T smooth = in.qacc_smooth[at], warm = in.qacc[at];
        for (int k = 0; k < m; k++) {
          const T j = J[k * columns + l];
          free[k] = free[k] + j * smooth, guess[k] = guess[k] + j * warm;
        }
      }
      for_each_rank(ranks, i, c.instances, [&](int rank, unsigned bits) {
        const int slot = slot_of(c, rank), first = rows.block[slot].first;
        const auto here = where<T>(bits);
        CoordinateSet set{sets.data() + slot * words};
        for (int j = 0; j < static_cast<int>(h.column.size()); j++) {
          const auto at = Y.data() + (first * nv + h.column[j] * m), from = solved.data() + j * m;
          if (set.add(h.column[j]))
            for (int k = 0; k < m; k++) at[k] = select(here, from[k], zero);
          else
            for (int k = 0; k < m; k++) at[k] = select(here, from[k], at[k]);
        }
        for (int k = 0; k < m; k++) {
          const int to = first + k;
          r0[to] = select(here, free[k], r0[to]), r[to] = select(here, guess[k], r[to]);
          D[to] = select(here, present.D[c.row + k], D[to]);
          friction[to] = select(here, present.friction[c.row + k], friction[to]);
        }
      });
    });
  }
  const SlottedRows<T, decltype(rows)> half{rows, Y.data(), sets.data(), nv, words};
  T passes(0.0);
  auto A = scratch<T>(lower_half(n, 0));
  delassus<T>(half, A.data());
  if (solver.rigid) {
    const RigidProblem problem{rows.block, n, A.data(), r0.data(), D.data(), friction.data()};
    const T h = common_among<T>(solver, in.touch).timestep;
    const T left = rigid_solve(problem, r.data(), solver.rigid->sweeps, solver.rigid->polishes,
                               T(solver.rigid->tolerance) * rcp(h), f.data());
    half.transposed_times(f.data(), a.data());
    passes = T(static_cast<double>(solver.rigid->sweeps));
    if (solver.report) hand_out_residual(instances, T(left * h), out);
  } else {
    const RowProblem problem{rows, half, A.data(), r0.data(), D.data(), friction.data()};
    passes = newton_until_done<T>(
        solver, problem, instances, [](const auto&... x) { return row_newton_step(x...); }, r.data(), a.data(),
        f.data());
    if (solver.report) hand_out_residual(instances, row_residual<T>(problem, r.data(), a.data()), out);
  }
  // a = a0 + L^-1 D^-1/2 x
  solve_from_root(solver.own, in.inertia, a.data());
  for (int k = 0; k < nv; k++) a[k] = a[k] + in.qacc_smooth[k];
  hand_out(solver, instances, a.data(), passes, out);
  for (int i = 0; i < present.count; i++) {
    const PresentBlock& c = present.block[i];
    for_each_rank(ranks, i, c.instances, [&](int rank, unsigned bits) {
      const PackedBlock& b = rows.block[slot_of(c, rank)];
      hand_out_forces<T>(solver, present, c, b.rows, where<T>(bits), f.data() + b.first, out);
    });
  }
}

}  // namespace featherstorm
