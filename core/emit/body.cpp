#include "core/emit/body.h"

#include <algorithm>

#include "core/emit/words.h"

namespace featherstorm {
namespace {

using std::to_string;

class Body : Words {
 public:
  Body(const Program& p, const std::vector<int>& order, bool double_precision)
      : Words(p, double_precision), order_(order) {
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
  using Place = Component;

  void line(const std::string& s) { text_ += "    " + indent_ + s + "\n"; }
  void store(Place output, const std::string& value) { line(store_text(output, value)); }
  void store_constants();
  void statements(bool store_early);
  void statement(int node);

  const std::vector<int>& order_;
  std::vector<char> angles_;                // node -> 1 if its sine and cosine are written
  std::vector<std::vector<Place>> stores_;  // node -> outputs that have its value
  std::string text_, indent_;
};

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
    for (const std::string& text : sincos_text(n.operand[0])) line(text);
    return;
  }
  line(definition(node));
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
    // a remark precedes the inputs of the operation that it introduces
    next = std::max(next, k);
    while (next + 1 < order_.size() && g_.node(order_[next]).op == Op::Input) ++next;
    while (traced && mark != g_.marks().end() && mark->node <= order_[next]) line(comment((mark++)->text));
    statement(i);
    if (!store_early) continue;
    for (Place o : stores_[i]) store(o, operand(p_.results[o.array][o.component].edge()));
  }
}

// Returns the body of a loop over passes. Carried inputs and all outputs are variables declared before the loop.
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
