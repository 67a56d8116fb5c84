#include "host/rollout/draw_stage.h"

#include "host/memory/cpu_library.h"
#include "host/memory/device.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

class DrawOnDevice : public DeviceStage {
 public:
  DrawOnDevice(int device, const UniformDraw& draw, Precision precision)
      : table_(cuda_for(caller, device)), device_(device), draw_(draw), precision_(precision) {}

  unsigned long work_bytes(long) const override { return 0; }

  void launch(const Array* in, const Array* out, long instances, void*, void* stream) const override {
    if (!table_.draw(device_, stream, precision_ == Precision::float64, &draw_, in, out, instances))
      throw_cuda_error(table_, caller, device_);
  }

 private:
  static constexpr const char* caller = "draws";

  const CudaTable& table_;
  int device_;
  UniformDraw draw_;
  Precision precision_;
};

}  // namespace

Stage draw_stage(Precision precision, const std::string& isa, const DrawOptions& o, const std::string& out) {
  if (o.count < 1 || o.count > most_draws)
    throw Error("a stage draws " + std::to_string(o.count) + " numbers, expected 1 to " + std::to_string(most_draws));
  if (o.function >= most_draw_functions)
    throw Error("function of a stage that draws is " + std::to_string(o.function) + ", expected 0 to " +
                std::to_string(most_draw_functions - 1));
  const UniformDraw draw{o.count, o.function, o.next_episode, !o.needed.empty()};
  Stage s;
  s.kernel = [draw, precision, isa] {
    const NoiseKernels& kernels = noise_kernels(isa.empty() ? supported_isas().front() : isa);
    const auto kept = std::make_shared<UniformDraw>(draw);
    return BoundKernel{precision == Precision::float32 ? kernels.uniforms_float : kernels.uniforms_double, kept.get(),
                       1, kept};
  };
  s.in = {o.key, o.episode, o.step}, s.in_components = {6, 1, 1};
  if (draw.conditional) s.in.push_back(o.needed), s.in_components.push_back(1);
  s.out = {out}, s.out_components = {o.count};
  s.name = "draws of " + out;
  s.on_device = [draw, precision](int device) { return std::make_shared<const DrawOnDevice>(device, draw, precision); };
  return s;
}

std::array<double, 6> draw_key(std::uint64_t seed, std::uint32_t env) {
  std::array<double, 6> key;
  for (std::size_t k = 0; k < 4; k++) key[k] = static_cast<double>(seed >> 16 * k & 0xffff);
  for (std::size_t k = 0; k < 2; k++) key[4 + k] = static_cast<double>(env >> 16 * k & 0xffff);
  return key;
}

}  // namespace featherstorm
