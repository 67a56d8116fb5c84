// Rows of ops.h for one robot with 512 different inputs and what the host makes of them in double; and rows that have a
// kernel of their own: an operation, or a derivative of one, by its program.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/trace/evaluate.h"
#include "host/memory/buffer.h"
#include "host/trace/bodies.h"
#include "host/trace/specialised_program.h"
#include "tests/support/oracles/op_reference.h"
#include "tests/support/robots/random_robot.h"

namespace featherstorm::testing {

inline constexpr int distinct = 512;  // instances; a larger batch repeats them

// The frame behind most joints.
inline int farthest_frame(const Model<double>& m) {
  int frame = 0, most = -1;
  for (int f = 0; f < m.nf; f++) {
    int joints = 0;
    for (int b = m.frame[f].body; b > 0; b = m.body[b].parent) joints++;
    if (joints > most) most = joints, frame = f;
  }
  return frame;
}

// "fd" or "fd_vjp".
inline Operation operation_of(const std::string& name, const Model<double>& m) {
  const bool vjp = name.ends_with("_vjp");
  Operation o{op_index(vjp ? name.substr(0, name.size() - 4) : name)};
  o.frame = name == "jacobian" ? farthest_frame(m) : 0;
  if (vjp) o.derivative = Derivative::vjp;
  return o;
}

class RowCase {
 public:
  int instances = 0;
  std::vector<Program::Array> in, out;                           // the row's arrays, uniform ones behind the others
  Arrays<double> uniform;                                        // of each uniform input
  std::vector<Arrays<double>> inputs, exact;                     // of each instance: the other inputs; outputs
  std::vector<double> scale, tolerance_float, tolerance_double;  // of each output

  Operation operation;
  Program program;
  int numbers_moved = 0;  // per instance: inputs that are read, and outputs

  RowCase(const std::string& row, const Model<double>& m, int count)
      : operation(operation_of(row, m)), program(specialised_program(operation, m)) {
    instances = count, in = program.inputs, out = program.outputs;
    for (std::size_t k = 0; k < in.size(); k++)
      if (in[k].uniform) uniform.emplace_back(in[k].size, float(0.002 * (k + 1)));
    for (int i = 0; i < count; i++) inputs.push_back(inputs_of(m, 1000 + i));
    const Model<float> rounded = cast<float>(m);
    std::vector<double> error(out.size());
    scale = error;
    for (const Arrays<double>& x : inputs) {
      exact.push_back(on_host(m, x));
      const Arrays<float> single = on_host(rounded, x);
      for (std::size_t k = 0; k < error.size(); k++)
        for (std::size_t c = 0; c < single[k].size(); c++) {
          error[k] = std::max(error[k], std::abs(single[k][c] - exact.back()[k][c]));
          scale[k] = std::max(scale[k], std::abs(exact.back()[k][c]));
        }
    }
    // The host's own error in float shows how well the problem is conditioned.
    for (std::size_t k = 0; k < error.size(); k++) {
      tolerance_float.push_back(4 * error[k] + 5e-6 * scale[k] + 1e-12);
      tolerance_double.push_back(8 * error[k] * 0x1p-29 + 1e-13 * scale[k] + 1e-15);
    }
    const std::vector<char> live = live_nodes(program);
    for (int k = 0; k < program.graph.size(); k++) {
      const Node& n = program.graph.node(k);
      numbers_moved += live[k] && n.op == Op::Input && !in[n.array].uniform;
    }
    for (const auto& a : out) numbers_moved += a.size;
  }
  // Uniform numbers of all arrays, one behind the other.
  template <class Real>
  std::vector<Real> uniforms() const {
    std::vector<Real> all;
    for (const auto& u : uniform) all.insert(all.end(), u.begin(), u.end());
    if (all.empty()) all.push_back(0);
    return all;
  }

 private:
  // By the names of arrays, others random; rounded to float.
  Arrays<double> inputs_of(const Model<double>& m, unsigned seed) const {
    const State s = random_state(m, seed);
    Random random(seed);
    Arrays<double> all;
    for (const auto& a : in) {
      if (a.uniform) continue;
      if (a.name == "q") all.push_back(s.q);
      else if (a.name == "v") all.push_back(s.v);
      else if (a.name == "a") all.push_back(s.a);
      else if (a.name == "tau") all.push_back(s.tau);
      else if (a.name == "f_ext") all.push_back(s.f_ext);
      else
        for (double& x : all.emplace_back(a.size)) x = random.uniform(-1, 1);
      for (double& x : all.back()) x = static_cast<float>(x);
    }
    return all;
  }
  // A row by its text in core, a derivative by its program.
  template <class Real>
  Arrays<Real> on_host(const Model<Real>& m, const Arrays<double>& given) const {
    Arrays<Real> x, u, y;
    for (const auto& a : given) x.emplace_back(a.begin(), a.end());
    for (const auto& a : uniform) u.emplace_back(a.begin(), a.end());
    if (operation.derivative != Derivative::none) {
      x.insert(x.end(), u.begin(), u.end());
      return evaluate(program, x);
    }
    for (const auto& a : out) y.emplace_back(a.size);
    std::vector<const Real*> px, pu;
    std::vector<Real*> py;
    for (const auto& a : x) px.push_back(a.data());
    for (const auto& a : u) pu.push_back(a.data());
    for (auto& a : y) py.push_back(a.data());
    run_row(operation.op, m, operation.frame, px.data(), pu.data(), py.data());
    return y;
  }
};

}  // namespace featherstorm::testing
