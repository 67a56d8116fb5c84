// Symmetric positive definite matrices in blocks of limbs: Cholesky factorization, solution, product.
//
// A limb is a chain of coordinates without a branch. Limbs are numbered from the root. Block (m, n), n <= m, has a row
// for each coordinate of limb m and a column for each coordinate of limb n; it is stored row by row. Of diagonal
// blocks only the lower half is used. Elimination goes from the last limb to the first, so the factor of a matrix with
// the blocks of a tree (each limb with its ancestors) has no other blocks:
//
//   H = R^T R,   R(m, m)^T R(m, m) = H(m, m) - sum_l R(l, m)^T R(l, m),
//                R(m, m)^T R(m, n) = H(m, n) - sum_l R(l, m)^T R(l, n)                 l > m > n
//
// R(m, m)^T is stored as the lower half of its block, with inverses on the diagonal. Source: Golub and Van Loan, Matrix
// Computations, section 4.2.
#pragma once
#include <cassert>
#include <cstdint>
#include <type_traits>

#include "core/linear/lower_half.h"
#include "core/scalar/bits.h"
#include "core/scalar/scalar.h"
#include "core/scalar/unroll.h"

namespace featherstorm {

// The greatest number of coordinates of a limb; a longer chain is several limbs.
inline constexpr int most_limb = 7;

struct Limb {
  int parent = -1;
  int first = 0, count = 0;        // its coordinates
  int first_body = 0, bodies = 0;  // bodies of their joints
  bool free = false;               // one free joint, whose coordinates are the body's spatial acceleration
};

// Pattern of blocks.
struct LimbBlocks {
  int limbs, words;             // words: of a set of limbs
  int numbers;                  // of all blocks
  const Limb* limb;             // (limbs)
  const int* place;             // (limbs (limbs + 1) / 2)  where a block begins, or -1
  const std::uint64_t* row;     // (limbs words)  of m: each n < m with a block (m, n)
  const std::uint64_t* column;  // (limbs words)  of m: each l > m with a block (l, m)
  FS_HD int at(int m, int n) const { return place[lower_half(m, n)]; }
  FS_HD const std::uint64_t* row_of(int m) const { return row + m * words; }
  FS_HD const std::uint64_t* column_of(int m) const { return column + m * words; }
};

// Calls visit(k) for each k in both sets, ascending.
FS_HD void for_each_common(int words, const std::uint64_t* a, const std::uint64_t* b, auto&& visit) {
  for (int i = 0; i < words; i++)
    for (std::uint64_t left = a[i] & b[i]; left != 0; left &= left - 1) visit(64 * i + lowest_bit(left));
}
FS_HD void for_each_in(int words, const std::uint64_t* set, auto&& visit) { for_each_common(words, set, set, visit); }

// Adds the blocks that elimination fills, and computes columns and places; returns the number of all entries.
//
// in-out  row (limbs words)
// out     place (limbs (limbs + 1) / 2), column (limbs words)
FS_CALLED FS_HD int eliminate_limbs(int limbs, int words, const Limb* limb, std::uint64_t* row, int* place,
                                    std::uint64_t* column) {
  for (int l = limbs - 1; l > 0; l--) {
    int last = -1;
    for_each_in(words, row + l * words, [&](int n) { last = n; });
    if (last < 0) continue;
    for (int i = 0; i < words; i++) row[last * words + i] |= row[l * words + i];
    row[last * words + last / 64] &= ~(std::uint64_t{1} << (last % 64));
  }
  int numbers = 0;
  for (int i = 0; i < limbs * words; i++) column[i] = 0;
  for (int m = 0; m < limbs; m++) {
    for (int n = 0; n <= m; n++) {
      const bool there = n == m || ((row[m * words + n / 64] >> (n % 64)) & 1u) != 0;
      place[lower_half(m, n)] = there ? numbers : -1;
      if (!there) continue;
      numbers += limb[m].count * limb[n].count;
      if (n < m) column[n * words + m / 64] |= std::uint64_t{1} << (m % 64);
    }
  }
  return numbers;
}

// Calls f(n) with n = count as a constant.
FS_HD void with_limb(int count, auto&& f) {
  switch (count) {
    case 1: return f(std::integral_constant<int, 1>{});
    case 2: return f(std::integral_constant<int, 2>{});
    case 3: return f(std::integral_constant<int, 3>{});
    case 4: return f(std::integral_constant<int, 4>{});
    case 5: return f(std::integral_constant<int, 5>{});
    case 6: return f(std::integral_constant<int, 6>{});
    default: break;
  }
  assert(count == most_limb);
  f(std::integral_constant<int, most_limb>{});
}

// Subtracts `rows` rows, from row i on, and the first `columns` columns of sum_l R(l, m)^T R(l, n) from u.
template <int rows, int columns, class T>
FS_HD void subtract_products(const LimbBlocks& b, const auto& R, int m, int n, int i, T (&u)[rows][columns]) {
  const int p = b.limb[m].count, q = b.limb[n].count;
  for_each_common(b.words, b.column_of(m), b.column_of(n), [&](int l) {
    const auto X = R + (b.at(l, m) + i), Y = R + b.at(l, n);
    for (int k = 0; k < b.limb[l].count; k++) FS_UNROLL for (int r = 0; r < rows; r++) {
        const T x = X[k * p + r];
        FS_UNROLL for (int j = 0; j < columns; j++) u[r][j] = u[r][j] - x * Y[k * q + j];
      }
  });
}

// Sets `rows` rows of block (m, n) of R, `columns` entries each, to those of H less the products.
template <int rows, int columns, class T>
FS_CALLED FS_HD void eliminate_rows(const LimbBlocks& b, const auto& H, auto R, int m, int n, int i) {
  const int at = b.at(m, n) + i * b.limb[n].count, q = b.limb[n].count;
  T u[rows][columns];
  FS_UNROLL for (int r = 0; r < rows; r++) FS_UNROLL for (int j = 0; j < columns; j++) u[r][j] = H[at + r * q + j];
  subtract_products(b, R, m, n, i, u);
  FS_UNROLL for (int r = 0; r < rows; r++) FS_UNROLL for (int j = 0; j < columns; j++) R[at + r * q + j] = u[r][j];
}
// Calls f(i, rows) for pairs of the p rows of a block, and for the last row alone if p is odd.
template <int p, int i = 0> FS_HD void for_row_pairs(auto&& f) {
  if constexpr (i + 2 <= p) {
    f(std::integral_constant<int, i>{}, std::integral_constant<int, 2>{});
    for_row_pairs<p, i + 2>(f);
  } else if constexpr (i < p) {
    f(std::integral_constant<int, i>{}, std::integral_constant<int, 1>{});
  }
}

// Factorizes A = C C^T in place, p x p; C is the lower half, with inverses on its diagonal.
template <int p, class T> FS_CALLED FS_HD void cholesky(auto A) {
  T c[p * (p + 1) / 2];
  FS_UNROLL for (int i = 0; i < p; i++) {
    FS_UNROLL for (int j = 0; j <= i; j++) {
      T sum = A[i * p + j];
      FS_UNROLL for (int k = 0; k < j; k++) sum = sum - c[lower_half(i, k)] * c[lower_half(j, k)];
      c[lower_half(i, j)] = j < i ? T(sum * c[lower_half(j, j)]) : T(rcp(sqrt(sum)));
    }
    FS_UNROLL for (int j = 0; j <= i; j++) A[i * p + j] = c[lower_half(i, j)];
  }
}

// Computes C^-1 X in place; X has p rows of q entries.
template <int q, class T> FS_CALLED FS_HD void solve_lower(const auto& C, int p, auto X) {
  for (int i = 0; i < p; i++) {
    T u[q];
    FS_UNROLL for (int j = 0; j < q; j++) u[j] = X[i * q + j];
    for (int k = 0; k < i; k++) {
      const T c = C[i * p + k];
      FS_UNROLL for (int j = 0; j < q; j++) u[j] = u[j] - c * X[k * q + j];
    }
    const T d = C[i * p + i];
    FS_UNROLL for (int j = 0; j < q; j++) X[i * q + j] = u[j] * d;
  }
}

// Cholesky factorization.
//
// in   H (b.numbers)
// out  R (b.numbers)
FS_HD void factor_limbs(const LimbBlocks& b, const auto& H, auto R) {
  using T = ScalarOf<decltype(R)>;
  for (int m = b.limbs - 1; m >= 0; m--) {
    const int p = b.limb[m].count;
    with_limb(p, [&](auto of_m) {
      for_row_pairs<of_m>([&](auto i, auto rows) { eliminate_rows<rows, i + rows, T>(b, H, R, m, m, i); });
      cholesky<of_m, T>(R + b.at(m, m));
    });
    for_each_in(b.words, b.row_of(m), [&](int n) {
      with_limb(b.limb[n].count, [&](auto of_n) {
        int i = 0;
        for (; i + 2 <= p; i += 2) eliminate_rows<2, of_n, T>(b, H, R, m, n, i);
        if (i < p) eliminate_rows<1, of_n, T>(b, H, R, m, n, i);
        solve_lower<of_n, T>(R + b.at(m, m), p, R + b.at(m, n));
      });
    });
  }
}

// Computes H^-1 x in place; returns x^T H^-1 x of the old x.
FS_CALLED FS_HD auto solve_limbs(const LimbBlocks& b, const auto& R, auto x) {
  using T = ScalarOf<decltype(x)>;
  T square(0.0);
  for (int m = b.limbs - 1; m >= 0; m--) {
    const int p = b.limb[m].count;
    const auto y = x + b.limb[m].first;
    const auto C = R + b.at(m, m);
    for (int i = 0; i < p; i++) {
      T u = y[i];
      for (int k = 0; k < i; k++) u = u - C[i * p + k] * y[k];
      u = u * C[i * p + i];
      y[i] = u, square = square + u * u;
    }
    for_each_in(b.words, b.row_of(m), [&](int n) {
      with_limb(b.limb[n].count, [&](auto of_n) {
        constexpr int q = of_n;
        const auto X = R + b.at(m, n), z = x + b.limb[n].first;
        T u[q];
        FS_UNROLL for (int j = 0; j < q; j++) u[j] = z[j];
        for (int i = 0; i < p; i++) FS_UNROLL for (int j = 0; j < q; j++) u[j] = u[j] - X[i * q + j] * y[i];
        FS_UNROLL for (int j = 0; j < q; j++) z[j] = u[j];
      });
    });
  }
  for (int m = 0; m < b.limbs; m++) {
    const int p = b.limb[m].count;
    const auto y = x + b.limb[m].first;
    for_each_in(b.words, b.row_of(m), [&](int n) {
      with_limb(b.limb[n].count, [&](auto of_n) {
        constexpr int q = of_n;
        const auto X = R + b.at(m, n), from = x + b.limb[n].first;
        T z[q];
        FS_UNROLL for (int j = 0; j < q; j++) z[j] = from[j];
        for (int i = 0; i < p; i++) {
          T u = y[i];
          FS_UNROLL for (int j = 0; j < q; j++) u = u - X[i * q + j] * z[j];
          y[i] = u;
        }
      });
    });
    const auto C = R + b.at(m, m);
    for (int i = p - 1; i >= 0; i--) {
      const T u = y[i] * C[i * p + i];
      y[i] = u;
      for (int k = 0; k < i; k++) y[k] = y[k] - C[i * p + k] * u;
    }
  }
  return square;
}

// Computes y = H x.
FS_CALLED FS_HD void limbs_times(const LimbBlocks& b, const auto& H, const auto& x, auto y) {
  using T = ScalarOf<decltype(y)>;
  for (int m = 0; m < b.limbs; m++) {
    const int p = b.limb[m].count;
    const auto from = x + b.limb[m].first, to = y + b.limb[m].first;
    const auto A = H + b.at(m, m);
    with_limb(p, [&](auto of_m) {
      constexpr int n = of_m;
      T u[n];
      FS_UNROLL for (int i = 0; i < n; i++) u[i] = from[i];
      FS_UNROLL for (int i = 0; i < n; i++) {
        T sum = A[i * n] * u[0];
        FS_UNROLL for (int j = 1; j < n; j++) sum = sum + A[j <= i ? i * n + j : j * n + i] * u[j];
        to[i] = sum;
      }
    });
    for_each_in(b.words, b.row_of(m), [&](int n) {
      with_limb(b.limb[n].count, [&](auto of_n) {
        constexpr int q = of_n;
        const auto B = H + b.at(m, n), z = x + b.limb[n].first, w = y + b.limb[n].first;
        T u[q];
        FS_UNROLL for (int j = 0; j < q; j++) u[j] = w[j];
        for (int i = 0; i < p; i++) {
          const T v = from[i];
          T sum = to[i];
          FS_UNROLL for (int j = 0; j < q; j++) {
            sum = sum + B[i * q + j] * z[j];
            u[j] = u[j] + B[i * q + j] * v;
          }
          to[i] = sum;
        }
        FS_UNROLL for (int j = 0; j < q; j++) w[j] = u[j];
      });
    });
  }
}

}  // namespace featherstorm
