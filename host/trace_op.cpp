#include "host/trace_op.h"

#include <optional>

#include "core/regroup.h"
#include "core/trace/count.h"
#include "core/trace/order.h"
#include "host/ops.h"

namespace featherstorm {
namespace {

// f(Op{}) with the structure of row `index`.
template <class F, int i = 0> void with_op(int index, F&& f) {
  if constexpr (i < static_cast<int>(std::tuple_size_v<Ops>)) {
    if (i == index) f(std::tuple_element_t<i, Ops>{});
    else with_op<F, i + 1>(index, std::forward<F>(f));
  }
}

template <class Op, int variant> void run_traced(const Model<double>& m, int frame, Program& p) {
  const auto& info = Op::info;
  std::vector<std::vector<Expr>> in, uniform, out;
  for (const OpArray& a : info.in) in.push_back(p.input(std::string(a.name), size_of(m, a.size)));
  for (const OpArray& a : info.uniform) uniform.push_back(p.input(std::string(a.name), size_of(m, a.size), true));
  for (const OpArray& a : info.out) out.emplace_back(size_of(m, a.size));
  {
    Tracing scope(p.graph);
    std::vector<Expr*> vi, u, vo;
    for (auto& a : in) vi.push_back(a.data());
    for (auto& a : out) vo.push_back(a.data());
    for (auto& a : uniform) u.push_back(a.data());
    Op::template run<variant>(m, frame, vi.data(), u.data(), vo.data());
  }
  for (std::size_t k = 0; k < out.size(); k++) p.output(std::string(info.out[k].name), out[k]);
  if (info.carried)
    for (std::size_t k = 0; k < out.size(); k++) p.carry(std::string(info.out[k].name), std::string(info.in[k].name));
}

template <class Op, int variant = 0> void run_variant(const Model<double>& m, int frame, int which, Program& p) {
  if constexpr (variant < Op::variants) {
    if (variant == which) run_traced<Op, variant>(m, frame, p);
    else run_variant<Op, variant + 1>(m, frame, which, p);
  }
}

}  // namespace

int variants_of(int op) {
  int n = 0;
  with_op(op, [&](auto o) { n = decltype(o)::variants; });
  return n;
}

Program trace_op(int op, const Model<double>& model, int frame, int variant) {
  Program p;
  with_op(op, [&](auto o) {
    using Op = decltype(o);
    if (Op::info.per_body) run_variant<Op>(model, frame, variant, p);
    else run_variant<Op>(regrouped(model), frame, variant, p);
  });
  return p;
}

Program trace_best(int op, const Model<double>& model, int frame) {
  std::optional<Program> best;
  long least = 0;
  for (int variant = 0; variant < variants_of(op); variant++) {
    Program p = trace_op(op, model, frame, variant);
    const Counts c = count(p, trace_order(p));
    const long cost = c.mul + c.add - c.fused + 8 * (c.rcp + c.sqrt + c.sincos) + 8 * c.other;
    if (!best || cost < least) best = std::move(p), least = cost;
  }
  return std::move(*best);
}

}  // namespace featherstorm
