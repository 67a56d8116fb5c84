#include "core/emit/emit.h"

#include <algorithm>

#include "core/emit/body.h"
#include "core/emit/roles.h"
#include "core/emit/sources.h"

namespace featherstorm {
namespace {

using std::to_string;

// Returns the arrays of one side as a comment: "in q(7) v(6), out a(6)".
std::string list(const std::vector<Program::Array>& arrays) {
  std::string s;
  for (const auto& a : arrays) s += " " + a.name + "(" + to_string(a.size) + (a.uniform ? ", uniform)" : ")");
  return s;
}

std::string opening(const Program& p, bool double_precision) {
  std::string s = "// A featherstorm program. in" + list(p.inputs) + ", out" + list(p.outputs) + "\n";
  s += vector_math_source();
  s += "\nnamespace featherstorm {\nnamespace vector_math {\n\ntypedef ";
  s += double_precision ? "double Real;\n" : "float Real;\n";
  return s;
}

// Returns the definitions of strides, which all instances share.
std::string strides(const Program& p, const std::string& type) {
  std::string s;
  auto stride = [&](const std::string& side, const std::vector<Program::Array>& arrays) {
    for (int i = 0; i < int(arrays.size()); ++i) {
      if (arrays[i].uniform) continue;
      const std::string stride = side + "[" + to_string(i) + "].stride";
      s += "  const " + type + " " + arrays[i].name + "_" + side +
           "_stride = " + (type == "Stride" ? "{int(" + stride + " * sizeof(Real))}" : stride) + ";\n";
    }
  };
  stride("in", p.inputs);
  stride("out", p.outputs);
  return s;
}

// Returns pointers to component 0 of instance i. With `by_value`, uniform arrays are in the struct `uniform`.
std::string pointers(const Program& p, bool by_value) {
  std::string s;
  int offset = 0;
  for (int k = 0; k < int(p.inputs.size()); ++k) {
    const Program::Array& a = p.inputs[k];
    s += "    const Real* " + a.name + "_in = ";
    if (a.uniform && by_value) {
      s += "uniform.value + " + to_string(offset) + ";\n";
      offset += a.size;
      continue;
    }
    s += "static_cast<const Real*>(in[" + to_string(k) + "].data)" + (a.uniform ? ";\n" : " + i;\n");
  }
  for (int k = 0; k < int(p.outputs.size()); ++k) {
    s += "    Real* " + p.outputs[k].name + "_out = static_cast<Real*>(out[" + to_string(k) + "].data) + i;\n";
  }
  return s;
}

// Warps wait in their own branches, which __syncthreads() is not guaranteed to support. The barrier itself counts
// warps, regardless of the instruction at which they wait (PTX ISA, barrier.cta).
const char* const role_prelude = R"(
__device__ __forceinline__ void wait_for_all_roles() {
#ifdef __CUDA_ARCH__
  asm volatile("barrier.sync.aligned 0;" ::: "memory");
#else
  __syncthreads();
#endif
}
)";

const char* const ending = "\n}  // namespace vector_math\n}  // namespace featherstorm\n";

std::string emit_for(const Program& p, const std::vector<int>& order, const HostVector& target) {
  int bytes = target.width * (target.double_precision ? 8 : 4);
  std::string s = opening(p, target.double_precision);
  s += "typedef Real T __attribute__((vector_size(" + to_string(bytes) + ")));\n\n";
  s += prelude_host_source();
  s += "\nextern \"C\" void featherstorm_kernel(const void*, const Array* in, const Array* out,\n";
  s += "                                    long repeat, long first, long count) {\n";
  s += strides(p, "long");
  s += "  for (long i = first; i < first + count; i += " + to_string(target.width) + ") {\n";
  s += pointers(p, false) + emit_body(p, order, target.double_precision);
  s += "  }\n  (void)repeat;\n}\n";
  return s + ending;
}

// Returns the prelude and head of a CUDA kernel, up to the strides.
std::string cuda_opening(const Program& p, bool double_precision, int threads, int blocks, const char* prelude = "") {
  auto room = [](const std::string& type, std::size_t n) {
    return "const " + type + "<" + to_string(std::max<std::size_t>(n, 1)) + ">";
  };
  std::string s = opening(p, double_precision) + "\n";
  s += prelude_cuda_source();
  s += prelude;
  s += "\nextern \"C\" __global__ void __launch_bounds__(" + to_string(threads) +
       (blocks > 0 ? ", " + to_string(blocks) : "") + ")\n";
  s += "    featherstorm_kernel(" + room("Arrays", p.inputs.size()) + " in, " + room("Arrays", p.outputs.size()) +
       " out,\n";
  s += "                        " + room("Uniforms", uniform_numbers(p)) +
       " uniform, long repeat, long first, long count) {\n";
  return s + strides(p, "Stride");
}

std::string emit_for(const Program& p, const std::vector<int>& order, const Cuda& target) {
  std::string s = cuda_opening(p, target.double_precision, target.threads, target.blocks);
  s += "  const long i = first + long(blockIdx.x) * blockDim.x + threadIdx.x;\n";
  s += "  if (i < first + count) {\n";
  s += pointers(p, true) + emit_body(p, order, target.double_precision);
  s += "  }\n}\n";
  return s + ending;
}

}  // namespace

int uniform_numbers(const Program& p) {
  int n = 0;
  for (const Program::Array& a : p.inputs) n += a.uniform ? a.size : 0;
  return n;
}

std::string emit(const Program& p, const std::vector<int>& order, const Target& target) {
  return std::visit([&](const auto& t) { return emit_for(p, order, t); }, target);
}

std::string emit(const Program& p, const RoleProgram& roles, const Cuda& target) {
  const int warps = int(roles.steps.size());
  std::string s = cuda_opening(p, target.double_precision, 32 * warps, target.blocks, role_prelude);
  s += "  __shared__ Real exchange[" + to_string(std::max(1, roles.slots)) + "][32];\n";
  s += "  const int lane = threadIdx.x % 32, role = threadIdx.x / 32;\n";
  s += "  // lanes beyond the last instance repeat it and store nothing: every warp must come to the barriers\n";
  s += "  const long here = first + long(blockIdx.x) * 32 + lane, end = first + count / " + to_string(warps) + ";\n";
  s += "  const bool inside = here < end;\n  const long i = inside ? here : end - 1;\n  {\n";
  s += pointers(p, true) + "    switch (role) {\n" + emit_role_cases(p, roles, target.double_precision) + "    }\n";
  s += "  }\n  (void)repeat;\n}\n";
  return s + ending;
}

int role_bytes(const RoleProgram& roles, bool double_precision) {
  return std::max(1, roles.slots) * 32 * (double_precision ? 8 : 4);
}

const char* host_compile_options() {
  return "-std=c++17 -O2 -march=native -fno-math-errno -ffinite-math-only -fno-signed-zeros -fno-trapping-math "
         "-ffp-contract=fast -Wno-psabi -fPIC -shared";
}

}  // namespace featherstorm
