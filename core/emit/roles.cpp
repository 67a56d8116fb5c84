#include "core/emit/roles.h"

#include "core/emit/words.h"

namespace featherstorm {
namespace {

using std::to_string;

class Cases : Words {
 public:
  Cases(const Program& p, const RoleProgram& roles, bool double_precision) : Words(p, double_precision), r_(roles) {}

  std::string text() {
    for (std::size_t k = 0; k < r_.steps.size(); k++) {
      text_ += "    case " + to_string(k) + ": {\n";
      angles_.assign(g_.size(), 0);
      mark_ = -1;
      if (p_.carried.empty())
        for (const RoleStep& s : r_.steps[k]) step(s);
      else loop(k);
      text_ += "      break;\n    }\n";
    }
    return text_;
  }

 private:
  void line(const std::string& s) { text_ += "      " + indent_ + s + "\n"; }
  std::string kept(const RoleStep& s) const {
    return p_.outputs[s.array].name + "_" + to_string(s.component) + "_last";
  }
  std::string input_of(int node) const { return input_name({g_.node(node).array, g_.node(node).component}); }

  // Writes the loop over passes. Carried inputs that the role uses, and outputs that it computes, are variables before
  // the loop.
  void loop(std::size_t role) {
    for (const RoleStep& s : r_.before[role])
      line("T " + input_of(s.node) + " = " + load({g_.node(s.node).array, g_.node(s.node).component}) + ";");
    for (const RoleStep& s : r_.after[role]) line("T " + kept(s) + " = splat(0);");
    line("for (long pass = 0; pass < repeat; ++pass) {");
    indent_ = "  ";
    for (const RoleStep& s : r_.steps[role]) step(s);
    indent_ = "";
    line("}");
    for (const RoleStep& s : r_.after[role]) line("if (inside) " + store_text({s.array, s.component}, kept(s)));
  }
  std::string slot(const RoleStep& s) const { return "exchange[" + to_string(s.slot) + "][lane]"; }

  // Writes the remark above a statement, if the statements are in the order of the trace.
  void remark(int node) {
    int mark = mark_;
    while (mark + 1 < int(g_.marks().size()) && g_.marks()[mark + 1].node <= node) mark++;
    if (mark == mark_ || !r_.traced) return;
    mark_ = mark;
    line(comment(g_.marks()[mark].text));
  }

  void step(const RoleStep& s) {
    const Node& n = g_.node(s.node);
    switch (s.kind) {
      case RoleStep::load: line("const T " + name(s.node) + " = " + load({n.array, n.component}) + ";"); break;
      case RoleStep::compute:
        remark(s.node);
        if (n.op == Op::Sin || n.op == Op::Cos) {
          char& written = angles_[n.operand[0].node()];
          if (!written)
            for (const std::string& text : sincos_text(n.operand[0])) line(text);
          written = 1;
        } else {
          line(definition(s.node));
        }
        break;
      case RoleStep::give: line(slot(s) + " = " + name(s.node) + ";"); break;
      case RoleStep::fetch: line("const T " + name(s.node) + " = " + slot(s) + ";"); break;
      case RoleStep::store:
        line("if (inside) " + store_text({s.array, s.component}, argument(p_.results[s.array][s.component].edge())));
        break;
      case RoleStep::keep: line(kept(s) + " = " + argument(p_.results[s.array][s.component].edge()) + ";"); break;
      case RoleStep::give_next: line(slot(s) + " = " + kept(s) + ";"); break;
      case RoleStep::take: line(input_of(s.node) + " = " + kept(s) + ";"); break;
      case RoleStep::fetch_next: line(input_of(s.node) + " = " + slot(s) + ";"); break;
      case RoleStep::barrier:
        line("wait_for_all_roles();");
        mark_ = -1;
        break;
    }
  }

  const RoleProgram& r_;
  std::vector<char> angles_;  // node -> 1 if its sine and cosine are written in this role
  int mark_ = -1;             // the last remark written
  std::string text_, indent_;
};

}  // namespace

std::string emit_role_cases(const Program& p, const RoleProgram& roles, bool double_precision) {
  return Cases(p, roles, double_precision).text();
}

}  // namespace featherstorm
