// Derivatives of operations.
//
// Forward dynamics y = a(q, v, tau, f_ext) solves ID(q, v, a, f_ext) = tau, so that M da + dID|_a = dtau:
//
//   tau_bar = M^-1 a_bar,   (q, v, f_ext)_bar = -(dID/d(q, v, f_ext))^T tau_bar
//   a_tan = M^-1 (tau_tan - dID/d(q, v, f_ext) (q, v, f_ext)_tan)
//
// Applying M^-1 reuses the factors from computing a: articulated bodies at rest (variant 0) or the sparse factor
// (variant 1). All other operations are differentiated as they are written.
#include "core/dynamics/forward_dynamics.h"
#include "core/program/differentiate.h"
#include "host/trace/trace_op.h"

namespace featherstorm {
namespace {

constexpr int accelerations = 2;  // input index: accelerations of inverse dynamics, forces of forward dynamics

void solve_inertia(const Model<Expr>& m, int method, const std::vector<Expr>& q, std::vector<Expr>& x) {
  to_body_axes(m, q.data(), x.data());
  if (method == 0) {
    aba_solve<BodyAxes>(m, q.data(), Zeros<Expr>{}, x.data());
  } else {
    std::vector<Expr> H(m.nh);
    crba<BodyAxes>(m, q.data(), H.data());
    ltdl(m, H.data());
    solve<Factor::LTDL>(m, H.data(), x.data());
  }
  from_body_axes(m, q.data(), x.data());
}

std::vector<Expr> difference(const std::vector<Expr>& x, const std::vector<Expr>& y) {
  std::vector<Expr> d;
  for (std::size_t k = 0; k < x.size(); k++) d.push_back(x[k] - y[k]);
  return d;
}

Program implicit_derivative(int forward, const Program& op, const Model<double>& model, int method,
                            Derivative derivative, const Parameters& parameters, int most) {
  const Program id = trace_op(inverse_of(forward), model, 0, 0, parameters);
  const bool reverse = derivative == Derivative::vjp;
  Program d;
  d.graph.limit(most);
  TracedArrays in, added, values, out;
  for (const auto& a : op.inputs) in.push_back(d.input(a.name, a.size));
  if (reverse) added.push_back(d.input(op.outputs[0].name + cotangent_suffix, op.outputs[0].size));
  else
    for (const auto& a : op.inputs) added.push_back(d.input(a.name + tangent_suffix, a.size));
  values.assign(in.end() - static_cast<long>(parameters.arrays().size()), in.end());
  {
    Tracing scope(d.graph);
    const Model<Expr> m = model_of_row(forward, model, parameters, values);  // forward dynamics solves
    TracedArrays at = in;                                                    // the inputs of inverse dynamics
    at[accelerations].assign(m.nv, Expr(0));
    std::vector<Expr> a = difference(in[accelerations], replay(id, at)[0]);
    solve_inertia(m, method, in[0], a);
    at[accelerations] = a;
    if (reverse) {
      std::vector<Expr> tau_bar = added[0];
      solve_inertia(m, method, in[0], tau_bar);
      out = pull_back(id, at, {difference(std::vector<Expr>(m.nv), tau_bar)});
      out[accelerations] = tau_bar;
    } else {
      TracedArrays tangents = added;
      tangents[accelerations].clear();
      out = {difference(added[accelerations], push_forward(id, at, tangents)[0])};
      solve_inertia(m, method, in[0], out[0]);
    }
  }
  if (reverse)
    for (std::size_t k = 0; k < out.size(); k++) d.output(op.inputs[k].name + cotangent_suffix, out[k]);
  else d.output(op.outputs[0].name + tangent_suffix, out[0]);
  return d;
}

}  // namespace

int derivative_variants_of(int op) { return inverse_of(op) >= 0 ? 2 : variants_of(op); }

Program trace_derivative(int op, const Model<double>& model, int frame, int variant, Derivative derivative,
                         const Parameters& parameters, int most) {
  const bool implicit = inverse_of(op) >= 0;
  const Program p = trace_op(op, model, frame, implicit ? 0 : variant, parameters, most);
  if (implicit) return implicit_derivative(op, p, model, variant, derivative, parameters, most);
  return derivative == Derivative::vjp ? vjp(p) : jvp(p);
}

}  // namespace featherstorm
