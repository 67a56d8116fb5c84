#include "host/trace_op.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "core/trace/count.h"
#include "core/trace/order.h"
#include "host/canonical_form.h"
#include "host/error.h"
#include "host/ops.h"

namespace featherstorm {
namespace {

// f(Op{}) with the structure of row `index`.
template <class F, int i = 0> void with_op(int index, F&& f) {
  if constexpr (i < op_count) {
    if (i == index) f(std::tuple_element_t<i, Ops>{});
    else with_op<F, i + 1>(index, std::forward<F>(f));
  }
}

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

// Whether a row takes or gives an array of one of these sizes.
template <class Op> constexpr bool has_array(std::initializer_list<Size> sizes) {
  const auto among = [&](const auto& arrays) {
    for (const OpArray& a : arrays)
      for (Size s : sizes)
        if (a.size == s) return true;
    return false;
  };
  return among(Op::info.in) || among(Op::info.out);
}
// Whether a row tells of bodies in their own axes: inertial parameters, loops and contacts.
template <class Op> constexpr bool sees_axes() {
  constexpr Needs needs = needs_of<Op>();
  return has_array<Op>({Size::bodies10, Size::vb10}) || needs == Needs::loops || needs == Needs::contacts;
}
// Whether a row tells of bodies at their own origins, as forces on them are told.
template <class Op> constexpr bool sees_origins() { return sees_axes<Op>() || has_array<Op>({Size::bodies6}); }

std::vector<const Expr*> pointers(const std::vector<std::vector<Expr>>& arrays, std::size_t first, std::size_t count) {
  std::vector<const Expr*> all;
  for (std::size_t k = 0; k < count; k++) all.push_back(arrays[first + k].data());
  return all;
}

}  // namespace

int op_index(std::string_view name) {
  for (int op = 0; op < op_count; op++) {
    bool found = false;
    with_op(op, [&](auto o) { found = decltype(o)::info.name == name; });
    if (found) return op;
  }
  throw Error("there is no operation '" + std::string(name) + "'");
}

int variants_of(int op) {
  int n = 0;
  with_op(op, [&](auto o) { n = decltype(o)::variants; });
  return n;
}

Model<Expr> model_of_row(int op, const Model<double>& model, const Parameters& parameters,
                         const std::vector<std::vector<Expr>>& values) {
  Model<Expr> m;
  with_op(op, [&](auto o) {
    using Op = decltype(o);
    const CanonicalForm form = canonical_form(
        model, {.turned = !sees_axes<Op>(), .slid = !Op::info.per_body && !sees_origins<Op>(), .regrouped = !Op::info.per_body});
    m = parameters.apply(form.turned ? turned(model) : model, values);
    if (form.slid) m = slid(std::move(m));
    if (form.regrouped) m = regrouped(std::move(m));
  });
  return m;
}

std::vector<std::vector<Expr>> record_op(int op, const Model<Expr>& model, int frame, int variant,
                                         const std::vector<std::vector<Expr>>& in) {
  std::vector<std::vector<Expr>> out;
  with_op(op, [&](auto o) {
    using Op = decltype(o);
    const auto vi = pointers(in, 0, Op::info.in.size());
    const auto u = pointers(in, Op::info.in.size(), Op::info.uniform.size());
    std::vector<Expr*> vo;
    for (const OpArray& a : Op::info.out) out.emplace_back(size_of(model, a.size));
    for (auto& a : out) vo.push_back(a.data());
    run_variant<Op>(model, frame, variant, vi.data(), u.data(), vo.data());
  });
  return out;
}

Program trace_op(int op, const Model<double>& model, int frame, int variant, const Parameters& parameters,
                 int most) {
  Program p;
  p.graph.limit(most);
  with_op(op, [&](auto o) {
    const auto& info = decltype(o)::info;
    if (const auto why = lack<decltype(o)>(model); !why.empty())
      throw Error(std::string(info.name) + ": " + std::string(why));
    std::vector<std::vector<Expr>> in, values, out;
    for (const OpArray& a : info.in) in.push_back(p.input(std::string(a.name), size_of(model, a.size)));
    for (const auto& a : parameters.arrays()) values.push_back(p.input(std::string(a.name), a.components));
    for (const OpArray& a : info.uniform) in.push_back(p.input(std::string(a.name), size_of(model, a.size), true));
    {
      Tracing scope(p.graph);
      out = record_op(op, model_of_row(op, model, parameters, values), frame, variant, in);
    }
    for (std::size_t k = 0; k < out.size(); k++) p.output(std::string(info.out[k].name), out[k]);
    if (info.carried)
      for (std::size_t k = 0; k < out.size(); k++) p.carry(std::string(info.out[k].name), std::string(info.in[k].name));
  });
  return p;
}

Program trace_best(int op, const Model<double>& model, int frame, Derivative derivative, const Parameters& parameters,
                   int most) {
  std::optional<Program> best;
  long least = 0;
  const int variants = derivative == Derivative::none ? variants_of(op) : derivative_variants_of(op);
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

int inverse_of(int op) {
  int inverse = -1;
  with_op(op, [&](auto o) {
    if constexpr (requires { typename decltype(o)::Inverse; }) inverse = index_of<typename decltype(o)::Inverse>();
  });
  return inverse;
}

}  // namespace featherstorm
