// Inputs for every operation of host/table/ops.h, and its result with the host's form of the model. Functions take an
// operation as data: a template with a hundred operations would take minutes to compile in every program.
#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/table/ops.h"
#include "host/trace/draw.h"
#include "tests/support/oracles/op_reference.h"
#include "tests/support/robots/random_robot.h"

namespace featherstorm::testing {

// f(Op{}) for every operation of the table.
template <class F, int i = 0> void for_every_op(F&& f) {
  if constexpr (i < op_count) {
    f(Element<i, Ops>{}, i);
    for_every_op<F, i + 1>(std::forward<F>(f));
  }
}

// Operations that tests name.
using OpRnea = FirstForm<table::OpRnea>;
using OpCrba = FirstForm<table::OpCrba>;
using OpAba = FirstForm<table::OpAba>;
using OpFd = FirstForm<table::OpFd>;
using OpStep = FirstForm<table::OpStep>;
using OpJacobian = FirstForm<table::OpJacobian>;

// The index of the operation in the table.
template <class Op> constexpr int index_of() { return op_named(Op::info.name); }

// An operation as data.
struct RowText {
  int op;
  std::string_view name;
  std::span<const OpArray> in, uniform, out;
  bool carried;
  Needs needs;
};
template <class Op> const RowText& row_text() {
  static const RowText row{index_of<Op>(), Op::info.name,    Op::info.in,   Op::info.uniform,
                           Op::info.out,   Op::info.carried, Op::info.needs};
  return row;
}

// True if the CUDA library has a kernel of the operation for this model.
template <class Op> bool on_device(const Model<double>& m) { return Op::info.cuda && available<Op>(m); }

// The robot with contacts of its bodies: with the ground, with a sphere of another body, inside a cavity of the world.
inline Robot touching(Robot robot) {
  const int nb = robot.model.nb;
  std::vector<ContactSpec> c{on_ground(robot.body_names[1], {0.1, 0, 0}, 0.8, 0.5, 0.2),
                             on_ground(robot.body_names[nb], {0, 0.1, 0}, 1, 0.7)};
  ContactSpec s = c[0];
  s.name = "sphere", s.successor = robot.body_names[nb / 2 + 1], s.predecessor = robot.body_names[1];
  s.surface = Surface::Sphere, s.radius = 0.9;
  if (nb > 1) c.push_back(s);
  s.name = "cavity", s.successor = robot.body_names[nb], s.predecessor = "";
  s.surface = Surface::Cavity, s.radius = 1.2, s.radius_s = 0.3;
  c.push_back(s);
  robot.model.contacts = contacts_of(robot, c, 4, 1);
  return robot;
}

// The inputs of one instance, in the order of the operation, drawn as it specifies.
inline std::vector<std::vector<double>> op_inputs(const RowText& row, const Model<double>& m, unsigned seed) {
  Draw draw(m, seed);
  std::vector<std::vector<double>> in;
  for (const OpArray& a : row.in) in.push_back(draw(a.sample, size_of(m, a.shape)));
  return in;
}
template <class Op> std::vector<std::vector<double>> op_inputs(const Model<double>& m, unsigned seed) {
  return op_inputs(row_text<Op>(), m, seed);
}

// The uniform arrays of an operation, rounded to numbers that float represents exactly.
inline std::vector<std::vector<double>> op_uniforms(const RowText& row, const Model<double>& m) {
  Draw draw(m, 1);
  std::vector<std::vector<double>> u;
  for (const OpArray& a : row.uniform) {
    u.push_back(draw(a.sample, size_of(m, a.shape)));
    for (double& x : u.back()) x = static_cast<float>(x);
  }
  return u;
}
template <class Op> std::vector<std::vector<double>> op_uniforms(const Model<double>& m) {
  return op_uniforms(row_text<Op>(), m);
}

// Outputs of one instance by Model<Real>, the form that the reference and the CPU backend use; `repeat` repetitions.
template <class Real>
std::vector<std::vector<Real>> run_on_host(const RowText& row, const Model<Real>& m,
                                           const std::vector<std::vector<double>>& in,
                                           const std::vector<std::vector<double>>& uniforms_in_double, int frame,
                                           int repeat) {
  std::vector<std::vector<Real>> inputs, out;
  for (const auto& a : in) inputs.emplace_back(a.begin(), a.end());
  for (const OpArray& a : row.out) out.emplace_back(size_of(m, a.shape));
  std::vector<std::vector<Real>> uniforms;
  for (const auto& x : uniforms_in_double) uniforms.emplace_back(x.begin(), x.end());
  std::vector<const Real*> u;
  for (const auto& x : uniforms) u.push_back(x.data());
  for (int r = 0; r < repeat; r++) {
    std::vector<const Real*> pi;
    std::vector<Real*> po;
    for (const auto& a : inputs) pi.push_back(a.data());
    for (auto& a : out) po.push_back(a.data());
    run_row(row.op, m, frame, pi.data(), u.data(), po.data());
    if (row.carried)
      for (std::size_t k = 0; k < out.size(); k++) inputs[k] = out[k];
  }
  return out;
}
template <class Op, class Real>
std::vector<std::vector<Real>> run_on_host(const Model<Real>& m, const std::vector<std::vector<double>>& in,
                                           const std::vector<std::vector<double>>& uniforms, int frame = 0,
                                           int repeat = 1) {
  return run_on_host<Real>(row_text<Op>(), m, in, uniforms, frame, repeat);
}

// Instances of one array in a kernel's layout: component c of instance i at [c * stride + i], the rest set to `guard`.
template <class Real> struct BatchArray {
  int components, stride;
  std::vector<Real> data;
  BatchArray(int components, int count, Real guard)
      : components(components), stride((count + 31) / 16 * 16), data(std::size_t(stride) * components + 16, guard) {}
  Real& at(int c, int i) { return data[std::size_t(stride) * c + i]; }
  Real at(int c, int i) const { return data[std::size_t(stride) * c + i]; }
};

}  // namespace featherstorm::testing
