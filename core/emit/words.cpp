#include "core/emit/words.h"

#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace featherstorm {

using std::to_string;

static std::string numbered(char letter, int number) {
  std::string s(1, letter);
  return s += to_string(number);
}

// Returns a remark as one line of comment. Names come from users' files, so nothing in them may end the line or
// continue it.
std::string comment(const std::string& text) {
  std::string s = "// ";
  for (char c : text) s += c >= ' ' && c <= '~' && c != '\\' ? c : '?';
  return s;
}

std::string Words::literal(double x) const {
  if (!std::isfinite(x)) throw std::domain_error("emit: the program contains a constant that is not finite");
  char s[40];
  std::snprintf(s, sizeof s, double_precision_ ? "%.17g" : "%.9g", x);
  std::string digits = s;
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  return double_precision_ ? digits : digits + "f";
}

std::string Words::input_name(Component input) const {
  return p_.inputs[input.array].name + "_" + to_string(input.component);
}

std::string Words::name(int node) const {
  const Node& n = g_.node(node);
  if (n.op == Op::Input) return input_name({n.array, n.component});
  if (n.op == Op::Sin) return numbered('s', n.operand[0].node());
  if (n.op == Op::Cos) return numbered('c', n.operand[0].node());
  return numbered('t', node);
}

std::string Words::operand(Edge e) const {
  if (g_.is_constant(e)) return literal(g_.value(e));
  std::string s(e.negative() ? 1 : 0, '-');
  return s += name(e.node());
}

std::string Words::argument(Edge e) const {
  return g_.is_constant(e) ? "splat(" + literal(g_.value(e)) + ")" : operand(e);
}

// Returns an operand of a sum, written as a product if the sum has absorbed the product.
std::string Words::term(int sum, Edge e) const {
  if (fusion_.product[sum] != e.node()) return operand(e);
  const Node& product = g_.node(e);
  return operand(product.operand[0]) + " * " + operand(product.operand[1]);
}

std::string Words::expression(int node) const {
  const Node& n = g_.node(node);
  Edge a = n.operand[0], b = n.operand[1], c = n.operand[2];
  switch (n.op) {
    case Op::Const:
    case Op::Sin:
    case Op::Cos: return "";
    case Op::Input: return load({n.array, n.component});
    case Op::Add: return term(node, a) + " + " + term(node, b);
    case Op::Sub: return term(node, a) + " - " + term(node, b);
    case Op::Mul: return operand(a) + " * " + operand(b);
    case Op::Rcp: return "rcp(" + argument(a) + ")";
    case Op::Sqrt: return "sqrt(" + argument(a) + ")";
    case Op::Exp: return "exp(" + argument(a) + ")";
    case Op::Log: return "log(" + argument(a) + ")";
    case Op::Atan2: return "atan2(" + argument(a) + ", " + argument(b) + ")";
    case Op::Min: return "min(" + argument(a) + ", " + argument(b) + ")";
    case Op::Max: return "max(" + argument(a) + ", " + argument(b) + ")";
    case Op::Abs: return "abs(" + argument(a) + ")";
    case Op::Floor: return "floor(" + argument(a) + ")";
    case Op::Less: return argument(a) + " < " + argument(b);
    case Op::LessEqual: return argument(a) + " <= " + argument(b);
    case Op::And: return name(a.node()) + " & " + name(b.node());
    case Op::Or: return name(a.node()) + " | " + name(b.node());
    case Op::Select: return "select(" + name(a.node()) + ", " + argument(b) + ", " + argument(c) + ")";
  }
  return "";
}

std::string Words::load(Component input) const {
  const Program::Array& array = p_.inputs[input.array];
  std::string c = to_string(input.component);
  if (array.uniform) return "load_uniform(" + array.name + "_in + " + c + ")";
  return "load(" + array.name + "_in + " + c + " * " + array.name + "_in_stride)";
}

std::string Words::store_text(Component output, const std::string& value) const {
  const std::string& array = p_.outputs[output.array].name;
  return "store(" + array + "_out + " + to_string(output.component) + " * " + array + "_out_stride, " + value + ");";
}

std::string Words::definition(int node) const {
  return (is_condition(g_.node(node).op) ? "const Condition " : "const T ") + name(node) + " = " + expression(node) +
         ";";
}

std::array<std::string, 2> Words::sincos_text(Edge angle) const {
  const std::string s = numbered('s', angle.node()), c = numbered('c', angle.node());
  return {"T " + s + ", " + c + ";", "sincos(" + argument(angle) + ", " + s + ", " + c + ");"};
}

}  // namespace featherstorm
