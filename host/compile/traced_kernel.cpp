#include "host/compile/traced_kernel.h"

#include <chrono>
#include <cmath>
#include <sstream>

#include "core/emit/emit.h"
#include "core/program/order.h"
#include "core/trace/evaluate.h"
#include "host/assemble/assemble.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

// Programs with more nodes are assembled in one order only. Comparing three takes two thirds of the time until a
// kernel is ready, and code that exceeds every cache is equally fast in each order
// (docs/decisions/27-where-unrolling-ends.md).
constexpr int most_compared_nodes = 40000;

// The shortest of a few runs on a block of instances [s].
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

template <class Real>
void interpret(const void* model, const Array* in, const Array* out, long repeat, long first, long count) {
  const Program& p = *static_cast<const Program*>(model);
  Arrays<Real> x(p.inputs.size());
  for (long i = first; i < first + count; i++) {
    for (std::size_t k = 0; k < p.inputs.size(); k++) {
      const Real* from = static_cast<const Real*>(in[k].data);
      x[k].resize(p.inputs[k].size);
      for (int c = 0; c < p.inputs[k].size; c++) x[k][c] = p.inputs[k].uniform ? from[c] : from[c * in[k].stride + i];
    }
    const Arrays<Real> y = evaluate(p, x, repeat);
    for (std::size_t k = 0; k < p.outputs.size(); k++)
      for (int c = 0; c < p.outputs[k].size; c++) static_cast<Real*>(out[k].data)[c * out[k].stride + i] = y[k][c];
  }
}

void check(const Program& p) {
  if (p.inputs.size() > max_arrays || p.outputs.size() > max_arrays)
    throw Error("a traced program has " + std::to_string(p.inputs.size()) + " inputs and " +
                std::to_string(p.outputs.size()) + " outputs, expected at most " + std::to_string(max_arrays));
  const std::vector<char> live = live_nodes(p);
  for (int i = 0; i < p.graph.size(); i++)
    if (live[i] && p.graph.node(i).op == Op::Const && !std::isfinite(p.graph.node(i).value))
      throw Error("a constant of the traced program is " + std::to_string(p.graph.node(i).value) +
                  ", expected finite numbers");
}

}  // namespace

BoundKernel assemble_program(const Program& p, Precision precision, const std::string& isa) {
  if (!can_assemble(isa)) return {};
  std::vector<std::vector<int>> orders;
  if (p.graph.size() > most_compared_nodes) orders = {greedy_order(p)};
  else orders = {trace_order(p), latency_order(p, 24), latency_order(p, 96)};
  BoundKernel best;
  double least = 0;
  for (const auto& order : orders) {
    const AssembledKernel k = assemble(p, order, isa, precision);
    const double time = orders.size() == 1 ? 0 : time_of(p, k, precision);
    if (!best.kernel || time < least) best = {k.kernel, nullptr, k.width, k.code}, least = time;
  }
  return best;
}

BoundKernel compile_program(const Program& p, Precision precision, int width, HostCompiler& compiler) {
  if (!compiler.missing().empty()) return {};
  std::vector<std::string> flags;
  std::istringstream words(host_compile_options());
  for (std::string word; words >> word;) flags.push_back(word);
#if defined(__x86_64__)
  flags.push_back("-mprefer-vector-width=512");
#endif
  const std::string source = emit(p, latency_order(p), HostVector{width, precision == Precision::float64});
  const auto library = compiler.compile_and_load(source, flags);
  if (!library) return {};
  return {reinterpret_cast<Kernel>(library->kernel()), nullptr, width, library};
}

BoundKernel interpret_program(const Program& p, Precision precision) {
  const auto copy = std::make_shared<Program>(p);
  return {precision == Precision::float32 ? interpret<float> : interpret<double>, copy.get(), 1, copy};
}

BoundKernel traced_kernel(const Program& p, Precision precision, const std::string& isa, bool assemble,
                          const Notice& notice) {
  check(p);
  std::string why;
  if (assemble) {
    try {
      const BoundKernel k = assemble_program(p, precision, isa);
      if (k.kernel) return k;
      why = "kernels cannot be assembled for the instruction set '" + isa + "'";
    } catch (const std::bad_alloc&) { throw; } catch (const std::exception& e) {
      why = e.what();
    }
  } else {
    why = "assembling is switched off";
  }
  try {
    CompileOptions options;
    options.notice = notice;
    HostCompiler compiler(options);
    const int bytes = isa == "avx512" ? 64 : isa == "avx2" ? 32 : 16;
    const BoundKernel k = compile_program(p, precision, bytes / static_cast<int>(bytes_of(precision)), compiler);
    if (k.kernel) return k;
    why += "; " + compiler.missing();
  } catch (const std::bad_alloc&) { throw; } catch (const std::exception& e) {
    why += std::string("; ") + e.what();
  }
  if (notice) notice("a traced function is interpreted, which is slow: " + why);
  return interpret_program(p, precision);
}

}  // namespace featherstorm
