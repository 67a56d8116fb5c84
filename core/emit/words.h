#pragma once
// Names and expressions of emitted source, the same for every form of it (body.h lists the names).
#include <array>
#include <string>

#include "core/program/count.h"
#include "core/trace/program.h"

namespace featherstorm {

// Returns a remark as one line of comment. Names come from users' files, so nothing in them may end the line or
// continue it.
std::string comment(const std::string& text);

struct Component { int array, component; };

class Words {
 public:
  Words(const Program& p, bool double_precision)
      : p_(p), g_(p.graph), double_precision_(double_precision), fusion_(fuse(p)) {}

  std::string literal(double x) const;
  std::string name(int node) const;
  std::string operand(Edge e) const;   // in arithmetic: a name or a literal
  std::string argument(Edge e) const;  // as argument of a function: has type T or Condition
  std::string term(int sum, Edge e) const;
  std::string expression(int node) const;
  std::string load(Component input) const;
  std::string input_name(Component input) const;

  // Statements: definition of a node other than sine or cosine; sine and cosine of an angle; store of an output.
  std::string definition(int node) const;
  std::array<std::string, 2> sincos_text(Edge angle) const;
  std::string store_text(Component output, const std::string& value) const;

 protected:
  const Program& p_;
  const Graph& g_;
  bool double_precision_;
  Fusion fusion_;
};

}  // namespace featherstorm
