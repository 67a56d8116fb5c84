#include "host/specialise.h"

#include <chrono>
#include <sstream>

#include "core/emit/emit.h"
#include "core/trace/count.h"
#include "core/trace/order.h"
#include "host/assemble/assemble.h"
#include "host/error.h"
#include "host/trace_op.h"

namespace featherstorm {
namespace {

int operations(const Program& p) { return count(p, trace_order(p)).instructions(); }

// The least of a few runs on a block of instances [s].
double time_of(const Program& p, const AssembledKernel& k, Precision precision) {
  constexpr long instances = 64;
  using Clock = std::chrono::steady_clock;
  std::vector<Buffer> buffers;
  const auto arrays = [&](const std::vector<Program::Array>& all) {
    std::vector<Array> views;
    for (const Program::Array& a : all) {
      const Buffer& b = buffers.emplace_back(precision, instances, a.size);
      for (long c = 0; c < a.size; c++)
        for (long i = 0; i < instances; i++)
          precision == Precision::float32 ? b.component<float>(c)[i] = 0.5f : b.component<double>(c)[i] = 0.5;
      views.push_back({b.ref().data, b.stride()});
    }
    return views;
  };
  const std::vector<Array> in = arrays(p.inputs), out = arrays(p.outputs);
  double least = 1e9;
  for (int run = 0; run < 8; run++) {
    const Clock::time_point start = Clock::now();
    k.kernel(nullptr, in.data(), out.data(), 1, 0, instances);
    least = std::min(least, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return least;
}

}  // namespace

SpecialisedKernel assemble_kernel(int op, const Model<double>& model, int frame, Precision precision,
                                  const std::string& isa) {
  if (!can_assemble(isa) || model.nv > max_specialised_freedoms) return {};
  const Program p = trace_best(op, model, frame);
  if (operations(p) > max_specialised_operations) return {};
  SpecialisedKernel best;
  double least = 0;
  for (const auto& order : {trace_order(p), latency_order(p, 24), latency_order(p, 96)}) {
    const AssembledKernel k = assemble(p, order, isa, precision);
    const double time = time_of(p, k, precision);
    if (!best.kernel || time < least) best = {k.code, k.kernel, k.width}, least = time;
  }
  return best;
}

std::string specialised_source(int op, const Model<double>& model, int frame, Precision precision, int width) {
  const Program p = trace_best(op, model, frame);
  if (operations(p) > max_specialised_operations)
    throw Error("this robot needs " + std::to_string(operations(p)) + " operations, more than the " +
                std::to_string(max_specialised_operations) + " that are unrolled");
  return emit(p, latency_order(p), HostVector{width, precision == Precision::float64});
}

SpecialisedKernel specialise_kernel(int op, const Model<double>& model, int frame, Precision precision, int width,
                                    HostCompiler& compiler) {
  if (!compiler.missing().empty()) return {};
  std::vector<std::string> flags;
  std::istringstream words(host_compile_options());
  for (std::string word; words >> word;) flags.push_back(word);
  flags.push_back("-mprefer-vector-width=512");
  const auto library = compiler.compile_and_load(specialised_source(op, model, frame, precision, width), flags);
  if (!library) return {};
  return {library, reinterpret_cast<Kernel>(library->kernel()), width};
}

}  // namespace featherstorm
