// Writes launches of specialised float kernels as JSON lines for test_sass.py: the machine code that NVRTC
// makes for sm_90, the bytes of the parameters, the memory they point to, and the results expected in double with a
// tolerance. Exit status 77 where there is no NVRTC.
//
//   specialised_cases engine    the engine's operations
//   specialised_cases books     those of the books
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "host/compile/device_kernel.h"
#include "host/load/load.h"
#include "host/trace/bodies.h"
#include "host/trace/specialised_program.h"
#include "tests/cuda/launch_source.h"
#include "tests/support/oracles/op_cases.h"

namespace featherstorm::testing {
namespace {

constexpr int count = 3, first = 1;  // instance 0 is none of the launch's

// The parameters of an emitted kernel, one behind the other (core/emit/emit.h).
struct Parameters {
  std::string bytes;
  void add(const void* data, std::size_t n) { bytes.append(static_cast<const char*>(data), n); }
  void add_long(long x) {
    bytes.resize((bytes.size() + 7) / 8 * 8);
    add(&x, sizeof x);
  }
};

template <class Op>
void write_case(const Nvrtc& compiler, const Robot& robot, int op, std::string_view order, int warps = 1) {
  const Model<double>& m = robot.model;
  const int frame = Op::info.uses_frame ? m.nf - 1 : 0, repeat = Op::info.carried ? 2 : 1;
  const Program p = specialised_program({op, frame}, m);
  const Bodies bodies = bodies_of(p, m);
  const DeviceCode code = compiler.compile(device_source(p, false, {order, 0, warps}, &bodies), "sm_90");

  constexpr int inputs = Op::info.in.size(), outputs = Op::info.out.size(), uniforms = Op::info.uniform.size();
  std::vector<float> memory;
  std::vector<std::size_t> places;
  std::vector<Array> in, out;
  const auto place = [&](std::vector<Array>& side, int components) {
    const long stride = first + count + 3;
    places.push_back(memory.size());
    side.push_back({reinterpret_cast<void*>(base + 4 * memory.size()), stride});
    memory.resize(memory.size() + stride * components + 1, -12345);
  };
  for (const OpArray& x : Op::info.in) place(in, size_of(m, x.shape));
  for (const OpArray& x : Op::info.out) place(out, size_of(m, x.shape));
  in.resize(inputs + uniforms);  // entries of uniform arrays: null
  std::vector<float> uniform;
  const auto row_uniforms = op_uniforms<Op>(m);
  for (const auto& u : row_uniforms) uniform.insert(uniform.end(), u.begin(), u.end());
  if (uniform.empty()) uniform.push_back(0);

  Expected<> expected(outputs);
  const Model<float> single = cast<float>(m);
  for (int i = first; i < first + count; i++) {
    auto x = op_inputs<Op>(m, 1000 + i);
    for (int k = 0; k < inputs; k++)
      for (std::size_t c = 0; c < x[k].size(); c++) {
        x[k][c] = static_cast<float>(x[k][c]);
        memory[places[k] + c * in[k].stride + i] = static_cast<float>(x[k][c]);
      }
    const auto exact = run_on_host<Op, double>(m, x, row_uniforms, frame, repeat);
    const auto rounded = run_on_host<Op, float>(single, x, row_uniforms, frame, repeat);
    expected.add(exact, rounded, [&](int k, int c) { return places[inputs + k] + c * out[k].stride + i; });
  }
  Parameters parameters;
  parameters.add(in.data(), in.size() * sizeof(Array)), parameters.add(out.data(), out.size() * sizeof(Array));
  parameters.add(uniform.data(), uniform.size() * sizeof(float));
  for (long x : {long(repeat), long(first), long(count) * warps}) parameters.add_long(x);
  std::printf(
      "{\"case\": \"%s/%s/%s/%d\", \"base\": %lu, \"count\": %d, \"warps\": %d, \"parameters\": \"%s\", \"memory\": \"%s\", "
      "\"tolerance\": [%s], \"cubin\": \"%s\", \"expected\": [%s]}\n",
      robot.name.c_str(), std::string(Op::info.name).c_str(), std::string(order).c_str(), warps, base, count, warps,
      hex(parameters.bytes.data(), parameters.bytes.size()).c_str(), hex(memory.data(), memory.size() * 4).c_str(),
      expected.tolerances().c_str(), hex(code.image.data(), code.image.size()).c_str(), expected.values().c_str());
}

// The engine's operations of a small robot and the heavy ones of larger robots, or the books' operations of an arm of four joints, which
// NVRTC compiles in half the time that it takes for the panda.
int write_cases(bool books) {
  const Nvrtc compiler;
  if (!compiler.missing().empty()) return std::puts(compiler.missing().c_str()), 77;
  const Robot small = load("panda"), legged = load("go2"), large = load("atlas");
  RandomOptions o;
  o.bodies = 4, o.types = {JointType::Revolute}, o.branching = 0, o.roots = 0;
  const Robot arm = random_robot(11, o);
  for_every_op([&](auto op, int index) {
    using Op = decltype(op);
    const Robot& robot = books ? arm : small;
    if (books != info_of(index).common && available<Op>(robot.model)) write_case<Op>(compiler, robot, index, "trace");
    if (books) return;
    const std::string_view name = Op::info.name;
    if (name == "rnea" || name == "crba" || name == "fd" || name == "step")
      write_case<Op>(compiler, legged, index, "sethi_ullman");
    // in roles
    if (name == "rnea" || name == "aba" || name == "step") write_case<Op>(compiler, legged, index, "trace", 4);
    if (name == "fd") write_case<Op>(compiler, large, index, "trace", 4);
    if (name == "fd") write_case<Op>(compiler, large, index, "greedy");  // the one that spills
  });
  return 0;
}

}  // namespace
}  // namespace featherstorm::testing

int main(int n, char** arguments) {
  const std::string_view what = n == 2 ? arguments[1] : "";
  if (what != "engine" && what != "books") return std::puts("see the head of specialised_cases.cpp"), 2;
  return featherstorm::testing::write_cases(what == "books");
}
