#pragma once
// The record of a computation: a graph of operations on the scalars of one robot.
//
//   Edge    a value as it is used: a node and a sign. Negation is this sign, it never costs a node.
//   Node    an operation on at most three edges, a constant or an input.
//   Graph   nodes in the order they were traced; an operand always stands before its user, and equal
//           nodes are one node (hash-consing), so common terms are computed once.
//
// Graph stores what it is given; the rules of algebra are in simplify.h, the scalar type in expr.h.
#include <cstddef>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

namespace featherstorm {

enum class Op : unsigned char {
  Const,      // value >= 0 (the edge has the sign)
  Input,      // component of an input array
  Add,        // a + b
  Sub,        // a - b
  Mul,        // a * b
  Rcp,        // 1 / a
  Sqrt,       // square root
  Sin,        // sin a, a in rad
  Cos,        // cos a, a in rad
  Exp,        // e^a
  Log,        // natural logarithm
  Atan2,      // angle of the point (x, y) = (b, a) [rad]
  Min,        // the smaller of a and b
  Max,        // the larger of a and b
  Abs,        // |a|
  Floor,      // largest integer <= a
  Less,       // condition a < b
  LessEqual,  // condition a <= b
  And,        // condition a and b
  Or,         // condition a or b
  Select      // a ? b : c
};

// Number of operands of an operation.
int arity(Op op);

// True if the result is a condition instead of a number.
bool is_condition(Op op);

// A node with a sign; the default edge is the constant zero, node 0 of every graph.
struct Edge {
  int code = 0;  // 2 * node + (1 if negative)

  static Edge of(int node, bool negative = false) { return Edge{2 * node + (negative ? 1 : 0)}; }
  int node() const { return code >> 1; }
  bool negative() const { return code & 1; }
  Edge positive() const { return Edge{code & ~1}; }
  Edge operator-() const { return code == 0 ? *this : Edge{code ^ 1}; }  // -0 is 0
  bool operator==(const Edge&) const = default;
};

// The edge, negated if `negative`.
inline Edge with_sign(Edge x, bool negative) { return negative ? -x : x; }

// One operation; only the fields that its op needs are set.
struct Node {
  Op op = Op::Const;
  Edge operand[3];    // arity(op) of them; the sum, the product and Rcp, Sin, Cos have positive operands
  int array = 0;      // Input: index of the input array
  int component = 0;  // Input: component in that array
  double value = 0;   // Const: the value
  bool operator==(const Node&) const = default;
};

// A remark in the trace, such as "body 7: left_knee".
struct Mark {
  int node;  // first node traced after the remark
  std::string text;
};

// Nodes in trace order without duplicates.
class Graph {
 public:
  Graph();

  Edge constant(double value);
  Edge input(int array, int component);
  Edge operation(Op op, Edge a, Edge b = {}, Edge c = {});
  void mark(std::string text) { marks_.push_back({size(), std::move(text)}); }

  // The largest number of nodes; one more throws std::length_error. This stops the trace of a program that is already
  // worse than the best of several.
  void limit(int nodes) { most_ = nodes; }

  int size() const { return int(nodes_.size()); }
  const Node& node(int i) const { return nodes_[i]; }
  const Node& node(Edge e) const { return nodes_[e.node()]; }
  const std::vector<Mark>& marks() const { return marks_; }

  // True if the edge is a constant; the signed value of a constant.
  bool is_constant(Edge e) const { return node(e).op == Op::Const; }
  bool is_constant(Edge e, double value) const { return is_constant(e) && this->value(e) == value; }
  double value(Edge e) const { return e.negative() ? -node(e).value : node(e).value; }

 private:
  struct Hash { std::size_t operator()(const Node& n) const; };
  Edge share(const Node& n);

  int most_ = std::numeric_limits<int>::max();
  std::vector<Node> nodes_;
  std::vector<Mark> marks_;
  std::unordered_map<Node, int, Hash> index_;  // node -> its place in nodes_
};

// Writes the nodes of the operands of node i that are not constants, each once, and returns their number.
int operands(const Graph& graph, int i, int nodes[3]);

}  // namespace featherstorm
