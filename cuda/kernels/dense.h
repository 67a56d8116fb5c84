// Networks of dense layers (host/network/dense_stage.h) on a device, by the algorithm of core/network/dense.h. Each
// layer has a launch, and a thread computes one tile of outputs for some instances.
#pragma once
#include "core/network/dense.h"
#include "core/scalar/scalar.h"
#include "host/memory/kernel.h"

namespace featherstorm {

inline constexpr int dense_threads = 64, dense_instances = 2;  // of a block; of a thread, dense_threads apart

// Arguments of one layer. Component c of instance i is at data[c * stride + i].
template <class Real> struct DenseArguments {
  const Real* x;
  Real* y;
  long x_stride, y_stride;
  const DenseColumn<Real>* tiles;
  const Real *mean, *rate;  // null: x is not normalised
  Real clip;
  DenseActivation activation;
  int inputs, outputs, instances;

  int blocks() const { return (instances - 1) / (dense_threads * dense_instances) + 1; }
};

// Return the arguments of layer `layer`. work: two arrays of dense_room components with stride `stride`, for values
// between layers.
template <class Real>
DenseArguments<Real> dense_arguments(const DenseNetwork& n, int layer, const Array* in, const Array* out, int instances,
                                     void* work, long stride) {
  const auto between = [&](int k) { return static_cast<Real*>(work) + (k % 2) * dense_room(n) * stride; };
  const bool is_first = layer == 0, is_last = layer + 1 == n.layers;
  const Real* const numbers = static_cast<const Real*>(in[1].data);
  DenseArguments<Real> a;
  a.x = is_first ? static_cast<const Real*>(in[0].data) : between(layer - 1);
  a.y = is_last ? static_cast<Real*>(out[0].data) : between(layer);
  a.x_stride = is_first ? in[0].stride : stride, a.y_stride = is_last ? out[0].stride : stride;
  a.tiles = reinterpret_cast<const DenseColumn<Real>*>(numbers) + first_column(n, layer);
  a.mean = is_first && n.normalised ? numbers : nullptr;
  a.rate = is_first && n.normalised ? numbers + n.inputs() : nullptr;
  a.clip = static_cast<Real>(n.clip);
  a.activation = is_last ? DenseActivation::identity : n.activation;
  a.inputs = n.sizes[layer], a.outputs = n.sizes[layer + 1], a.instances = instances;
  return a;
}

// Call launch(arguments) for each layer until one returns an error; return its result.
template <class Real, class Launch>
auto launch_layers_of(const DenseNetwork& n, const Array* in, const Array* out, int instances, void* work, long stride,
                      const Launch& launch) {
  const auto of = [&](int layer) { return dense_arguments<Real>(n, layer, in, out, instances, work, stride); };
  auto error = launch(of(0));
  for (int l = 1; l < n.layers && error == 0; l++) error = launch(of(l));
  return error;
}
template <class Launch>
auto launch_layers(const DenseNetwork& n, const Array* in, const Array* out, int instances, void* work, long stride,
                   bool double_precision, const Launch& launch) {
  return double_precision ? launch_layers_of<double>(n, in, out, instances, work, stride, launch)
                          : launch_layers_of<float>(n, in, out, instances, work, stride, launch);
}

// The work of thread `thread` of block (block, tile). Threads after the last instance compute the last one, and do not
// store it.
template <class Real>
FS_HD void dense_body(const DenseArguments<Real>& a, int block, int tile, int thread) {
  constexpr int P = dense_instances;
  int at[P];
  FEATHERSTORM_UNROLL
  for (int p = 0; p < P; p++) at[p] = (block * P + p) * dense_threads + thread;
  if (at[0] >= a.instances) return;
  const Real* x[P];
  FEATHERSTORM_UNROLL
  for (int p = 0; p < P; p++) x[p] = a.x + (at[p] < a.instances ? at[p] : a.instances - 1);
  const DenseColumn<Real>* const columns = a.tiles + static_cast<long>(tile) * (a.inputs + 1);
  Real y[tile_outputs][P];
  if (a.mean)
    dense_tile<tile_outputs, P>(
        columns, 0, a.inputs,
        [&](int k, int p) { return normalise(x[p][k * a.x_stride], a.mean[k], a.rate[k], a.clip); }, y);
  else dense_tile<tile_outputs, P>(columns, 0, a.inputs, [&](int k, int p) { return x[p][k * a.x_stride]; }, y);
  activate(a.activation, &y[0][0], long{tile_outputs} * P);
  FEATHERSTORM_UNROLL
  for (int o = 0; o < tile_outputs; o++) FEATHERSTORM_UNROLL
  for (int p = 0; p < P; p++)
    if (tile * tile_outputs + o < a.outputs && at[p] < a.instances)
      a.y[(tile * tile_outputs + o) * a.y_stride + at[p]] = y[o][p];
}

}  // namespace featherstorm
