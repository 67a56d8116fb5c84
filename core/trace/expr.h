#pragma once
// The tracing scalar: a number that records the operations on it.
//
//   Program p;
//   std::vector<Expr> q = p.input("q", 2);
//   {
//     Tracing scope(p.graph);
//     p.output("tau", {sin(q[0]) * q[1]});   // any algorithm that is a template on its scalar runs with Expr
//   }
//
// Expr is an edge of the graph being recorded and nothing else: four bytes, trivially copyable, zero by default.
// Its operations are friends found by argument-dependent lookup, so they never hide those of double and float.
// There is no conversion to bool: `if (x < y)` does not compile, write `select(x < y, a, b)`.
#include <limits>
#include <type_traits>

#include "core/trace/simplify.h"

namespace featherstorm {

// The graph that this thread records into, for the lifetime of the scope; scopes nest.
class Tracing {
 public:
  explicit Tracing(Graph& graph);
  ~Tracing();
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

  // The graph of the innermost scope; asserts that there is one.
  static Graph& graph();

 private:
  Graph* outer_;
};

// A remark for the emitted source, if this thread is tracing.
void mark(const char* text);

class Expr;

// A condition on traced numbers, for select.
class ExprCondition {
 public:
  explicit ExprCondition(Edge edge) : edge_(edge) {}
  Edge edge() const { return edge_; }

  friend ExprCondition operator&&(ExprCondition a, ExprCondition b) {
    return ExprCondition(algebra::both(Tracing::graph(), a.edge_, b.edge_));
  }
  friend ExprCondition operator||(ExprCondition a, ExprCondition b) {
    return ExprCondition(algebra::either(Tracing::graph(), a.edge_, b.edge_));
  }
  // condition ? x : y; a friend of the condition, so that x and y may both be plain numbers
  friend Expr select(ExprCondition condition, Expr x, Expr y);

  friend ExprCondition operator!(ExprCondition a) {
    return ExprCondition(algebra::negation(Tracing::graph(), a.edge_));
  }

 private:
  Edge edge_;
};

// A traced number.
class Expr {
 public:
  Expr() = default;
  template <class Number>
    requires(std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool>)
  Expr(Number x) : edge_(x == 0 ? Edge{} : Tracing::graph().constant(double(x))) {}
  explicit Expr(Edge edge) : edge_(edge) {}
  Edge edge() const { return edge_; }

  friend Expr operator+(Expr x, Expr y) { return Expr(algebra::add(g(), x.edge_, y.edge_)); }
  friend Expr operator-(Expr x, Expr y) { return Expr(algebra::add(g(), x.edge_, -y.edge_)); }
  friend Expr operator*(Expr x, Expr y) { return Expr(algebra::multiply(g(), x.edge_, y.edge_)); }
  friend Expr operator/(Expr x, Expr y) { return Expr(algebra::divide(g(), x.edge_, y.edge_)); }
  friend Expr operator-(Expr x) { return Expr(-x.edge_); }
  friend Expr operator+(Expr x) { return x; }
  Expr& operator+=(Expr y) { return *this = *this + y; }
  Expr& operator-=(Expr y) { return *this = *this - y; }
  Expr& operator*=(Expr y) { return *this = *this * y; }
  Expr& operator/=(Expr y) { return *this = *this / y; }

  friend ExprCondition operator<(Expr x, Expr y) { return ExprCondition(algebra::less(g(), x.edge_, y.edge_)); }
  friend ExprCondition operator<=(Expr x, Expr y) { return ExprCondition(algebra::less_equal(g(), x.edge_, y.edge_)); }
  friend ExprCondition operator>(Expr x, Expr y) { return y < x; }
  friend ExprCondition operator>=(Expr x, Expr y) { return y <= x; }

  friend Expr min(Expr x, Expr y) { return Expr(algebra::minimum(g(), x.edge_, y.edge_)); }
  friend Expr max(Expr x, Expr y) { return Expr(algebra::maximum(g(), x.edge_, y.edge_)); }
  friend Expr abs(Expr x) { return x.unary(Op::Abs); }
  friend Expr floor(Expr x) { return x.unary(Op::Floor); }

  friend Expr rcp(Expr x) { return x.unary(Op::Rcp); }
  friend Expr sqrt(Expr x) { return x.unary(Op::Sqrt); }
  friend Expr sin(Expr x) { return x.unary(Op::Sin); }
  friend Expr cos(Expr x) { return x.unary(Op::Cos); }
  friend void sincos(Expr x, Expr& s, Expr& c) { s = sin(x), c = cos(x); }
  friend Expr exp(Expr x) { return x.unary(Op::Exp); }
  friend Expr log(Expr x) { return x.unary(Op::Log); }
  friend Expr atan2(Expr y, Expr x) { return Expr(algebra::atan2(g(), y.edge_, x.edge_)); }

  // The value of a constant; NaN for all other nodes. For numbers that must be constants, such as sizes of joints.
  friend double lane(Expr x, int) {
    return g().is_constant(x.edge_) ? g().value(x.edge_) : std::numeric_limits<double>::quiet_NaN();
  }

  // asin x = atan2(x, sqrt(1 - x^2)), acos x = atan2(sqrt(1 - x^2), x), for |x| <= 1
  friend Expr asin(Expr x) { return atan2(x, sqrt((1 - x) * (1 + x))); }
  friend Expr acos(Expr x) { return atan2(sqrt((1 - x) * (1 + x)), x); }

 private:
  static Graph& g() { return Tracing::graph(); }
  Expr unary(Op op) const { return Expr(algebra::unary(g(), op, edge_)); }

  Edge edge_;
};

inline Expr select(ExprCondition condition, Expr x, Expr y) {
  return Expr(algebra::select(Tracing::graph(), condition.edge(), x.edge(), y.edge()));
}

static_assert(sizeof(Expr) == sizeof(int) && std::is_trivially_copyable_v<Expr>);

}  // namespace featherstorm
