// Writes launches of float kernels, of the kernels that draw and of those of networks, as JSON lines for test_sass.py: the bytes of the parameters, the
// memory they point to, and the results expected with a tolerance.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "cuda/kernels/dense.h"
#include "cuda/kernels/draw.h"
#include "cuda/kernels/kernels.cuh"
#include "tests/cuda/launch_source.h"
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
  Expected<> expected(outputs);
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

// Numbers of four instances, exact; with draw.conditional those of every other one, and the rest stays as it is.
template <class Real> void write_draw(const std::string& name, const UniformDraw& draw) {
  constexpr int instances = 4, stride = instances + 3;
  constexpr int rows[] = {6, 1, 1, 1};  // key, episode, step, needed
  std::vector<Real> memory;
  Array in[4], out[1];
  const auto place = [&](Array& a, int components) {
    a = {reinterpret_cast<void*>(base + sizeof(Real) * memory.size()), stride};
    memory.resize(memory.size() + static_cast<std::size_t>(stride * components), Real(-12345));
  };
  for (int k = 0; k < 4; k++) place(in[k], rows[k]);
  place(out[0], draw.count);
  const std::size_t episode = 6 * stride, step = 7 * stride, needed = 8 * stride, first = 9 * stride;
  std::string expected;
  for (std::size_t i = 0; i < instances; i++) {
    for (std::size_t c = 0; c < 6; c++) memory[c * stride + i] = static_cast<Real>((40503 * (c + 1) + 977 * i) % 65536);
    memory[episode + i] = static_cast<Real>(3 + i), memory[step + i] = static_cast<Real>(16777000 + i);
    memory[needed + i] = i % 2 == 0 ? Real(1) : Real(0);
    if (draw.conditional && i % 2 != 0) continue;
    const DrawCounter counter = draw_counter<Real>(
        draw, [&](int c) { return memory[static_cast<std::size_t>(c) * stride + i]; }, memory[episode + i],
        memory[step + i]);
    for (int slot = 0; slot < draw.count; slot++) {
      const PhiloxWords w = draw_words(draw, counter, static_cast<std::uint32_t>(slot / 4));
      char text[80];
      std::snprintf(text, sizeof text, "%s[0, %zu, %.17g]", expected.empty() ? "" : ", ",
                    sizeof(Real) * (first + static_cast<std::size_t>(slot) * stride + i),
                    static_cast<double>(uniform_of<Real>(w.word[slot % 4])));
      expected += text;
    }
  }
  const DrawArguments<Real> a = draw_arguments<Real>(draw, in, out, instances);
  std::printf(
      "{\"kernel\": \"draw/%s/any\", \"case\": \"%s\", \"base\": %lu, \"count\": %d, \"real\": \"%s\", \"model\": \"\", "
      "\"arguments\": \"%s\", \"memory\": \"%s\", \"tolerance\": [1e-12], \"expected\": [%s]}\n",
      sizeof(Real) == 4 ? "float" : "double", name.c_str(), base, instances, sizeof(Real) == 4 ? "f" : "d",
      hex(&a, sizeof a).c_str(), hex(memory.data(), memory.size() * sizeof(Real)).c_str(), expected.c_str());
}
void write_draws() {
  const UniformDraw all{7, 3, false, false}, some{4, 65535, true, true};
  write_draw<float>("of all instances", all), write_draw<float>("of the next episode, where needed", some);
  write_draw<double>("of all instances", all), write_draw<double>("of the next episode, where needed", some);
}

// One layer of a network: six outputs of five normalised inputs. The 66th instance is the second of a thread.
template <class Real> void write_dense(const std::string& name, DenseActivation activation,
                                       double (*closed_form)(double)) {
  constexpr int instances = 66, stride = instances + 3, inputs = 5, outputs = 6;
  const DenseNetwork network{1, {inputs, outputs}, activation, true, 1.5};
  const std::size_t numbers = static_cast<std::size_t>(tile_outputs * first_column(network, 1));
  const std::size_t x = numbers + 4, y = x + inputs * stride;  // the numbers first, as their columns are aligned
  std::vector<Real> memory(y + outputs * stride, Real(-12345));
  for (std::size_t k = 0; k < numbers; k++) memory[k] = static_cast<Real>(0.125 * static_cast<double>(k * 7 % 19) - 1);
  for (std::size_t k = x; k < y; k++) memory[k] = static_cast<Real>(0.25 * static_cast<double>(k * 5 % 23) - 3);
  const auto at = [](std::size_t k) { return reinterpret_cast<void*>(base + sizeof(Real) * k); };
  const Array in[] = {{at(x), stride}, {at(0), 0}}, out[] = {{at(y), stride}};
  DenseArguments<Real> a = dense_arguments<Real>(network, 0, in, out, instances, nullptr, stride);
  a.activation = activation;
  std::string expected;
  const auto number = [&](std::size_t k) { return static_cast<double>(memory[k]); };
  const std::size_t tile = static_cast<std::size_t>(tile_outputs * first_column(network, 0));
  for (std::size_t i = 0; i < instances; i++)
    for (std::size_t o = 0; o < outputs; o++) {
      double sum = number(tile + o);
      for (std::size_t k = 0; k < inputs; k++)
        sum += number(tile + tile_outputs * (k + 1) + o) *
               std::clamp((number(x + k * stride + i) - number(k)) * number(inputs + k), -1.5, 1.5);
      char text[80];
      std::snprintf(text, sizeof text, "%s[0, %zu, %.17g]", expected.empty() ? "" : ", ",
                    sizeof(Real) * (y + o * stride + i), closed_form(sum));
      expected += text;
    }
  std::printf(
      "{\"kernel\": \"dense/%s/any\", \"case\": \"%s\", \"base\": %lu, \"count\": %d, \"real\": \"%s\", \"model\": \"\", "
      "\"arguments\": \"%s\", \"memory\": \"%s\", \"tolerance\": [%g], \"expected\": [%s]}\n",
      sizeof(Real) == 4 ? "float" : "double", name.c_str(), base, instances, sizeof(Real) == 4 ? "f" : "d",
      hex(&a, sizeof a).c_str(), hex(memory.data(), memory.size() * sizeof(Real)).c_str(),
      sizeof(Real) == 4 ? 1e-5 : 1e-12, expected.c_str());
}
template <class Real> void write_layers() {
  write_dense<Real>("identity", DenseActivation::identity, [](double x) { return x; });
  write_dense<Real>("tanh", DenseActivation::tanh, [](double x) { return std::tanh(x); });
  write_dense<Real>("elu", DenseActivation::elu, [](double x) { return x > 0 ? x : std::expm1(x); });
  write_dense<Real>("relu", DenseActivation::relu, [](double x) { return std::max(x, 0.0); });
  write_dense<Real>("silu", DenseActivation::silu, [](double x) { return x / (1 + std::exp(-x)); });
}

void write_all() {
  write_draws();
  write_layers<float>(), write_layers<double>();
  RandomOptions o;
  o.types = {JointType::Revolute}, o.reversed = 0;
  o.bodies = 7, o.branching = 0, o.roots = 0;
  const Robot arm = random_robot(11, o);
  o.bodies = 9, o.branching = 0.6, o.floating = true, o.types = {JointType::Revolute, JointType::Prismatic};
  const Robot tree = touching(random_robot(12, o));
  write_cases<64>(arm, "arm");
  write_cases<64>(tree, "floating tree");
  for (unsigned seed : {1, 3}) {
    o = RandomOptions{};
    o.bodies = 10, o.floating = seed == 3;
    o.types.pop_back();  // no user-defined joints
    const Robot all = random_robot(20 + seed, o);
    write_cases<64>(all, "all joints " + std::to_string(seed));
  }
}

}  // namespace
}  // namespace featherstorm::testing

int main() { featherstorm::testing::write_all(); }
