#include "core/emit/emit.h"

#include <algorithm>

#include "core/emit/body.h"
#include "core/emit/texts.h"

namespace featherstorm {
namespace {

using std::to_string;

// "in q(7) v(6), out a(6)": the arrays of one side, as a comment.
std::string list(const std::vector<Program::Array>& arrays) {
  std::string s;
  for (const auto& a : arrays) s += " " + a.name + "(" + to_string(a.size) + (a.uniform ? ", uniform)" : ")");
  return s;
}

std::string opening(const Program& p, bool double_precision) {
  std::string s = "// A featherstorm program. in" + list(p.inputs) + ", out" + list(p.outputs) + "\n";
  s += vector_math_text();
  s += "\nnamespace featherstorm {\nnamespace vector_math {\n\ntypedef ";
  s += double_precision ? "double Real;\n" : "float Real;\n";
  return s;
}

// Strides, which all instances share.
std::string strides(const Program& p) {
  std::string s;
  auto stride = [&](const std::string& side, const std::vector<Program::Array>& arrays) {
    for (int i = 0; i < int(arrays.size()); ++i) {
      if (arrays[i].uniform) continue;
      s += "  const long " + arrays[i].name + "_" + side + "_stride = " + side + "[" + to_string(i) + "].stride;\n";
    }
  };
  stride("in", p.inputs);
  stride("out", p.outputs);
  return s;
}

// Pointers to component 0 of instance i.
std::string pointers(const Program& p) {
  std::string s;
  for (int k = 0; k < int(p.inputs.size()); ++k) {
    s += "    const Real* " + p.inputs[k].name + "_in = static_cast<const Real*>(in[" + to_string(k) + "].data)" +
         (p.inputs[k].uniform ? ";\n" : " + i;\n");
  }
  for (int k = 0; k < int(p.outputs.size()); ++k) {
    s += "    Real* " + p.outputs[k].name + "_out = static_cast<Real*>(out[" + to_string(k) + "].data) + i;\n";
  }
  return s;
}

const char* const ending = "\n}  // namespace vector_math\n}  // namespace featherstorm\n";

std::string emit_for(const Program& p, const std::vector<int>& order, const HostVector& target) {
  int bytes = target.width * (target.double_precision ? 8 : 4);
  std::string s = opening(p, target.double_precision);
  s += "typedef Real T __attribute__((vector_size(" + to_string(bytes) + ")));\n\n";
  s += prelude_host_text();
  s += "\nextern \"C\" void featherstorm_kernel(const void*, const Array* in, const Array* out,\n";
  s += "                                    long repeat, long first, long count) {\n";
  s += strides(p);
  s += "  for (long i = first; i < first + count; i += " + to_string(target.width) + ") {\n";
  s += pointers(p) + emit_body(p, order, target.double_precision);
  s += "  }\n  (void)repeat;\n}\n";
  return s + ending;
}

std::string emit_for(const Program& p, const std::vector<int>& order, const Cuda& target) {
  auto arrays = [](std::size_t n) { return "const Arrays<" + to_string(std::max<std::size_t>(n, 1)) + ">"; };
  std::string s = opening(p, target.double_precision) + "\n";
  s += prelude_cuda_text();
  s += "\nextern \"C\" __global__ void featherstorm_kernel(const void*, ";
  s += arrays(p.inputs.size()) + " in, " + arrays(p.outputs.size()) + " out,\n";
  s += "                                               long repeat, long first, long count) {\n";
  s += strides(p);
  s += "  const long i = first + long(blockIdx.x) * blockDim.x + threadIdx.x;\n";
  s += "  if (i < first + count) {\n";
  s += pointers(p) + emit_body(p, order, target.double_precision);
  s += "  }\n}\n";
  return s + ending;
}

}  // namespace

std::string emit(const Program& p, const std::vector<int>& order, const Target& target) {
  return std::visit([&](const auto& t) { return emit_for(p, order, t); }, target);
}

const char* host_compile_options() {
  return "-std=c++17 -O2 -march=native -fno-math-errno -ffinite-math-only -fno-signed-zeros -fno-trapping-math "
         "-ffp-contract=fast -Wno-psabi -fPIC -shared";
}

}  // namespace featherstorm
