// The acceleration under all rows that are present, by Newton's method in the space of rows (core/constraint/row_newton.h).
//
// The rows of an instance take slots of their kind one after the other: the second contact of an instance stands beside the
// second ones of its neighbours, whatever they touch with. So what is solved is as large as the instance with most rows needs it, and an
// instance's numbers do not depend on its neighbours: what is theirs is zero for it.
#pragma once
#include <bit>
#include <cstdint>

#include "core/constraint/row_newton.h"
#include "core/rigid/rigid_solve.h"
#include "host/solver/solve_coordinates.h"

namespace featherstorm {

// Which coordinates some instance has in a slot.
struct CoordinateSet {
  std::uint64_t* word;
  FS_HD bool add(int k) {  // whether it is new
    const std::uint64_t bit = std::uint64_t{1} << (k % 64);
    const bool is_new = (word[k / 64] & bit) == 0;
    word[k / 64] |= bit;
    return is_new;
  }
};
// f(k) for those in both.
FS_HD void for_each_common(int words, const std::uint64_t* a, const std::uint64_t* b, auto&& f) {
  for (int i = 0; i < words; i++)
    for (std::uint64_t left = a[i] & b[i]; left != 0; left &= left - 1) f(64 * i + std::countr_zero(left));
}

// Which of the slots of its group a block has in each instance, and how many slots of each group that takes.
template <class T> struct Ranks {
  unsigned short (*rank)[lanes<T>];  // (blocks)
  int* most;                         // (groups)
  unsigned instances = 0;            // those that have no more rows than the solver takes
};

// in      present
// out     ranks, count: rows of each instance
template <class T, class P>
FS_HD void rank_blocks(const ContactSolver<P>& solver, const PresentRows<T>& present, Ranks<T>& ranks, T& count) {
  const int groups = static_cast<int>(solver.group.size());
  auto taken = scratch<int[lanes<T>]>(groups + 1);
  int rows[lanes<T>] = {};
  for (int g = 0; g < groups; g++)
    for (int l = 0; l < lanes<T>; l++) taken[g][l] = 0;
  for (int i = 0; i < present.count; i++) {
    const PresentBlock& c = present.block[i];
    const int g = solver.group_of[c.contact][c.source], n = solver.group[g].rows;
    for (unsigned left = c.instances; left != 0; left &= left - 1) {
      const int l = std::countr_zero(left);
      rows[l] += n;
      ranks.rank[i][l] = static_cast<unsigned short>(taken[g][l]);
      if (rows[l] <= solver.most_rows) taken[g][l]++;
    }
  }
  for (int l = 0; l < lanes<T>; l++) set_lane(count, l, rows[l]);
  for (int l = 0; l < lanes<T>; l++)
    if (rows[l] <= solver.most_rows) ranks.instances |= 1u << l;
  for (int g = 0; g < groups; g++) {
    ranks.most[g] = 0;
    for (int l = 0; l < lanes<T>; l++)
      if ((ranks.instances >> l & 1) != 0 && taken[g][l] > ranks.most[g]) ranks.most[g] = taken[g][l];
  }
}

// visit(rank, instances) for each slot of its group that a block has in some instances.
template <class T> FS_HD void for_each_rank(const Ranks<T>& ranks, int block, unsigned instances, auto&& visit) {
  for (unsigned left = instances & ranks.instances; left != 0;) {
    const unsigned short rank = ranks.rank[block][std::countr_zero(left)];
    unsigned bits = 0;
    for (unsigned l = left; l != 0; l &= l - 1)
      if (ranks.rank[block][std::countr_zero(l)] == rank) bits |= l & -l;
    left &= ~bits;
    visit(static_cast<int>(rank), bits);
  }
}

// Y of the slots: of each its rows by all coordinates, of which those in its set are there.
template <class T, class Rows> struct SlottedRows {
  const Rows& rows;
  const T* Y;
  const std::uint64_t* sets;
  int columns, words;
  FS_HD void times(const T* x, T* y) const {
    for (int s = 0; s < rows.size(); s++)
      with_rows(rows.block[s].rows, [&](auto of_rows) {
        constexpr int m = of_rows;
        T sum[m];
        for (int i = 0; i < m; i++) sum[i] = T(0.0);
        for_each_coordinate(s, [&](int k, const T* column) {
          for (int i = 0; i < m; i++) sum[i] = sum[i] + column[i] * x[k];
        });
        for (int i = 0; i < m; i++) y[rows.block[s].first + i] = sum[i];
      });
  }
  FS_HD void transposed_times(const T* f, T* x) const {
    for (int k = 0; k < columns; k++) x[k] = T(0.0);
    for (int s = 0; s < rows.size(); s++)
      with_rows(rows.block[s].rows, [&](auto of_rows) {
        constexpr int m = of_rows;
        T force[m];
        for (int i = 0; i < m; i++) force[i] = f[rows.block[s].first + i];
        for_each_coordinate(s, [&](int k, const T* column) {
          T sum = x[k];
          for (int i = 0; i < m; i++) sum = sum + column[i] * force[i];
          x[k] = sum;
        });
      });
  }
  FS_HD void for_each_coordinate(int slot, auto&& f) const {
    const std::uint64_t* set = sets + slot * words;
    const PackedBlock& b = rows.block[slot];
    for_each_common(words, set, set, [&](int k) { f(k, Y + b.first * columns + k * b.rows); });
  }
};

// Passes of Newton's method until every instance is done; how many each took.
//
// in-out  r (n)  a guess
// out     x (nv), f (n)  before: zero
template <class T, class P>
FS_HD T newton_by_rows(const ContactSolver<P>& solver, const auto& problem, unsigned instances, T* r, T* x, T* f) {
  const int n = problem.rows.rows(), nv = solver.nv;
  const T zero(0.0);
  auto r_next = scratch<T>(n), f_next = scratch<T>(n), x_next = scratch<T>(nv);
  for (int k = 0; k < nv; k++) x[k] = zero;
  T more = select(where<T>(instances), T(1.0), zero), passes(0.0);
  for (int i = 0; i < solver.iterations && some(more); i++) {
    for (int k = 0; k < n; k++) r_next[k] = r[k];
    for (int k = 0; k < nv; k++) x_next[k] = x[k];
    const T done = row_newton_step(problem, i == 0, solver.tolerance, r_next.data(), x_next.data(), f_next.data());
    const auto goes_on = zero < more;
    for (int k = 0; k < n; k++) r[k] = select(goes_on, r_next[k], r[k]), f[k] = select(goes_on, f_next[k], f[k]);
    for (int k = 0; k < nv; k++) x[k] = select(goes_on, x_next[k], x[k]);
    passes = passes + more, more = select(goes_on, T(T(1.0) - done), zero);
  }
  return passes;
}

// What is left of the forces where r = r0 + Y x, beside the greatest: x = Y^T f of a solution.
template <class T> FS_HD T row_residual(const auto& problem, const T* r, const T* x) {
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

template <class T, class P>
FS_HD void solve_by_rows(const ContactSolver<P>& solver, const PresentRows<T>& present, const Ranks<T>& ranks,
                         const auto& in, const auto& out) {
  const T zero(0.0);
  const int groups = static_cast<int>(solver.group.size()), nv = solver.nv, words = (nv + 63) / 64;
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
    return hand_out(solver, ranks.instances, a.data(), zero, out);
  }
  auto Y = scratch<T>(n * nv);
  auto r0 = scratch<T>(n), r = scratch<T>(n), D = scratch<T>(n), friction = scratch<T>(n), f = scratch<T>(n);
  auto sets = scratch<std::uint64_t>(slots * words);
  for (int i = 0; i < slots * words; i++) sets[i] = 0;
  for (int i = 0; i < n; i++) r0[i] = r[i] = D[i] = friction[i] = f[i] = zero;
  // where the rows of a block go
  const auto slot_of = [&](const PresentBlock& c, int rank) {
    return first_slot[solver.group_of[c.contact][c.source]] + rank;
  };
  auto half = scratch<T>(most_rows * nv);
  for (int i = 0; i < present.count; i++) {
    const PresentBlock& c = present.block[i];
    if ((c.instances & ranks.instances) == 0) continue;
    const HalfSolution& h = solver.half[solver.half_of[c.contact][c.source]];
    const int columns = static_cast<int>(h.position.size());
    with_rows(solver.group[solver.group_of[c.contact][c.source]].rows, [&](auto of_rows) {
      constexpr int m = of_rows;
      const T* J = present.J + c.J;
      half_solve<m>(h, in.factor, solver.diagonal, J, half.data());
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
          T* const at = Y.data() + first * nv + h.column[j] * m;
          const T* const from = half.data() + j * m;
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
  // A = Y Y^T
  auto A = scratch<T>(lower_half(n, 0));
  for (int s = 0; s < slots; s++)
    with_rows(rows.block[s].rows, [&](auto of_rows) {
      constexpr int m = of_rows;
      const int first = rows.block[s].first;
      for (int t = 0; t <= s; t++)
        with_rows(rows.block[t].rows, [&](auto of_others) {
          constexpr int l = of_others;
          const int other = rows.block[t].first;
          T sum[m][l];
          for (int i = 0; i < m; i++)
            for (int j = 0; j < l; j++) sum[i][j] = zero;
          for_each_common(words, sets.data() + s * words, sets.data() + t * words, [&](int k) {
            const T *x = Y.data() + first * nv + k * m, *y = Y.data() + other * nv + k * l;
            for (int i = 0; i < m; i++)
              for (int j = 0; j < l; j++) sum[i][j] = sum[i][j] + x[i] * y[j];
          });
          for (int i = 0; i < m; i++)
            for (int j = 0; j < l && other + j <= first + i; j++) A[lower_half(first + i, other + j)] = sum[i][j];
        });
    });
  const SlottedRows<T, decltype(rows)> half_solved{rows, Y.data(), sets.data(), nv, words};
  T passes(0.0);
  if (solver.rigid) {
    const RigidProblem problem{rows.block, n, A.data(), r0.data(), D.data(), friction.data()};
    const T h = common_among<T>(solver, in.touch).timestep;
    const T left = rigid_solve(problem, r.data(), solver.rigid->sweeps, solver.rigid->polishes,
                               T(solver.rigid->tolerance) * rcp(h), f.data());
    half_solved.transposed_times(f.data(), a.data());
    passes = T(static_cast<double>(solver.rigid->sweeps));
    if (solver.report) hand_out_residual(ranks.instances, T(left * h), out);
  } else {
    const RowProblem problem{rows, half_solved, A.data(), r0.data(), D.data(), friction.data()};
    passes = newton_by_rows(solver, problem, ranks.instances, r.data(), a.data(), f.data());
    if (solver.report) hand_out_residual(ranks.instances, row_residual(problem, r.data(), a.data()), out);
  }
  // a = a0 + L^-1 D^-1/2 x
  solve_from_root(solver.own, in.factor, a.data());
  for (int k = 0; k < nv; k++) a[k] = a[k] + in.qacc_smooth[k];
  hand_out(solver, ranks.instances, a.data(), passes, out);
  for (int i = 0; i < present.count; i++) {
    const PresentBlock& c = present.block[i];
    for_each_rank(ranks, i, c.instances, [&](int rank, unsigned bits) {
      const PackedBlock& b = rows.block[slot_of(c, rank)];
      hand_out_forces<T>(solver, c, b.rows, where<T>(bits), f.data() + b.first, out);
    });
  }
}

}  // namespace featherstorm
