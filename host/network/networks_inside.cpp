#include "host/network/networks_inside.h"

#include <algorithm>

#include "core/program/part.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

bool has_input(const Program& p, const std::string& name) {
  return std::any_of(p.inputs.begin(), p.inputs.end(), [&](const auto& a) { return a.name == name; });
}

// Return the input array that an output copies unchanged, if it is not uniform; "": none.
std::string plain_input(const Program& p, const std::string& output) {
  for (std::size_t k = 0; k < p.outputs.size(); k++) {
    if (p.outputs[k].name != output || p.results[k].empty()) continue;
    const int array = p.graph.node(p.results[k][0].edge()).array;
    for (std::size_t c = 0; c < p.results[k].size(); c++) {
      const Edge e = p.results[k][c].edge();
      const Node& n = p.graph.node(e);
      if (n.op != Op::Input || e.negative() || n.array != array || n.component != static_cast<int>(c)) return "";
    }
    const Program::Array& a = p.inputs[static_cast<std::size_t>(array)];
    return a.uniform || a.size != p.outputs[k].size ? "" : a.name;
  }
  return "";
}

}  // namespace

std::vector<Stage> stages_with(const Evaluator& e, Precision precision, const Program& program,
                               const std::vector<NetworkInside>& networks) {
  std::vector<Stage> stages;
  const auto add_part = [&](const auto& chosen) {
    const Program part = part_of(program, chosen);
    if (!part.outputs.empty()) stages.push_back(stage_of(e, precision, part));
  };
  std::vector<const NetworkInside*> left;
  for (const NetworkInside& n : networks) left.push_back(&n);
  while (!left.empty()) {
    // networks whose input depends on no other remaining network
    std::vector<const NetworkInside*> ready, wait;
    for (const NetworkInside* n : left) {
      const Program in = part_of(program, [&](const std::string& name) { return name == n->in; });
      const bool waits = std::any_of(left.begin(), left.end(), [&](const auto* m) { return has_input(in, m->out); });
      (waits ? wait : ready).push_back(n);
    }
    if (ready.empty()) throw Error("network '" + left.front()->weights + "' depends on its own output");
    const auto is_made = [&](const std::string& name) {
      return std::any_of(ready.begin(), ready.end(),
                         [&](const auto* n) { return n->in == name && plain_input(program, name).empty(); });
    };
    add_part(is_made);
    for (const NetworkInside* n : ready) {
      const std::string plain = plain_input(program, n->in);
      stages.push_back(dense_stage(precision, e.isa(), n->network, plain.empty() ? n->in : plain, n->weights, n->out));
    }
    left = wait;
  }
  add_part([&](const std::string& name) {
    return std::none_of(networks.begin(), networks.end(), [&](const auto& n) { return n.in == name; });
  });
  return stages;
}

}  // namespace featherstorm
