// Networks of dense layers (core/network/dense.h) and products of matrices, compiled once for each instruction set, with
// its fused products. All functions in this file are inlined or static, because no function may be shared with another
// instruction set.
#include "core/network/dense.h"

#include "host/network/dense_kernels.h"

namespace featherstorm {
namespace {

// AVX-512 has 32 registers, of which 24 hold sums; the other sets have 16, of which 8 hold sums.
#if FEATHERSTORM_DENSE_BYTES == 64
constexpr int outputs_at_once = 8, vectors_at_once = 3;
#else
constexpr int outputs_at_once = 4, vectors_at_once = 2;
#endif
typedef float Floats __attribute__((vector_size(FEATHERSTORM_DENSE_BYTES)));
typedef double Doubles __attribute__((vector_size(FEATHERSTORM_DENSE_BYTES)));

// Compute O outputs of a tile, from `first` on, into y[o * P + p].
template <int O, int P, class V, class Real>
__attribute__((noinline)) void some_outputs(const DenseColumn<Real>* tile, int first, int inputs, const V* x, V* y) {
  V sum[O][P];
  dense_tile<O, P>(tile, first, inputs, [x](int k, int p) { return x[k * P + p]; }, sum);
  FEATHERSTORM_UNROLL
  for (int o = 0; o < O; o++) {
    FEATHERSTORM_UNROLL
    for (int p = 0; p < P; p++) y[o * P + p] = sum[o][p];
  }
}

// Compute a layer; y has room for whole groups of outputs.
template <int P, class V, class Real>
void layer(const DenseColumn<Real>* tile, int inputs, int outputs, const V* x, V* y) {
  for (int o = 0; o < outputs; o += tile_outputs, tile += inputs + 1)
    for (int first = 0; first < tile_outputs && o + first < outputs; first += outputs_at_once) {
      const int left = outputs - o - first;
      V* const to = y + (o + first) * P;
      if (left == 1) some_outputs<1, P>(tile, first, inputs, x, to);
      else if (left == 2) some_outputs<2, P>(tile, first, inputs, x, to);
      else if (left <= 4 && outputs_at_once > 4) some_outputs<4, P>(tile, first, inputs, x, to);
      else some_outputs<outputs_at_once, P>(tile, first, inputs, x, to);
    }
}

// Evaluate all layers for P vectors of instances, from index `first`.
template <int P, class V, class Real>
void through(const DenseNetwork& n, const Array* in, const Array& out, long first, V* x, V* y) {
  constexpr long width = sizeof(V) / sizeof(Real);
  const Real* const numbers = static_cast<const Real*>(in[1].data);
  const Real* const from = static_cast<const Real*>(in[0].data) + first;
  const Real clip = static_cast<Real>(n.clip);
  for (int k = 0; k < n.inputs(); k++)
    for (int p = 0; p < P; p++) {
      const V given = *reinterpret_cast<const V*>(from + k * in[0].stride + p * width);
      x[k * P + p] = n.normalised ? normalise(given, numbers[k], numbers[n.inputs() + k], clip) : given;
    }
  const auto* columns = reinterpret_cast<const DenseColumn<Real>*>(numbers);
  for (int l = 0; l < n.layers; l++) {
    layer<P>(columns + first_column(n, l), n.sizes[l], n.sizes[l + 1], x, y);
    if (l + 1 < n.layers) activate(n.activation, y, long{P} * n.sizes[l + 1]);
    V* const last = x;
    x = y, y = last;
  }
  Real* const to = static_cast<Real*>(out.data) + first;
  for (int o = 0; o < n.outputs(); o++)
    for (int p = 0; p < P; p++) *reinterpret_cast<V*>(to + o * out.stride + p * width) = x[o * P + p];
}

template <class V, class Real>
void run(const DenseNetwork& n, const Array* in, const Array& out, long first, long count, void* work) {
  constexpr long width = sizeof(V) / sizeof(Real);
  V* const x = static_cast<V*>(work);
  V* const y = x + dense_room(n) * vectors_at_once;
  for (long left = count / width; left > 0;) {
    const long now = left < vectors_at_once ? left : vectors_at_once;
    if (now == 1) through<1, V, Real>(n, in, out, first, x, y);
    else if (now == 2) through<2, V, Real>(n, in, out, first, x, y);
    else through<vectors_at_once, V, Real>(n, in, out, first, x, y);
    first += now * width, left -= now;
  }
}

constexpr int tile_columns = 4, tile_vectors = FEATHERSTORM_DENSE_BYTES == 64 ? 6 : 3;
// A vector of 8 bytes alignment, for memory of the caller.
typedef double Unaligned __attribute__((vector_size(FEATHERSTORM_DENSE_BYTES), aligned(8)));
constexpr long lanes = sizeof(Doubles) / sizeof(double);

// Add R vectors of rows of N columns. a: vectors of A, `step` for each of its columns; rows: those that C has from `c` on.
template <int R, int N>
__attribute__((noinline)) void add_tile(long k, const double* a, long step, const double* b, double* c, long m,
                                        long rows) {
  Doubles sum[N][R] = {};
  for (long j = 0; j < k; j++) {
    Doubles of_a[R];
    FEATHERSTORM_UNROLL
    for (int r = 0; r < R; r++) of_a[r] = *reinterpret_cast<const Unaligned*>(a + (j * step + r) * lanes);
    FEATHERSTORM_UNROLL
    for (int i = 0; i < N; i++) {
      const Doubles of_b = Doubles{} + b[i * k + j];
      FEATHERSTORM_UNROLL
      for (int r = 0; r < R; r++) sum[i][r] += of_a[r] * of_b;
    }
  }
  for (int i = 0; i < N; i++)
    for (int r = 0; r < R; r++)
      for (long l = 0; l < lanes && r * lanes + l < rows; l++) c[i * m + r * lanes + l] += sum[i][r][l];
}
template <int N>
void add_columns(long vectors, long k, const double* a, long step, const double* b, double* c, long m, long rows) {
  if (vectors >= tile_vectors) add_tile<tile_vectors, N>(k, a, step, b, c, m, rows);
  else if (vectors == 2) add_tile<2, N>(k, a, step, b, c, m, rows);
  else add_tile<1, N>(k, a, step, b, c, m, rows);
}

void multiply(bool lower, long m, long n, long k, const double* a, long row_stride, long column_stride, const double* b,
              double* c, double* work) {
  const long vectors = (m + lanes - 1) / lanes, padded = vectors * lanes;
  for (long j = 0; j < k; j++)
    for (long i = 0; i < padded; i++) work[j * padded + i] = i < m ? a[i * row_stride + j * column_stride] : 0;
  for (long first = 0; first < vectors;) {
    const long left = vectors - first,
               now = left >= tile_vectors ? tile_vectors
                     : left >= 2          ? 2
                                          : 1,
               row = first * lanes;
    const double* const from = work + row;
    for (long i = 0; i < n && !(lower && row + now * lanes <= i);) {
      if (i + tile_columns <= n)
        add_columns<tile_columns>(now, k, from, vectors, b + i * k, c + i * m + row, m, m - row), i += tile_columns;
      else add_columns<1>(now, k, from, vectors, b + i * k, c + i * m + row, m, m - row), i++;
    }
    first += now;
  }
}

}  // namespace

#define FEATHERSTORM_JOIN_(a, b) a##b
#define FEATHERSTORM_JOIN(a, b) FEATHERSTORM_JOIN_(a, b)
extern const DenseKernels FEATHERSTORM_JOIN(dense_kernels_, FEATHERSTORM_DENSE_ISA);
const DenseKernels FEATHERSTORM_JOIN(dense_kernels_, FEATHERSTORM_DENSE_ISA) = {
    run<Floats, float>, run<Doubles, double>, FEATHERSTORM_DENSE_BYTES, vectors_at_once, multiply};

}  // namespace featherstorm
