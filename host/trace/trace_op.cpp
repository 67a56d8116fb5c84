#include "host/trace/trace_op.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "core/program/count.h"
#include "core/program/order.h"
#include "host/system/error.h"
#include "host/table/ops.h"
#include "host/trace/canonical_form.h"
#include "host/trace/factor_accuracy.h"

namespace featherstorm {
namespace {

// The row of an operation.
template <class Op, int i = 0> constexpr int index_of() {
  if constexpr (std::is_same_v<std::tuple_element_t<i, Ops>, Op>) return i;
  else return index_of<Op, i + 1>();
}

template <class Op, int variant = 0>
void run_variant(const Model<Expr>& m, int frame, int which, const Expr* const* in, const Expr* const* uniform,
                 Expr* const* out) {
  if constexpr (variant < Op::variants) {
    if (variant == which) Op::template run<variant>(m, frame, in, uniform, out);
    else run_variant<Op, variant + 1>(m, frame, which, in, uniform, out);
  }
}

// Whether a row takes or gives an array with `wanted`.
template <class Op> constexpr bool has_array(bool (*wanted)(const Shape&)) {
  for (const OpArray& a : Op::info.in)
    if (wanted(a.shape)) return true;
  for (const OpArray& a : Op::info.out)
    if (wanted(a.shape)) return true;
  return false;
}
// Whether a row tells of bodies in their own axes: inertial parameters, loops and contacts.
template <class Op> constexpr bool sees_axes() {
  constexpr Needs needs = needs_of<Op>();
  return needs == Needs::loops || needs == Needs::contacts ||
         has_array<Op>([](const Shape& s) { return s.dimension[s.rank - 1] == 10 * nb; });
}
// Whether a row tells of bodies at their own origins, as forces on them are told.
template <class Op> constexpr bool sees_origins() {
  return sees_axes<Op>() || has_array<Op>([](const Shape& s) { return s == Shape{nb, 6}; });
}

// A row as data: one template of a hundred rows is small, and all else is compiled once.
struct TraceRow {
  std::string_view name;
  std::span<const OpArray> in, uniform, out;
  int variants;
  bool per_body, carried, sees_axes, sees_origins;
  int inverse;  // -1: none
  std::string_view (*lack)(const Model<double>&);
  void (*run)(const Model<Expr>& m, int frame, int variant, const Expr* const* in, const Expr* const* uniform,
              Expr* const* out);
};
template <class Op> constexpr int inverse_row() {
  if constexpr (requires { typename Op::Inverse; }) return index_of<typename Op::Inverse>();
  else return -1;
}
template <class Op> constexpr TraceRow trace_row() {
  return {Op::info.name,     Op::info.in,      Op::info.uniform,    Op::info.out,
          Op::variants,      Op::info.per_body, Op::info.carried,   sees_axes<Op>(),
          sees_origins<Op>(), inverse_row<Op>(), &lack<Op, Model<double>>, &run_variant<Op>};
}
constexpr auto rows = []<std::size_t... i>(std::index_sequence<i...>) {
  return std::array<TraceRow, op_count>{trace_row<std::tuple_element_t<i, Ops>>()...};
}(std::make_index_sequence<op_count>{});
const TraceRow& row(int op) { return rows[static_cast<std::size_t>(op)]; }

std::vector<const Expr*> pointers(const std::vector<std::vector<Expr>>& arrays, std::size_t first, std::size_t count) {
  std::vector<const Expr*> all;
  for (std::size_t k = 0; k < count; k++) all.push_back(arrays[first + k].data());
  return all;
}

}  // namespace

int op_index(std::string_view name) {
  for (int op = 0; op < op_count; op++)
    if (row(op).name == name) return op;
  throw Error("there is no operation '" + std::string(name) + "'");
}

int variants_of(int op) { return row(op).variants; }

Model<Expr> model_of_row(int op, const Model<double>& model, const Parameters& parameters,
                         const std::vector<std::vector<Expr>>& values) {
  const TraceRow& r = row(op);
  const CanonicalForm form = canonical_form(
      model, {.turned = !r.sees_axes, .slid = !r.per_body && !r.sees_origins, .regrouped = !r.per_body});
  Model<Expr> m = parameters.apply(form.turned ? turned(model) : model, values);
  if (form.slid) m = slid(std::move(m));
  if (form.regrouped) m = regrouped(std::move(m));
  return m;
}

std::vector<std::vector<Expr>> record_op(int op, const Model<Expr>& model, int frame, int variant,
                                         const std::vector<std::vector<Expr>>& in) {
  const TraceRow& r = row(op);
  const auto vi = pointers(in, 0, r.in.size());
  const auto u = pointers(in, r.in.size(), r.uniform.size());
  std::vector<std::vector<Expr>> out;
  std::vector<Expr*> vo;
  for (const OpArray& a : r.out) out.emplace_back(size_of(model, a.shape));
  for (auto& a : out) vo.push_back(a.data());
  r.run(model, frame, variant, vi.data(), u.data(), vo.data());
  return out;
}

Program trace_op(int op, const Model<double>& model, int frame, int variant, const Parameters& parameters,
                 int most) {
  const TraceRow& r = row(op);
  Program p;
  p.graph.limit(most);
  if (const auto why = r.lack(model); !why.empty()) throw Error(std::string(r.name) + ": " + std::string(why));
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
  int limit = 4 * most;  // nodes that nothing depends on count as well, and products that a sum takes
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

int inverse_of(int op) { return row(op).inverse; }

}  // namespace featherstorm
