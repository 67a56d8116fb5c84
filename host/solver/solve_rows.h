// The acceleration under the rigid law, in the space of the rows that are present: A = Y Y^T
// (core/constraint/delassus.h).
//
// The rows of an instance take the slots of their kind one after the other. The second contact of an instance shares a
// slot with the second contacts of its neighbours, whatever bodies touch. The problem is therefore as large as the
// instance with most rows requires. Rows of other instances are zero for an instance, so its result does not depend on
// its neighbours.
#pragma once
#include <cstdint>

#include "core/linear/limb_blocks.h"
#include "core/rigid/rigid_solve.h"
#include "host/solver/store_results.h"

namespace featherstorm {

// The coordinates that any instance has in a slot.
struct CoordinateSet {
  std::uint64_t* word;
  FS_HD bool add(int k) {  // returns whether k is new
    const std::uint64_t bit = std::uint64_t{1} << (k % 64);
    const bool is_new = (word[k / 64] & bit) == 0;
    word[k / 64] |= bit;
    return is_new;
  }
};

// The slot, within its group, that a block has in each instance; and the number of slots of each group.
template <class T> struct Ranks {
  unsigned short (*rank)[lanes<T>];  // (blocks)
  int* most;                         // (groups)
  unsigned instances = 0;            // instances that are solved together
};

// Return the number of rows of each instance.
template <class T> FS_HD T count_rows(const auto& solver, const PresentRows<T>& present) {
  T rows(0.0);
  for (int i = 0; i < present.count; i++) {
    const PresentBlock& c = present.block[i];
    rows = rows + keep(c.instances, T(solver.group[solver.group_of[c.contact][c.source]].rows));
  }
  return rows;
}

// in   present; instances  that are solved together
// in   group_of  the group of a block; below zero if the block has a slot of its own
template <class T>
FS_HD void rank_blocks(const PresentRows<T>& present, int groups, auto&& group_of, unsigned instances,
                       Ranks<T>& ranks) {
  auto taken = scratch<unsigned short[lanes<T>]>(groups + 1);
  for (int g = 0; g < groups; g++) {
    ranks.most[g] = 0;
    for (int l = 0; l < lanes<T>; l++) taken[g][l] = 0;
  }
  ranks.instances = instances;
  for (int i = 0; i < present.count; i++) {
    const PresentBlock& c = present.block[i];
    const int g = group_of(c);
    for (unsigned left = c.instances & instances; left != 0; left &= left - 1) {
      const int l = lowest_bit(left);
      ranks.rank[i][l] = g < 0 ? 0 : taken[g][l]++;
      if (g >= 0 && taken[g][l] > ranks.most[g]) ranks.most[g] = taken[g][l];
    }
  }
}

// Call visit(rank, instances) for each slot, within its group, that a block has in some of the instances.
template <class T> FS_HD void for_each_rank(const Ranks<T>& ranks, int block, unsigned instances, auto&& visit) {
  for (unsigned left = instances & ranks.instances; left != 0;) {
    const unsigned short rank = ranks.rank[block][lowest_bit(left)];
    unsigned bits = 0;
    for (unsigned l = left; l != 0; l &= l - 1)
      if (ranks.rank[block][lowest_bit(l)] == rank) bits |= l & -l;
    left &= ~bits;
    visit(static_cast<int>(rank), bits);
  }
}

// Y of the slots. Each slot has its rows by all coordinates, of which only those in the slot's set are stored.
template <class T, class Rows> struct SlottedRows {
  const Rows& rows;
  ScratchArray<T> Y;
  const std::uint64_t* sets;
  int columns, words;
  FS_HD void times(const auto& x, auto y) const {
    for (int s = 0; s < rows.size(); s++)
      with_rows(rows.block[s].rows, [&](auto of_rows) {
        constexpr int m = of_rows;
        T sum[m];
        for (int i = 0; i < m; i++) sum[i] = T(0.0);
        for_each_coordinate(s, [&](int k, const auto& column) {
          for (int i = 0; i < m; i++) sum[i] = sum[i] + column[i] * x[k];
        });
        for (int i = 0; i < m; i++) y[rows.block[s].first + i] = sum[i];
      });
  }
  FS_HD void transposed_times(const auto& f, auto x) const {
    for (int k = 0; k < columns; k++) x[k] = T(0.0);
    for (int s = 0; s < rows.size(); s++)
      with_rows(rows.block[s].rows, [&](auto of_rows) {
        constexpr int m = of_rows;
        T force[m];
        for (int i = 0; i < m; i++) force[i] = f[rows.block[s].first + i];
        for_each_coordinate(s, [&](int k, const auto& column) {
          T sum = x[k];
          for (int i = 0; i < m; i++) sum = sum + column[i] * force[i];
          x[k] = sum;
        });
      });
  }
  FS_HD void for_each_coordinate(int slot, auto&& f) const {
    const std::uint64_t* set = sets + slot * words;
    const PackedBlock& b = rows.block[slot];
    for_each_common(words, set, set, [&](int k) { f(k, Y + (b.first * columns + k * b.rows)); });
  }
};

// Compute the lower half of A = Y Y^T.
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
    return store_results(solver, instances, a.data(), NewtonCounts<T>{}, out);
  }
  auto Y = scratch<T>(n * nv);
  auto r0 = scratch<T>(n), r = scratch<T>(n), D = scratch<T>(n), friction = scratch<T>(n), f = scratch<T>(n);
  auto sets = scratch<std::uint64_t>(slots * words);
  for (int i = 0; i < slots * words; i++) sets[i] = 0;
  for (int i = 0; i < n; i++) r0[i] = r[i] = D[i] = friction[i] = f[i] = zero;
  // return the slot of a block
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
  auto A = scratch<T>(lower_half(n, 0));
  delassus<T>(half, A.data());
  const RigidProblem problem{rows.block, n, A.data(), r0.data(), D.data(), friction.data()};
  const T h = common_among<T>(solver, in.touch).timestep;
  const T left = rigid_solve(problem, r.data(), solver.rigid->sweeps, solver.rigid->polishes,
                             T(solver.rigid->tolerance) * rcp(h), f.data());
  half.transposed_times(f.data(), a.data());
  if (solver.report) store_residual(instances, T(left * h), out);
  // a = a0 + L^-1 D^-1/2 x
  solve_from_root(solver.own, in.inertia, a.data());
  for (int k = 0; k < nv; k++) a[k] = a[k] + in.qacc_smooth[k];
  store_results(solver, instances, a.data(), NewtonCounts<T>{T(static_cast<double>(solver.rigid->sweeps))}, out);
  for (int i = 0; i < present.count; i++) {
    const PresentBlock& c = present.block[i];
    for_each_rank(ranks, i, c.instances, [&](int rank, unsigned bits) {
      const PackedBlock& b = rows.block[slot_of(c, rank)];
      store_forces<T>(solver, present, c, b.rows, where<T>(bits), f.data() + b.first, out);
    });
  }
}

}  // namespace featherstorm
