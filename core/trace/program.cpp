#include "core/trace/program.h"

#include <cctype>
#include <stdexcept>

namespace featherstorm {
namespace {

int find(const std::vector<Program::Array>& arrays, const std::string& name) {
  for (int i = 0; i < int(arrays.size()); ++i) {
    if (arrays[i].name == name) return i;
  }
  return -1;
}

// Names become identifiers of the emitted source.
void check_name(const std::vector<Program::Array>& arrays, const std::string& name) {
  bool valid = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
  for (char c : name) valid = valid && (std::isalnum(static_cast<unsigned char>(c)) || c == '_');
  if (!valid) throw std::invalid_argument("program: array name '" + name + "' is not an identifier");
  if (find(arrays, name) >= 0) throw std::invalid_argument("program: array name '" + name + "' is taken");
}

}  // namespace

std::vector<Expr> Program::input(const std::string& name, int size, bool uniform) {
  check_name(inputs, name);
  int array = int(inputs.size());
  inputs.push_back({name, size, uniform});
  std::vector<Expr> values;
  for (int i = 0; i < size; ++i) values.push_back(Expr(graph.input(array, i)));
  return values;
}

void Program::output(const std::string& name, const std::vector<Expr>& values) {
  check_name(outputs, name);
  outputs.push_back({name, int(values.size()), false});
  results.push_back(values);
}

void Program::carry(const std::string& output, const std::string& input) {
  int j = find(outputs, output), i = find(inputs, input);
  if (j < 0) throw std::invalid_argument("program: cannot carry '" + output + "', there is no such output");
  if (i < 0) throw std::invalid_argument("program: cannot carry into '" + input + "', there is no such input");
  if (inputs[i].uniform) throw std::invalid_argument("program: cannot carry into '" + input + "', it is uniform");
  if (is_carried(i)) throw std::invalid_argument("program: input '" + input + "' is carried already");
  if (outputs[j].size != inputs[i].size) {
    throw std::invalid_argument("program: cannot carry '" + output + "' of size " + std::to_string(outputs[j].size) +
                                " into '" + input + "' of size " + std::to_string(inputs[i].size));
  }
  carried.push_back({j, i});
}

bool Program::is_carried(int input) const {
  for (auto [from, to] : carried) {
    if (to == input) return true;
  }
  return false;
}

std::vector<char> live_nodes(const Program& p) {
  std::vector<char> live(p.graph.size(), 0);
  for (const auto& values : p.results) {
    for (Expr x : values) live[x.edge().node()] = 1;
  }
  for (int i = p.graph.size() - 1; i >= 0; --i) {
    if (!live[i]) continue;
    const Node& n = p.graph.node(i);
    for (int k = 0; k < arity(n.op); ++k) live[n.operand[k].node()] = 1;
  }
  return live;
}

}  // namespace featherstorm
