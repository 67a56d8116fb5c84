// Networks of dense layers:
//
//   x_0 = clip((x - mean) * rate, -c, c)           if the input is normalised, else x
//   x_l = act(W_l x_{l-1} + b_l),   l = 1 .. L     the last layer has no activation
//
// Many instances are evaluated at once, with their numbers next to each other. A tile of eight outputs by some vectors
// of instances is accumulated in registers. Each number of W is read once for all these instances, and each number of x
// once for the eight outputs.
//
// The parameters of a network are shared by all instances and stored in the order in which they are read:
//
//   mean (n_0), rate (n_0), zeros up to a whole column     if the input is normalised
//   for each layer, tile by tile, columns of eight         b, then for each input k the W_ok of the tile's outputs o;
//                                                          zeros after the last output
#pragma once
#include "core/network/activation.h"

#ifdef __CUDACC__
#define FEATHERSTORM_UNROLL _Pragma("unroll")
#elif defined(__clang__)
#define FEATHERSTORM_UNROLL _Pragma("clang loop unroll(full)")
#else
#define FEATHERSTORM_UNROLL _Pragma("GCC unroll 16")
#endif

namespace featherstorm {

inline constexpr int tile_outputs = 8, most_layers = 16, most_layer_size = 65536;

template <class Real>
struct alignas(16) DenseColumn {
  Real of[tile_outputs];
};

struct DenseNetwork {
  int layers;                  // 1 to most_layers
  int sizes[most_layers + 1];  // input, then each layer's outputs: 1 to most_layer_size
  DenseActivation activation;  // activation of the hidden layers
  bool normalised;
  double clip;  // c > 0; infinity: no clipping

  FEATHERSTORM_INLINE int inputs() const { return sizes[0]; }
  FEATHERSTORM_INLINE int outputs() const { return sizes[layers]; }
};

FEATHERSTORM_INLINE int tiles_of(int outputs) { return (outputs + tile_outputs - 1) / tile_outputs; }

// Number of columns before layer `layer`, counted from 0. For `layers` it is the number of all columns.
FEATHERSTORM_INLINE long first_column(const DenseNetwork& n, int layer) {
  long columns = n.normalised ? tiles_of(2 * n.sizes[0]) : 0;
  for (int l = 0; l < layer; l++) columns += static_cast<long>(tiles_of(n.sizes[l + 1])) * (n.sizes[l] + 1);
  return columns;
}
// Greatest number of values of an instance between two layers, in whole tiles.
FEATHERSTORM_INLINE long dense_room(const DenseNetwork& n) {
  int most = 0;
  for (int l = 0; l <= n.layers; l++) most = n.sizes[l] > most ? n.sizes[l] : most;
  return long{tiles_of(most)} * tile_outputs;
}
// Number of multiply-adds for one instance.
FEATHERSTORM_INLINE long multiply_adds(const DenseNetwork& n) {
  long count = 0;
  for (int l = 0; l < n.layers; l++) count += static_cast<long>(n.sizes[l]) * n.sizes[l + 1];
  return count;
}

// Normalises an input. NaN stays NaN.
template <class V, class Real>
FEATHERSTORM_INLINE V normalise(V x, Real mean, Real rate, Real clip) {
  V y = (x - mean) * rate, most = V{} + clip, least = -most;
  y = vector_math::select(y > most, most, y);
  return vector_math::select(y < least, least, y);
}

// Computes y_op = b_o + sum over k of W_ok x_kp, in the order of k, for outputs first .. first + O - 1 of a tile and P
// vectors of instances. x(k, p): input k of vector p.
template <int O, int P, class V, class Real, class Inputs>
FEATHERSTORM_INLINE void dense_tile(const DenseColumn<Real>* tile, int first, int inputs, const Inputs& x,
                                    V (&y)[O][P]) {
  FEATHERSTORM_UNROLL
  for (int o = 0; o < O; o++) {
    FEATHERSTORM_UNROLL
    for (int p = 0; p < P; p++) y[o][p] = V{} + tile[0].of[first + o];
  }
  for (int k = 0; k < inputs; k++) {
    const DenseColumn<Real>& w = tile[k + 1];
    V xk[P];
    FEATHERSTORM_UNROLL
    for (int p = 0; p < P; p++) xk[p] = x(k, p);
    FEATHERSTORM_UNROLL
    for (int o = 0; o < O; o++) {
      FEATHERSTORM_UNROLL
      for (int p = 0; p < P; p++) y[o][p] = y[o][p] + w.of[first + o] * xk[p];
    }
  }
}

}  // namespace featherstorm
