// Rows of ops.h for one robot with 512 different inputs and what the host makes of them in double; and rows that have a
// kernel of their own: an operation, or a derivative of one, by its program.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
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

struct RowData {
  int instances = 0;
  std::vector<Program::Array> in, out;                           // the row's arrays, uniform ones behind the others
  Arrays<double> uniform;                                        // of each uniform input
  std::vector<Arrays<double>> inputs, exact;                     // of each instance: the other inputs; outputs
  std::vector<double> scale, tolerance_float, tolerance_double;  // of each output

  // What the host makes of all inputs, and how far a right kernel may be from it.
  void expect(const std::function<Arrays<double>(const Arrays<double>&)>& in_double,
              const std::function<Arrays<float>(const Arrays<double>&)>& in_float) {
    std::vector<double> error(out.size());
    scale.assign(out.size(), 0);
    for (const Arrays<double>& x : inputs) {
      exact.push_back(in_double(x));
      const Arrays<float> rounded = in_float(x);
      for (std::size_t k = 0; k < error.size(); k++)
        for (std::size_t c = 0; c < rounded[k].size(); c++) {
          error[k] = std::max(error[k], std::abs(rounded[k][c] - exact.back()[k][c]));
          scale[k] = std::max(scale[k], std::abs(exact.back()[k][c]));
        }
    }
    // as in reference.h: the host's own error in float shows how well the problem is conditioned
    for (std::size_t k = 0; k < error.size(); k++) {
      tolerance_float.push_back(4 * error[k] + 5e-6 * scale[k] + 1e-12);
      tolerance_double.push_back(8 * error[k] * 0x1p-29 + 1e-13 * scale[k] + 1e-15);
    }
  }
  // Uniform numbers of all arrays, one behind the other.
  template <class Real>
  std::vector<Real> uniforms() const {
    std::vector<Real> all;
    for (const auto& u : uniform) all.insert(all.end(), u.begin(), u.end());
    if (all.empty()) all.push_back(0);
    return all;
  }
};

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

class RowCase : public RowData {
 public:
  Operation operation;
  Program program;
  int numbers_moved = 0;  // per instance: inputs that are read, and outputs

  RowCase(const std::string& row, const Model<double>& m, int count)
      : operation(operation_of(row, m)), program(specialised_program(operation, m)) {
    instances = count, in = program.inputs, out = program.outputs;
    for (std::size_t k = 0; k < in.size(); k++)
      if (in[k].uniform) uniform.emplace_back(in[k].size, float(0.002 * (k + 1)));
    for (int i = 0; i < count; i++) inputs.push_back(row == "contact_step" ? standing(m, i) : inputs_of(m, 1000 + i));
    if (row == "contact_step") uniform = stance(m);
    const Model<float> rounded = cast<float>(m);
    expect([&](const Arrays<double>& x) { return on_host(m, x); },
           [&](const Arrays<double>& x) { return on_host(rounded, x); });
    const std::vector<char> live = live_nodes(program);
    for (int k = 0; k < program.graph.size(); k++) {
      const Node& n = program.graph.node(k);
      numbers_moved += live[k] && n.op == Op::Input && !in[n.array].uniform;
    }
    for (const auto& a : out) numbers_moved += a.size;
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
  // A quadruped with bent legs, feet well within the ground or well above it: q, v, impulse, tau, q_target.
  static Arrays<double> standing(const Model<double>& m, int i) {
    Arrays<double> x(5);
    x[0].assign(m.nq, 0), x[1].assign(m.nv, 0), x[2].assign(m.contacts.nr, 0), x[3].assign(m.nv, 0),
        x[4].assign(m.nv, 0);
    x[0][2] = i % 2 ? 0.34 : 0.315, x[0][3] = 1;
    for (int c = 7; c < m.nq; c++) x[0][c] = (c - 7) % 3 == 1 ? 0.8 : (c - 7) % 3 == 2 ? -1.6 : 0;
    for (int c = 7; c < m.nq; c++) x[4][c - 1] = x[0][c], x[0][c] += 0.002 * std::sin(1.0 + i * c);
    x[1][0] = 0.1 * std::sin(i), x[1][2] = -0.2 - 0.1 * std::cos(2.0 * i);
    for (int c = 6; c < m.nv; c++) x[1][c] = 0.1 * std::sin(3.0 * i + c);
    for (int c = 0; c < m.contacts.nr; c += 3) x[2][c] = i % 2 ? 0 : 0.07;
    for (auto& a : x)
      for (double& number : a) number = static_cast<float>(number);
    return x;
  }
  // dt, kp, kd, three of friction and limits, erp, slop, max_push, rebound, compliance
  static Arrays<double> stance(const Model<double>& m) {
    Arrays<double> u = {{0.002}, std::vector<double>(m.nv, 60), std::vector<double>(m.nv, 3)};
    for (double x : {0.0, 0.0, 0.01, 0.2, 0.001, 1.0, 0.1, 0.0}) u.push_back({x});
    for (auto& a : u)
      for (double& x : a) x = static_cast<float>(x);
    return u;
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
