#include "host/network/dense_stage.h"

#include <cmath>

#include "host/memory/cpu_library.h"
#include "host/memory/device.h"
#include "host/memory/scratch_guard.h"
#include "host/network/dense_kernels.h"
#include "host/system/error.h"

namespace featherstorm {

// one for each instruction set, from host/cpu/dense.cpp
extern const DenseKernels dense_kernels_base;
#ifdef FEATHERSTORM_NOISE_X86
extern const DenseKernels dense_kernels_avx2, dense_kernels_avx512;
#endif

const DenseKernels& dense_kernels([[maybe_unused]] const std::string& isa) {
#ifdef FEATHERSTORM_NOISE_X86
  if (isa == "avx512") return dense_kernels_avx512;
  if (isa == "avx2") return dense_kernels_avx2;
#endif
  return dense_kernels_base;
}

namespace {

struct Bound {
  DenseNetwork network;
  const DenseKernels* kernels;
};

template <class Real>
void run(const void* model, const Array* in, const Array* out, long, long first, long count) {
  const Bound& bound = *static_cast<const Bound*>(model);
  const DenseKernels& k = *bound.kernels;
  const ScratchGuard guard;
  void* const work =
      scratch_stack.take(static_cast<std::size_t>(2 * dense_room(bound.network) * k.vectors_at_once * k.vector_bytes));
  if constexpr (sizeof(Real) == 4) k.in_float(bound.network, in, out[0], first, count, work);
  else k.in_double(bound.network, in, out[0], first, count, work);
}

class DenseOnDevice : public DeviceStage {
 public:
  DenseOnDevice(int device, const DenseNetwork& network, Precision precision)
      : table_(cuda_for(caller, device)), device_(device), network_(network), precision_(precision) {}

  unsigned long work_bytes(long instances) const override {
    const long numbers = network_.layers > 1 ? 2 * dense_room(network_) * stride(instances) : 0;
    return static_cast<unsigned long>(numbers) * bytes_of(precision_);
  }
  void launch(const Array* in, const Array* out, long instances, void* work, void* stream) const override {
    if (!table_.dense(device_, stream, precision_ == Precision::float64, &network_, in, out, instances, work,
                      stride(instances)))
      throw_cuda_error(table_, caller, device_);
  }

 private:
  static constexpr const char* caller = "networks";
  long stride(long instances) const { return padded_stride(instances, precision_, device_); }

  const CudaTable& table_;
  int device_;
  DenseNetwork network_;
  Precision precision_;
};

void require_size(const std::string& what, std::size_t came, long expected) {
  if (static_cast<long>(came) != expected)
    throw Error("network: " + what + " has " + std::to_string(came) + " numbers, expected " + std::to_string(expected));
}

}  // namespace

DenseActivation activation_of(const std::string& name) {
  const std::pair<const char*, DenseActivation> all[] = {{"tanh", DenseActivation::tanh},
                                                         {"elu", DenseActivation::elu},
                                                         {"relu", DenseActivation::relu},
                                                         {"silu", DenseActivation::silu},
                                                         {"identity", DenseActivation::identity}};
  for (const auto& [known, activation] : all)
    if (name == known) return activation;
  throw Error("network: activation is '" + name + "', expected tanh, elu, relu, silu or identity");
}

DenseNetwork dense_network(const std::vector<int>& sizes, DenseActivation activation, bool normalised, double clip) {
  if (sizes.size() < 2 || sizes.size() > most_layers + 1)
    throw Error("network: " + std::to_string(static_cast<long>(sizes.size()) - 1) + " layers, expected 1 to " +
                std::to_string(most_layers));
  for (const int n : sizes)
    if (n < 1 || n > most_layer_size)
      throw Error("network: a layer of " + std::to_string(n) + " numbers, expected 1 to " +
                  std::to_string(most_layer_size));
  if (!(clip > 0)) throw Error("network: clip is " + std::to_string(clip) + ", expected above 0");
  DenseNetwork n{static_cast<int>(sizes.size()) - 1, {}, activation, normalised, clip};
  for (std::size_t k = 0; k < sizes.size(); k++) n.sizes[k] = sizes[k];
  return n;
}

long dense_numbers(const DenseNetwork& network) { return tile_outputs * first_column(network, network.layers); }

std::vector<double> packed(const DenseNetwork& n, const DenseWeights& w) {
  std::vector<double> all(static_cast<std::size_t>(dense_numbers(n)));
  require_size("mean", w.mean.size(), n.normalised ? n.inputs() : 0);
  require_size("rate", w.rate.size(), n.normalised ? n.inputs() : 0);
  require_size("W", w.W.size(), n.layers), require_size("b", w.b.size(), n.layers);
  std::copy(w.mean.begin(), w.mean.end(), all.begin());
  std::copy(w.rate.begin(), w.rate.end(), all.begin() + static_cast<long>(w.mean.size()));
  for (int l = 0; l < n.layers; l++) {
    const auto& W = w.W[static_cast<std::size_t>(l)];
    const auto& b = w.b[static_cast<std::size_t>(l)];
    const long inputs = n.sizes[l], outputs = n.sizes[l + 1];
    require_size("W_" + std::to_string(l), W.size(), inputs * outputs);
    require_size("b_" + std::to_string(l), b.size(), outputs);
    for (long o = 0; o < outputs; o++) {
      const long tile = first_column(n, l) + o / tile_outputs * (inputs + 1);
      double* const to = all.data() + tile * tile_outputs + o % tile_outputs;
      to[0] = b[static_cast<std::size_t>(o)];
      for (long k = 0; k < inputs; k++) to[(k + 1) * tile_outputs] = W[static_cast<std::size_t>(o * inputs + k)];
    }
  }
  return all;
}

Stage dense_stage(Precision precision, const std::string& isa, const DenseNetwork& network, const std::string& in,
                  const std::string& weights, const std::string& out) {
  Stage s;
  s.kernel = [network, precision, isa] {
    const DenseKernels& kernels = dense_kernels(isa.empty() ? supported_isas().front() : isa);
    const auto kept = std::make_shared<Bound>(Bound{network, &kernels});
    const bool single = precision == Precision::float32;
    return BoundKernel{single ? run<float> : run<double>, kept.get(), kernels.vector_bytes / (single ? 4 : 8), kept};
  };
  s.in = {in, weights}, s.in_components = {network.inputs(), dense_numbers(network)}, s.in_uniform = {false, true};
  s.out = {out}, s.out_components = {network.outputs()};
  s.name = "network " + weights;
  s.operations = multiply_adds(network);
  s.on_device = [network, precision](int device) {
    return std::make_shared<const DenseOnDevice>(device, network, precision);
  };
  return s;
}

}  // namespace featherstorm
