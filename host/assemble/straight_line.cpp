#include "host/assemble/straight_line.h"

#include <bit>
#include <map>

#include "core/trace/count.h"
#include "host/error.h"

namespace featherstorm {
namespace {

class Lowering {
 public:
  Lowering(const Program& p, bool double_precision)
      : g_(p.graph), double_(double_precision), fusion_(fuse(p)), value_(g_.size(), -1) {
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
  // Takes out what no store depends on: a sine whose cosine alone is used.
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
  int bits(std::uint64_t b) {
    auto [at, fresh] = constants_.try_emplace(b, 0);
    if (fresh) at->second = value({Value::Kind::Constant, 0, 0, b});
    return at->second;
  }
  int constant(double x) {
    return bits(double_ ? std::bit_cast<std::uint64_t>(x) : std::bit_cast<std::uint32_t>(static_cast<float>(x)));
  }
  int put(Code code, int a, int b = -1, int c = -1, int number = 0) {
    const int r = value({});
    s_.instructions.push_back({code, r, {a, b, c}, 0, number});
    return r;
  }

  // The value of an edge, with its sign.
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

  // Sine and cosine as in core/emit/vector_math.h: x = n pi/2 + r, polynomials in r, exchanged by the bits of n.
  std::pair<int, int> sincos(int x) {
    const auto fma = [&](int a, int b, int c) { return put(Code::MulAdd, a, b, c); };
    const auto polynomial = [&](int z, std::initializer_list<double> c) {  // highest power first
      int y = constant(*c.begin());
      for (const double* k = c.begin() + 1; k != c.end(); k++) y = fma(y, z, constant(*k));
      return y;
    };
    const int shift = constant(double_ ? 6755399441055744.0 : 12582912.0);
    const int shifted = fma(x, constant(0.63661977236758134308), shift);
    const int n = put(Code::Sub, shifted, shift);
    int r = x;
    const double parts[2][3] = {{1.5703125, 4.837512969970703125e-4, 7.54978995489188216e-8},
                                {1.57079632673412561417, 6.07710050630396597660e-11, 2.02226624879595063154e-21}};
    for (double part : parts[double_]) r = put(Code::SubMul, n, constant(part), r);
    const int z = put(Code::Mul, r, r);
    const int p = double_ ? polynomial(z, {1.58962301576546568060e-10, -2.50507477628578072866e-8,
                                           2.75573136213857245213e-6, -1.98412698295895385996e-4,
                                           8.33333333332211858878e-3, -1.66666666666666307295e-1})
                          : polynomial(z, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1});
    const int c = double_ ? polynomial(z, {-1.13585365213876817300e-11, 2.08757008419747316778e-9,
                                           -2.75573141792967388112e-7, 2.48015872888517045348e-5,
                                           -1.38888888888730564116e-3, 4.16666666666665929218e-2, -0.5, 1.0})
                          : polynomial(z, {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2, -0.5, 1.0});
    const int s = fma(put(Code::Mul, p, z), r, r);
    // quadrant: 0 (s, c), 1 (c, -s), 2 (-s, -c), 3 (-c, s); bit 0 and bit 1 of n to the sign's place
    const int places = double_ ? 63 : 31;
    const int odd = put(Code::ShiftLeft, shifted, -1, -1, places);
    const int high = put(Code::ShiftLeft, shifted, -1, -1, places - 1);
    const int sine = put(Code::Select, odd, c, s), cosine = put(Code::Select, odd, s, c);
    return {put(Code::Xor, sine, put(Code::And, high, sign_)),
            put(Code::Xor, cosine, put(Code::And, put(Code::Xor, high, odd), sign_))};
  }

  void node(int i) {
    const Node& n = g_.node(i);
    const auto x = [&](int k) { return edge(n.operand[k]); };
    int& v = value_[i];
    switch (n.op) {
      case Op::Const:
        return;
      case Op::Input:
        v = value({Value::Kind::Input, n.array, n.component});
        return;
      case Op::Add:
      case Op::Sub:
        v = sum(i, n);
        return;
      case Op::Mul:
        v = put(Code::Mul, x(0), x(1));
        return;
      case Op::Rcp:
        v = put(Code::Div, constant(1), x(0));
        return;
      case Op::Sqrt:
        v = put(Code::Sqrt, x(0));
        return;
      case Op::Sin:
      case Op::Cos: {
        auto [at, fresh] = sincos_.try_emplace(n.operand[0].node());
        if (fresh) at->second = sincos(x(0));
        v = n.op == Op::Sin ? at->second.first : at->second.second;
        return;
      }
      case Op::Min:
        v = put(Code::Min, x(0), x(1));
        return;
      case Op::Max:
        v = put(Code::Max, x(0), x(1));
        return;
      case Op::Abs:
        v = put(Code::And, x(0), bits(double_ ? ~(std::uint64_t(1) << 63) : 0x7fffffffu));
        return;
      case Op::Floor:
        v = put(Code::Floor, x(0));
        return;
      case Op::Less:
        v = put(Code::Less, x(0), x(1));
        return;
      case Op::LessEqual:
        v = put(Code::LessEqual, x(0), x(1));
        return;
      case Op::And:
        v = put(Code::And, x(0), x(1));
        return;
      case Op::Or:
        v = put(Code::Or, x(0), x(1));
        return;
      case Op::Select:
        v = put(Code::Select, x(0), x(1), x(2));
        return;
      case Op::Exp:
      case Op::Log:
      case Op::Atan2:
        throw Error("exponentials, logarithms and arc tangents are not assembled");
    }
  }

  const Graph& g_;
  bool double_;
  Fusion fusion_;
  std::vector<int> value_;                      // node -> its value
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
    case Code::Store:
      return 1;
    case Code::MulAdd:
    case Code::MulSub:
    case Code::SubMul:
    case Code::Select:
      return 3;
    default:
      return 2;
  }
}

StraightLine straight_line(const Program& p, const std::vector<int>& order, bool double_precision) {
  return Lowering(p, double_precision).run(p, order);
}

}  // namespace featherstorm
