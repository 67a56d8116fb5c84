#include "core/emit/body.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "core/trace/count.h"

namespace featherstorm {
namespace {

using std::to_string;

// A remark as one line of comment: names come from users' files, so nothing in them may end the line or continue it.
std::string comment(const std::string& text) {
  std::string s = "// ";
  for (char c : text) s += c >= ' ' && c <= '~' && c != '\\' ? c : '?';
  return s;
}

class Body {
 public:
  Body(const Program& p, const std::vector<int>& order, bool double_precision)
      : p_(p), g_(p.graph), order_(order), double_precision_(double_precision), fusion_(fuse(p)) {
    angles_.assign(g_.size(), 0);
    stores_.resize(g_.size());
    for (int j = 0; j < int(p.results.size()); ++j) {
      for (int c = 0; c < p.outputs[j].size; ++c) stores_[p.results[j][c].edge().node()].push_back({j, c});
    }
  }

  std::string straight() {
    store_constants();
    statements(true);
    return text_;
  }

  std::string loop();

 private:
  struct Place {
    int array, component;
  };

  void line(const std::string& s) { text_ += "    " + indent_ + s + "\n"; }
  std::string literal(double x) const;
  std::string name(int node) const;
  std::string operand(Edge e) const;   // in arithmetic: a name or a literal
  std::string argument(Edge e) const;  // of a function: of type T or Condition
  std::string term(int sum, Edge e) const;
  std::string expression(int node) const;
  std::string load(Place input) const;
  std::string input_name(Place input) const;
  void store(Place output, const std::string& value);
  void store_constants();
  void statements(bool store_early);
  void statement(int node);

  const Program& p_;
  const Graph& g_;
  const std::vector<int>& order_;
  bool double_precision_;
  Fusion fusion_;
  std::vector<char> angles_;                // node -> whether its sine and cosine are written
  std::vector<std::vector<Place>> stores_;  // node -> the outputs that it is
  std::string text_, indent_;
};

std::string Body::literal(double x) const {
  if (!std::isfinite(x)) throw std::domain_error("emit: the program contains a constant that is not finite");
  char s[40];
  std::snprintf(s, sizeof s, double_precision_ ? "%.17g" : "%.9g", x);
  std::string digits = s;
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  return double_precision_ ? digits : digits + "f";
}

std::string Body::input_name(Place input) const {
  return p_.inputs[input.array].name + "_" + to_string(input.component);
}

std::string Body::name(int node) const {
  const Node& n = g_.node(node);
  if (n.op == Op::Input) return input_name({n.array, n.component});
  if (n.op == Op::Sin) return "s" + to_string(n.operand[0].node());
  if (n.op == Op::Cos) return "c" + to_string(n.operand[0].node());
  return "t" + to_string(node);
}

std::string Body::operand(Edge e) const {
  if (g_.is_constant(e)) return literal(g_.value(e));
  return (e.negative() ? "-" : "") + name(e.node());
}

std::string Body::argument(Edge e) const {
  return g_.is_constant(e) ? "splat(" + literal(g_.value(e)) + ")" : operand(e);
}

// An operand of a sum: its product in full where the sum has taken it.
std::string Body::term(int sum, Edge e) const {
  if (fusion_.product[sum] != e.node()) return operand(e);
  const Node& product = g_.node(e);
  return operand(product.operand[0]) + " * " + operand(product.operand[1]);
}

std::string Body::expression(int node) const {
  const Node& n = g_.node(node);
  Edge a = n.operand[0], b = n.operand[1], c = n.operand[2];
  switch (n.op) {
    case Op::Const:
    case Op::Sin:
    case Op::Cos:
      return "";
    case Op::Input:
      return load({n.array, n.component});
    case Op::Add:
      return term(node, a) + " + " + term(node, b);
    case Op::Sub:
      return term(node, a) + " - " + term(node, b);
    case Op::Mul:
      return operand(a) + " * " + operand(b);
    case Op::Rcp:
      return "rcp(" + argument(a) + ")";
    case Op::Sqrt:
      return "sqrt(" + argument(a) + ")";
    case Op::Exp:
      return "exp(" + argument(a) + ")";
    case Op::Log:
      return "log(" + argument(a) + ")";
    case Op::Atan2:
      return "atan2(" + argument(a) + ", " + argument(b) + ")";
    case Op::Min:
      return "min(" + argument(a) + ", " + argument(b) + ")";
    case Op::Max:
      return "max(" + argument(a) + ", " + argument(b) + ")";
    case Op::Abs:
      return "abs(" + argument(a) + ")";
    case Op::Floor:
      return "floor(" + argument(a) + ")";
    case Op::Less:
      return argument(a) + " < " + argument(b);
    case Op::LessEqual:
      return argument(a) + " <= " + argument(b);
    case Op::And:
      return name(a.node()) + " & " + name(b.node());
    case Op::Or:
      return name(a.node()) + " | " + name(b.node());
    case Op::Select:
      return "select(" + name(a.node()) + ", " + argument(b) + ", " + argument(c) + ")";
  }
  return "";
}

std::string Body::load(Place input) const {
  const Program::Array& array = p_.inputs[input.array];
  std::string c = to_string(input.component);
  if (array.uniform) return "load_uniform(" + array.name + "_in + " + c + ")";
  return "load(" + array.name + "_in + " + c + " * " + array.name + "_in_stride)";
}

void Body::store(Place output, const std::string& value) {
  const std::string& array = p_.outputs[output.array].name;
  line("store(" + array + "_out + " + to_string(output.component) + " * " + array + "_out_stride, " + value + ");");
}

void Body::store_constants() {
  for (int i = 0; i < g_.size(); ++i) {
    if (g_.node(i).op != Op::Const) continue;
    for (Place o : stores_[i]) store(o, argument(p_.results[o.array][o.component].edge()));
  }
}

void Body::statement(int node) {
  const Node& n = g_.node(node);
  if (fusion_.folded[node]) return;
  if (n.op == Op::Sin || n.op == Op::Cos) {
    int a = n.operand[0].node();
    if (angles_[a]) return;
    angles_[a] = 1;
    std::string s = "s" + to_string(a), c = "c" + to_string(a);
    line("T " + s + ", " + c + ";");
    line("sincos(" + argument(n.operand[0]) + ", " + s + ", " + c + ");");
    return;
  }
  line((is_condition(n.op) ? "const Condition " : "const T ") + name(node) + " = " + expression(node) + ";");
}

void Body::statements(bool store_early) {
  bool traced = true;
  int previous = -1;
  for (int i : order_) {
    if (g_.node(i).op == Op::Input) continue;
    traced = traced && i > previous;
    previous = i;
  }
  auto mark = g_.marks().begin();
  for (std::size_t k = 0, next = 0; k < order_.size(); ++k) {
    int i = order_[k];
    const Node& n = g_.node(i);
    if (n.op == Op::Input && p_.is_carried(n.array)) continue;
    // a remark stands before the inputs of the operation that it introduces
    next = std::max(next, k);
    while (next + 1 < order_.size() && g_.node(order_[next]).op == Op::Input) ++next;
    while (traced && mark != g_.marks().end() && mark->node <= order_[next]) line(comment((mark++)->text));
    statement(i);
    if (!store_early) continue;
    for (Place o : stores_[i]) store(o, operand(p_.results[o.array][o.component].edge()));
  }
}

// The body of a loop over passes: carried inputs and all outputs are variables in front of it.
std::string Body::loop() {
  std::vector<int> target(p_.outputs.size(), -1);  // output array -> the input array that it becomes
  for (auto [from, to] : p_.carried) target[from] = to;

  for (int i = 0; i < int(p_.inputs.size()); ++i) {
    if (!p_.is_carried(i)) continue;
    for (int c = 0; c < p_.inputs[i].size; ++c) line("T " + input_name({i, c}) + " = " + load({i, c}) + ";");
  }
  auto last = [&](Place o) { return p_.outputs[o.array].name + "_" + to_string(o.component) + "_last"; };
  auto each_output = [&](auto&& visit) {
    for (int j = 0; j < int(p_.outputs.size()); ++j) {
      for (int c = 0; c < p_.outputs[j].size; ++c) visit(Place{j, c});
    }
  };
  each_output([&](Place o) {
    if (target[o.array] < 0) line("T " + last(o) + " = splat(0);");
  });

  line("for (long pass = 0; pass < repeat; ++pass) {");
  indent_ = "  ";
  statements(false);
  auto next = [&](Place o) { return input_name({target[o.array], o.component}); };
  each_output([&](Place o) {
    std::string value = argument(p_.results[o.array][o.component].edge());
    line((target[o.array] < 0 ? last(o) : "const T " + next(o) + "_next") + " = " + value + ";");
  });
  each_output([&](Place o) {
    if (target[o.array] >= 0) line(next(o) + " = " + next(o) + "_next;");
  });
  indent_ = "";
  line("}");
  each_output([&](Place o) { store(o, target[o.array] < 0 ? last(o) : next(o)); });
  return text_;
}

}  // namespace

std::string emit_body(const Program& p, const std::vector<int>& order, bool double_precision) {
  Body body(p, order, double_precision);
  return p.carried.empty() ? body.straight() : body.loop();
}

}  // namespace featherstorm
