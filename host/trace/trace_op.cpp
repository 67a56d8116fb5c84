#include "host/trace/trace_op.h"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/program/count.h"
#include "core/program/order.h"
#include "host/system/error.h"
#include "host/table/ops.h"
#include "host/trace/canonical_form.h"
#include "host/trace/digits.h"

namespace featherstorm {
namespace {

template <class Op, int variant = 0>
void run_variant(const Model<Expr>& m, int frame, int which, const Expr* const* in, const Expr* const* uniform,
                 Expr* const* out) {
  if constexpr (variant < Op::info.variants) {
    if (variant == which) Op::template run<variant>(m, frame, in, uniform, out);
    else run_variant<Op, variant + 1>(m, frame, which, in, uniform, out);
  }
}

// True if an operation has an input or output array with property `wanted`.
constexpr bool has_array(const OpInfo& info, bool (*wanted)(const Shape&)) {
  for (const OpArray& a : info.in)
    if (wanted(a.shape)) return true;
  for (const OpArray& a : info.out)
    if (wanted(a.shape)) return true;
  return false;
}
// True if the result depends on the axes of body frames: inertial parameters, loops, contacts, quantities fixed to
// bodies.
constexpr bool sees_axes(const OpInfo& info) {
  return info.needs == Needs::loops || info.needs == Needs::contacts || info.needs == Needs::world ||
         has_array(info, [](const Shape& s) { return s.dimension[s.rank - 1] == 10 * nb; });
}
// True if the result depends on the origins of body frames, as forces on bodies do.
constexpr bool sees_origins(const OpInfo& info) {
  return sees_axes(info) || has_array(info, [](const Shape& s) { return s == Shape{nb, 6}; });
}

// An operation as data. One small template is instantiated per operation, and everything else is compiled once.
using RunRow = void (*)(const Model<Expr>& m, int frame, int variant, const Expr* const* in, const Expr* const* uniform,
                        Expr* const* out);
constexpr auto run_rows = []<class... Op>(List<Op...>*) {
  return std::array<RunRow, op_count>{&run_variant<Op>...};
}(static_cast<Ops*>(nullptr));

std::vector<const Expr*> pointers(const std::vector<std::vector<Expr>>& arrays, std::size_t first, std::size_t count) {
  std::vector<const Expr*> all;
  for (std::size_t k = 0; k < count; k++) all.push_back(arrays[first + k].data());
  return all;
}

}  // namespace

int op_index(std::string_view name) {
  if (const int op = op_named(name); op >= 0) return op;
  throw Error("there is no operation '" + std::string(name) + "'");
}

int variants_of(int op) { return info_of(op).variants; }

Model<Expr> model_of_row(int op, const Model<double>& model, const Parameters& parameters,
                         const std::vector<std::vector<Expr>>& values) {
  const OpInfo& r = info_of(op);
  const CanonicalForm form = canonical_form(
      model, {.turned = !sees_axes(r), .slid = !r.per_body && !sees_origins(r), .regrouped = !r.per_body},
      r.condition >= Condition::solves);
  Model<Expr> m = parameters.apply(form.turned ? turned(model) : model, values);
  if (form.slid) m = slid(std::move(m));
  if (form.regrouped) m = regrouped(std::move(m));
  return m;
}

std::vector<std::vector<Expr>> record_op(int op, const Model<Expr>& model, int frame, int variant,
                                         const std::vector<std::vector<Expr>>& in) {
  const OpInfo& r = info_of(op);
  const auto vi = pointers(in, 0, r.in.size());
  const auto u = pointers(in, r.in.size(), r.uniform.size());
  std::vector<std::vector<Expr>> out;
  std::vector<Expr*> vo;
  for (const OpArray& a : r.out) out.emplace_back(size_of(model, a.shape));
  for (auto& a : out) vo.push_back(a.data());
  run_rows[static_cast<std::size_t>(op)](model, frame, variant, vi.data(), u.data(), vo.data());
  return out;
}

Program trace_op(int op, const Model<double>& model, int frame, int variant, const Parameters& parameters, int most) {
  const OpInfo& r = info_of(op);
  Program p;
  p.graph.limit(most);
  if (const auto why = lack(model, r); !why.empty()) throw Error(std::string(r.name) + ": " + std::string(why));
  std::vector<std::vector<Expr>> in, values, out;
  for (const OpArray& a : r.in) in.push_back(p.input(std::string(a.name), size_of(model, a.shape)));
  for (const auto& a : parameters.arrays()) values.push_back(p.input(std::string(a.name), a.components));
  for (const OpArray& a : r.uniform) in.push_back(p.input(std::string(a.name), size_of(model, a.shape), true));
  {
    Tracing scope(p.graph);
    out = record_op(op, model_of_row(op, model, parameters, values), frame, variant, in);
  }
  for (std::size_t k = 0; k < out.size(); k++) p.output(std::string(r.out[k].name), out[k]);
  if (r.carried)
    for (std::size_t k = 0; k < out.size(); k++) p.carry(std::string(r.out[k].name), std::string(r.in[k].name));
  return p;
}

Program trace_best(int op, const Model<double>& model, int frame, Derivative derivative, const Parameters& parameters,
                   int most) {
  std::optional<Program> best;
  long least = 0;
  int variants = derivative == Derivative::none ? variants_of(op) : derivative_variants_of(op);
  if (variants > 1 && !factor_keeps_digits(model)) variants = 1;
  int limit = 4 * most;  // unused nodes and products merged into sums count as well
  for (int variant = 0; variant < variants; variant++) {
    try {
      Program p = derivative == Derivative::none
                      ? trace_op(op, model, frame, variant, parameters, limit)
                      : trace_derivative(op, model, frame, variant, derivative, parameters, limit);
      const Counts c = count(p, trace_order(p));
      const long cost = c.mul + c.add - c.fused + 8 * (c.rcp + c.sqrt + c.sincos) + 8 * c.other;
      if (!best || cost < least) best = std::move(p), least = cost;
      limit = std::min<int>(limit, 4 * static_cast<int>(least) + 1000);
    } catch (const std::length_error&) {
      if (variant == variants - 1 && !best) throw;
    }
  }
  return std::move(*best);
}

int inverse_of(int op) {
  const OpInfo& info = info_of(op);
  for (int i = 0; i < op_count; i++)  // of the forms with optional inputs, the one that has them
    if ((info.form_of.empty() ? info_of(i).name : info_of(i).form_of) == info.inverse && !info.inverse.empty())
      return i;
  return -1;
}

}  // namespace featherstorm
