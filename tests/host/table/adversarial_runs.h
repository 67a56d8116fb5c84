// Rows of one robot by the engine and by their texts, and what roundings of its numbers make of them.
#pragma once
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "core/dynamics/crba.h"
#include "host/engine/evaluator.h"
#include "tests/support/oracles/op_reference.h"

namespace featherstorm::testing {

using Numbers1 = std::vector<double>;

inline constexpr double relative_to_size =
    8;  // roundings of what has the size of the robot, or of a turn, are this much smaller

// The outputs of a row by its text, in this scalar, of all instances of the inputs.
template <class Real>
SampledArrays run_text(const OpRow& row, const Model<Real>& m, int frame, const SampledRow& inputs) {
  const std::size_t count = inputs.in[0][0].size();
  SampledArrays found;
  for (const auto& a : row.out) found.emplace_back(a.components, Numbers1(count));
  for (std::size_t i = 0; i < count; i++) {
    std::vector<std::vector<Real>> in, uniforms, out;
    for (const auto& array : inputs.in) {
      auto& x = in.emplace_back();
      for (const auto& component : array) x.push_back(static_cast<Real>(component[i]));
    }
    std::size_t at = 0;
    for (const auto& u : row.uniforms) {
      uniforms.emplace_back(inputs.uniforms.begin() + at, inputs.uniforms.begin() + at + u.components);
      at += u.components;
    }
    for (const auto& a : row.out) out.emplace_back(a.components);
    std::vector<const Real*> pi, pu;
    std::vector<Real*> po;
    for (auto& x : in) pi.push_back(x.data());
    for (auto& x : uniforms) pu.push_back(x.data());
    for (auto& x : out) po.push_back(x.data());
    run_row(row.index, m, frame, pi.data(), pu.data(), po.data());
    for (std::size_t k = 0; k < out.size(); k++)
      for (std::size_t c = 0; c < out[k].size(); c++) found[k][c][i] = out[k][c];
  }
  return found;
}

template <class Real> void copy(const Buffer& b, Numbers1& component, long c, bool in) {
  for (std::size_t i = 0; i < component.size(); i++)
    if (in) b.component<Real>(c)[i] = static_cast<Real>(component[i]);
    else component[i] = b.component<Real>(c)[i];
}

// The same as a user gets them.
inline SampledArrays run_evaluator(Evaluator& e, const OpRow& row, Precision precision, int frame, SampledRow inputs) {
  const long count = static_cast<long>(inputs.in[0][0].size());
  std::vector<ArrayRef> in, out;
  std::vector<Buffer> buffers;
  const auto exchange = [&](const Buffer& b, std::vector<Numbers1>& array, bool given) {
    for (std::size_t c = 0; c < array.size(); c++)
      precision == Precision::float64 ? copy<double>(b, array[c], c, given) : copy<float>(b, array[c], c, given);
  };
  for (auto& array : inputs.in) {
    const Buffer& b = buffers.emplace_back(precision, count, static_cast<long>(array.size()));
    exchange(b, array, true);
    in.push_back(b.ref());
  }
  SampledArrays found;
  for (const auto& a : row.out) out.push_back(buffers.emplace_back(precision, count, a.components).ref());
  e.run(row.name, in, out, {inputs.uniforms, row.uses_frame ? frame : 0});
  for (std::size_t k = 0; k < out.size(); k++) {
    found.emplace_back(row.out[k].components, Numbers1(count));
    exchange(buffers[inputs.in.size() + k], found[k], false);
  }
  return found;
}

// From the root to the farthest centre of mass, on its full length [m].
inline double size(const Model<double>& m) {
  std::vector<double> reach(m.nb + 1);
  double length = 0;
  for (int i = 1; i <= m.nb; i++) {
    const Body<double>& b = m.body[i];
    reach[i] = reach[b.parent] + b.X_T.r.norm();
    length = std::max(length, reach[i] + (b.I.m > 0 ? b.I.h.norm() / b.I.m : 0));
  }
  return length;
}

// Inputs and robots that are off by a few roundings; positions also by roundings of a turn, as sines have them.
inline SampledRow off(const OpRow& row, SampledRow inputs, double rounding, Random& random) {
  for (std::size_t k = 0; k < inputs.in.size(); k++)
    for (auto& component : inputs.in[k])
      for (double& x : component) {
        x *= 1 + rounding * random.uniform(-1, 1);
        if (row.in[k].name == "q") x += rounding * random.uniform(-1, 1) / relative_to_size;
      }
  return inputs;
}
// A kernel's robot is the same robot with other numbers: origins elsewhere, at most the robot's size away, masses passed on
// from bodies to their parents. So its numbers are rounded at the size of the robot and of all that a body carries.
inline Model<double> off(Model<double> m, double rounding, Random& random) {
  const auto change = [&](double& x, double size) {
    x += rounding * std::abs(x) * random.uniform(-1, 1);
    x += rounding * size * random.uniform(-1, 1) / relative_to_size;
  };
  const double length = size(m);
  std::vector<double> carried(m.nb + 1);
  for (int i = m.nb; i >= 1; i--) carried[i] += m.body[i].I.m, carried[m.body[i].parent] += carried[i];
  for (int i = 1; i <= m.nb; i++) {
    Body<double>& b = m.body[i];
    change(b.I.m, 0);
    for (int k = 0; k < 3; k++) change(b.I.h(k), carried[i] * length), change(b.X_T.r(k), length);
    for (double* x : {&b.I.I.xx, &b.I.I.xy, &b.I.I.xz, &b.I.I.yy, &b.I.I.yz, &b.I.I.zz})
      change(*x, carried[i] * length * length);
    for (double* x : {&b.zero.c, &b.zero.s, &b.tilt.c, &b.tilt.s}) change(*x, 1);
    for (int k = 0; k < 9; k++) change(b.X_T.R(k), 1);
    b.second_moments = second_moments(b.I.I);
  }
  for (Frame<double>& f : m.frame)
    for (int k = 0; k < 3; k++) change(f.X.r(k), length);
  return m;
}

// How far two arrays are from each other in instance i.
inline double farthest(const std::vector<Numbers1>& a, const std::vector<Numbers1>& b, std::size_t i) {
  double d = 0;
  for (std::size_t c = 0; c < a.size(); c++) {
    const double x = std::abs(a[c][i] - b[c][i]);
    d = x <= d ? d : std::isfinite(x) ? x : HUGE_VAL;
  }
  return d;
}

// A force that is nothing beside the robot's weight: on its size, and on 1 m where joints slide, whose forces have no arm.
inline double nothing(const Model<double>& m) {
  double mass = 0;
  bool slides = false;
  for (int i = 1; i <= m.nb; i++) {
    mass += m.body[i].I.m;
    const JointType t = m.body[i].type;
    slides = slides || !(t == JointType::Revolute || t == JointType::Ball || t == JointType::BallYpr);
  }
  return 10 * mass * (size(m) + slides) * std::numeric_limits<double>::epsilon();
}

// The change of M^-1 along a direction is -M^-1 dM M^-1: what rounding leaves of a zero in dM is a part of M, so of M^-1 as well.
inline double rounding_of_inverse(const OpRow& row, const Model<double>& m, const SampledRow& inputs, int i) {
  for (std::size_t k = 0; k < row.in.size(); k++) {
    if (row.in[k].name != "q") continue;
    std::vector<double> q, H(static_cast<std::size_t>(m.nh));
    for (const Numbers1& component : inputs.in[k]) q.push_back(component[static_cast<std::size_t>(i)]);
    crba(m, q.data(), H.data());
    Eigen::MatrixXd M = Eigen::MatrixXd::Zero(m.nv, m.nv);
    for (int r = 0; r < m.nv; r++)
      for (int c = r; c >= 0; c = m.dof_parent[c]) M(r, c) = M(c, r) = H[m.at(r, c)];
    return 10 * M.inverse().cwiseAbs().maxCoeff() * std::numeric_limits<double>::epsilon();
  }
  return 0;
}

}  // namespace featherstorm::testing
