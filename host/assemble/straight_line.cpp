#include "host/assemble/straight_line.h"

#include <bit>
#include <map>

#include "core/program/count.h"
#include "host/assemble/recorded.h"

namespace featherstorm {
namespace {

class Lowering final : public Recorder {
 public:
  Lowering(const Program& p, bool double_precision, const Fusion& fusion)
      : g_(p.graph), double_(double_precision), fusion_(fusion), value_(g_.size(), -1) {
    sign_ = bits(double_ ? std::uint64_t(1) << 63 : std::uint64_t(1) << 31);
  }

  StraightLine run(const Program& p, const std::vector<int>& order) {
    std::vector<std::vector<std::pair<int, int>>> stores(g_.size());
    for (int j = 0; j < static_cast<int>(p.outputs.size()); j++)
      for (int c = 0; c < p.outputs[j].size; c++) stores[p.results[j][c].edge().node()].push_back({j, c});
    const auto store = [&](int node) {
      for (auto [j, c] : stores[node]) {
        const int x = edge(p.results[j][c].edge());
        s_.instructions.push_back({Code::Store, -1, {x, -1, -1}, j, c});
      }
    };
    for (int i = 0; i < g_.size(); i++)
      if (g_.node(i).op == Op::Const) store(i);
    for (int i : order) {
      if (!fusion_.folded[i]) node(i);
      store(i);
    }
    remove_dead();
    return std::move(s_);
  }

 private:
  // Removes instructions whose results are never stored, such as the sine if only the cosine is used.
  void remove_dead() {
    std::vector<char> used(s_.values.size(), 0);
    std::vector<Instruction> kept;
    for (auto i = s_.instructions.rbegin(); i != s_.instructions.rend(); ++i) {
      if (i->code != Code::Store && !used[i->result]) continue;
      for (int k = 0; k < arity(i->code); k++) used[i->operand[k]] = 1;
      kept.push_back(*i);
    }
    s_.instructions.assign(kept.rbegin(), kept.rend());
  }

  int value(const Value& v) {
    s_.values.push_back(v);
    return static_cast<int>(s_.values.size()) - 1;
  }
  int bits(std::uint64_t b) override {
    auto [at, fresh] = constants_.try_emplace(b, 0);
    if (fresh) at->second = value({Value::Kind::Constant, 0, 0, b});
    return at->second;
  }
  int constant(double x) override {
    return bits(double_ ? std::bit_cast<std::uint64_t>(x) : std::bit_cast<std::uint32_t>(static_cast<float>(x)));
  }
  int put(Code code, int a, int b = -1, int c = -1, int number = 0) override {
    const int r = value({});
    s_.instructions.push_back({code, r, {a, b, c}, 0, number});
    return r;
  }

  // The value of an edge, including its sign.
  int edge(Edge e) {
    if (g_.is_constant(e)) return constant(g_.value(e));
    if (!e.negative()) return value_[e.node()];
    auto [at, fresh] = negated_.try_emplace(e.node(), 0);
    if (fresh) at->second = put(Code::Xor, value_[e.node()], sign_);
    return at->second;
  }

  int sum(int i, const Node& n) {
    const bool sub = n.op == Op::Sub;
    const int product = fusion_.product[i];
    if (product < 0) return put(sub ? Code::Sub : Code::Add, edge(n.operand[0]), edge(n.operand[1]));
    const bool first = n.operand[0].node() == product;
    const Node& m = g_.node(product);
    const int a = edge(m.operand[0]), b = edge(m.operand[1]), c = edge(n.operand[first ? 1 : 0]);
    return put(!sub ? Code::MulAdd : first ? Code::MulSub : Code::SubMul, a, b, c);
  }

  // y = f(x, ...) by the algorithm of core/scalar/vector_math.h.
  template <class F> auto function(F&& f) { return double_ ? f(double()) : f(float()); }
  std::pair<int, int> sincos(int x) {
    return function([&](auto real) {
      using T = Recorded<decltype(real)>;
      T s, c;
      vector_math::sincos(T(*this, x), s, c);
      return std::pair(s.value, c.value);
    });
  }

  void node(int i) {
    const Node& n = g_.node(i);
    const auto x = [&](int k) { return edge(n.operand[k]); };
    int& v = value_[i];
    switch (n.op) {
      case Op::Const: return;
      case Op::Input: v = value({Value::Kind::Input, n.array, n.component}); return;
      case Op::Add:
      case Op::Sub: v = sum(i, n); return;
      case Op::Mul: v = put(Code::Mul, x(0), x(1)); return;
      case Op::Rcp: v = put(Code::Div, constant(1), x(0)); return;
      case Op::Sqrt: v = put(Code::Sqrt, x(0)); return;
      case Op::Sin:
      case Op::Cos: {
        auto [at, fresh] = sincos_.try_emplace(n.operand[0].node());
        if (fresh) at->second = sincos(x(0));
        v = n.op == Op::Sin ? at->second.first : at->second.second;
        return;
      }
      case Op::Min: v = put(Code::Min, x(0), x(1)); return;
      case Op::Max: v = put(Code::Max, x(0), x(1)); return;
      case Op::Abs: v = put(Code::And, x(0), bits(double_ ? ~(std::uint64_t(1) << 63) : 0x7fffffffu)); return;
      case Op::Floor: v = put(Code::Floor, x(0)); return;
      case Op::Less: v = put(Code::Less, x(0), x(1)); return;
      case Op::LessEqual: v = put(Code::LessEqual, x(0), x(1)); return;
      case Op::And: v = put(Code::And, x(0), x(1)); return;
      case Op::Or: v = put(Code::Or, x(0), x(1)); return;
      case Op::Select: v = put(Code::Select, x(0), x(1), x(2)); return;
      case Op::Exp:
        v = function([&](auto real) { return vector_math::exp(Recorded<decltype(real)>(*this, x(0))).value; });
        return;
      case Op::Log:
        v = function([&](auto real) { return vector_math::log(Recorded<decltype(real)>(*this, x(0))).value; });
        return;
      case Op::Atan2:
        v = function([&](auto real) {
          using T = Recorded<decltype(real)>;
          return vector_math::atan2(T(*this, x(0)), T(*this, x(1))).value;
        });
        return;
    }
  }

  const Graph& g_;
  bool double_;
  Fusion fusion_;
  std::vector<int> value_;                     // node -> its value
  std::map<int, std::pair<int, int>> sincos_;  // node of an angle -> its sine and cosine
  std::map<int, int> negated_;                 // node -> its negative
  std::map<std::uint64_t, int> constants_;
  int sign_ = -1;
  StraightLine s_;
};

}  // namespace

int arity(Code code) {
  switch (code) {
    case Code::Sqrt:
    case Code::Floor:
    case Code::ShiftLeft:
    case Code::ShiftRight:
    case Code::Store: return 1;
    case Code::MulAdd:
    case Code::MulSub:
    case Code::SubMul:
    case Code::Select: return 3;
    default: return 2;
  }
}

StraightLine straight_line(const Program& p, const std::vector<int>& order, bool double_precision,
                           const Fusion& fusion) {
  return Lowering(p, double_precision, fusion).run(p, order);
}

}  // namespace featherstorm
