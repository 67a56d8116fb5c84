// Writes launches of float kernels as JSON lines for test_sass.py: the bytes of the parameters, the memory they point to,
// and the results expected in double with a tolerance.
#include <cstdio>
#include <cstring>

#include "cuda/kernels/kernels.cuh"
#include "tests/cuda/launch_text.h"
#include "tests/support/oracles/op_cases.h"

namespace featherstorm::testing {
namespace {

constexpr int count = 2;

template <class Op, int limit> void write_case(const Robot& robot, const std::string& name, int repeat) {
  using Device = DeviceModel<float, limit>;
  const Model<double>& m = robot.model;
  if (!fits<Device>(m)) return;
  const Model<float> host = cast<float>(m);
  const int frame = m.nf - 1;
  std::vector<float> memory;
  std::vector<std::size_t> first;
  Arguments<Op, float> a;
  std::memset(static_cast<void*>(&a), 0, sizeof a);
  auto place = [&](int array, int components) {
    const int stride = count + 3;
    first.push_back(memory.size());
    a.data[array] = reinterpret_cast<void*>(base + 4 * memory.size());
    a.stride[array] = stride;
    memory.resize(memory.size() + std::size_t(stride) * components + 1, -12345);
  };
  int array = 0;
  for (const OpArray& x : Op::info.in) place(array++, size_of(m, x.shape));
  for (const OpArray& x : Op::info.out) place(array++, size_of(m, x.shape));
  memory.resize((memory.size() + 3) / 4 * 4);
  PlacedArrays arrays(base + 4 * memory.size());
  const Device device = device_model<Device>(host, arrays);
  const std::size_t arrays_at = memory.size();
  memory.resize(memory.size() + (arrays.bytes.size() + 3) / 4);
  std::memcpy(memory.data() + arrays_at, arrays.bytes.data(), arrays.bytes.size());
  const auto u = op_uniforms<Op>(m);
  for (std::size_t k = 0; k < u.size(); k++)
    for (std::size_t c = 0; c < u[k].size(); c++) a.uniform[k][c] = static_cast<float>(u[k][c]);
  a.frame = frame, a.repeat = repeat, a.count = count;

  constexpr int inputs = Op::info.in.size(), outputs = Op::info.out.size();
  Expected expected(outputs);
  for (int i = 0; i < count; i++) {
    auto in = op_inputs<Op>(m, 1000 + i);
    for (int k = 0; k < inputs; k++)
      for (std::size_t c = 0; c < in[k].size(); c++) {
        in[k][c] = static_cast<float>(in[k][c]);
        memory[first[k] + c * a.stride[k] + i] = static_cast<float>(in[k][c]);
      }
    const auto exact = run_on_host<Op, double>(m, in, u, frame, repeat);
    const auto rounded = run_on_host<Op, float>(host, in, u, frame, repeat);
    expected.add(exact, rounded, [&](int k, int c) { return first[inputs + k] + c * a.stride[inputs + k] + i; });
  }
  std::printf(
      "{\"kernel\": \"%.*s/float/%d\", \"case\": \"%s\", \"base\": %lu, \"count\": %d, \"model\": \"%s\", "
      "\"arguments\": \"%s\", \"memory\": \"%s\", \"tolerance\": [%s], \"expected\": [%s]}\n",
      static_cast<int>(Op::info.name.size()), Op::info.name.data(), limit, name.c_str(), base, count,
      hex(&device, sizeof device).c_str(), hex(&a, sizeof a).c_str(), hex(memory.data(), memory.size() * 4).c_str(),
      expected.tolerances().c_str(), expected.values().c_str());
}

template <int limit> void write_cases(const Robot& robot, const std::string& name) {
  for_every_op([&](auto op, int) {
    using Op = decltype(op);
    // the operations of the books come without machine code: a driver compiles them
    if (!Op::info.common || !on_device<Op>(robot.model)) return;
    write_case<Op, limit>(robot, name, Op::info.carried ? 2 : 1);
  });
}

void write_all() {
  RandomOptions o;
  o.types = {JointType::Revolute}, o.reversed = 0;
  o.bodies = 7, o.branching = 0, o.roots = 0;
  const Robot arm = random_robot(11, o);
  o.bodies = 9, o.branching = 0.6, o.floating = true, o.types = {JointType::Revolute, JointType::Prismatic};
  const Robot tree = touching(random_robot(12, o));
  write_cases<16>(arm, "arm");
  write_cases<16>(tree, "floating tree");
  write_cases<32>(tree, "floating tree");
  write_cases<64>(tree, "floating tree");
  for (unsigned seed : {1, 2, 3}) {
    o = RandomOptions{};
    o.bodies = 10, o.floating = seed == 3;
    o.types.pop_back();  // no user-defined joints
    const Robot all = random_robot(20 + seed, o);
    write_cases<32>(all, "all joints " + std::to_string(seed));
    write_cases<64>(all, "all joints " + std::to_string(seed));
  }
}

}  // namespace
}  // namespace featherstorm::testing

int main() { featherstorm::testing::write_all(); }
