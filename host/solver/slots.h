// Slots of the rows that instances side by side have.
//
// The rows of an instance take slots of their kind one after the other: the second contact of an instance stands beside the
// second ones of its neighbours, whatever they touch with. So what is solved is as large as the instance with most rows needs it, and an
// instance's numbers do not depend on its neighbours: what is theirs is zero for it. That those with the same contact share a slot where
// that takes no more slots saves nothing that shows.
#pragma once
#include <cstdint>

#include "core/linear/lower_half.h"
#include "host/solver/find_rows.h"

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
    for (std::uint64_t left = a[i] & b[i]; left != 0; left &= left - 1) f(64 * i + lowest_bit(left));
}

// Which of the slots of its group a block has in each instance, and how many slots of each group that takes.
template <class T> struct Ranks {
  unsigned short (*rank)[lanes<T>];  // (blocks)
  int* most;                         // (groups)
  unsigned instances = 0;            // that are solved together
};

// How many rows each instance has.
template <class T>
FS_HD void count_rows(const auto& solver, const PresentRows<T>& present, int* rows) {
  for (int l = 0; l < lanes<T>; l++) rows[l] = 0;
  for (int i = 0; i < present.count; i++) {
    const PresentBlock& c = present.block[i];
    const int n = solver.group[solver.group_of[c.contact][c.source]].rows;
    for (unsigned left = c.instances; left != 0; left &= left - 1) rows[lowest_bit(left)] += n;
  }
}

// in   present; instances  that are solved together
// in   group_of  of a block; where below zero: such a block has a slot of its own
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

// visit(rank, instances) for each slot of its group that a block has in some instances.
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

// Y of the slots: of each its rows by all coordinates, of which those in its set are there.
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

}  // namespace featherstorm
