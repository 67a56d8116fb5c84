#include "core/emit/rollout.h"

#include <algorithm>
#include <stdexcept>

#include "core/emit/body.h"
#include "core/emit/sources.h"

namespace featherstorm {
namespace {

using std::to_string;

class RolloutText {
 public:
  RolloutText(const RolloutProgram& r, const OrderOf& order, const Cuda& target)
      : r_(r), order_(order), target_(target) {
    straight_ = kept_ = std::vector<char>(r.arrays.size()), entry_.assign(r.arrays.size(), -1),
    every_step_.assign(r.arrays.size(), 0);
    check();
    for (std::size_t k = 0; k < r.in.size(); k++) {
      int& entry = entry_[r.in[k].array];
      if (entry >= 0) kept_[r.in[k].array] = 1;  // one input before the first step and another at each step
      entry = static_cast<int>(k), every_step_[r.in[k].array] = r.in[k].every_step;
    }
    if (in_place()) {
      for (int k : r.stages[0].in)
        if (in(r.stages[0].out, k)) kept_[k] = 1;  // read before it is written
      return;
    }
    for (const RolloutProgram::Stage& s : r.stages) {
      for (int k : s.out) kept_[k] = 1;
      for (auto [x, y] : s.swaps) kept_[x] = kept_[y] = 1;
      if (s.needed >= 0) kept_[s.needed] = 1;
    }
    if (r.controls != RolloutProgram::ControlKind::none) kept_[r.controlled] = 1;
    for (const RolloutProgram::Check& c : r.checks) {
      kept_[c.array] = 1;
      for (const int k : c.of)
        if (!r.arrays[k].uniform) kept_[k] = 1;
    }
    for (std::size_t k = 0; k < r.arrays.size(); k++)
      if (entry_[k] < 0 && !r.arrays[k].uniform) kept_[k] = 1;  // not an input: zeros
    for (std::size_t k = 0; r.one_step && k < r.arrays.size(); k++)
      if (is_written_only(static_cast<int>(k))) kept_[k] = 0, straight_[k] = 1;
  }

  std::string text() {
    text_ = "// A featherstorm rollout of " + to_string(r_.stages.size()) + " programs.\n";
    text_ += vector_math_source();
    text_ += "\nnamespace featherstorm {\nnamespace vector_math {\n\ntypedef ";
    text_ += target_.double_precision ? "double Real;\n\n" : "float Real;\n\n";
    text_ += prelude_cuda_source();
    text_ += '\n';
    text_ += prelude_rollout_source();
    text_ += "\nextern \"C\" __global__ void __launch_bounds__(" + to_string(target_.threads) +
             (target_.blocks > 0 ? ", " + to_string(target_.blocks) : "") + ")\n";
    text_ += "    featherstorm_kernel(const Memories<" + room(r_.in.size() + r_.out.size()) +
             "> memory, const Uniforms<" + room(uniform_numbers(r_)) + "> uniform,\n";
    text_ += "                        const Real* numbers, const ControlSource controls, long steps, long count) {\n";
    text_ += "  const long i = long(blockIdx.x) * blockDim.x + threadIdx.x;\n  if (i >= count) return;\n";
    if (in_place()) stage_in_place(r_.stages[0]);
    else steps();
    return text_ + "}\n\n}  // namespace vector_math\n}  // namespace featherstorm\n";
  }

 private:
  bool in_place() const { return r_.stages.size() == 1 && r_.stages[0].in_place; }
  static bool in(const std::vector<int>& list, int k) { return std::find(list.begin(), list.end(), k) != list.end(); }
  // Returns true if one stage writes the array, no stage or check reads it, and it is an output.
  bool is_written_only(int k) const {
    int writers = 0;
    for (const RolloutProgram::Stage& s : r_.stages) {
      if (in(s.in, k) || s.needed >= 0 || s.last) return false;
      for (auto [x, y] : s.swaps)
        if (k == x || k == y) return false;
      writers += in(s.out, k);
    }
    for (const RolloutProgram::Check& c : r_.checks)
      if (k == c.array || in(c.of, k)) return false;
    const bool made = r_.controls != RolloutProgram::ControlKind::none && k == r_.controlled;
    return writers == 1 && !made && out_entry(k) < r_.out.size();
  }
  std::size_t out_entry(int k) const {
    const auto same = [&](const RolloutProgram::Transfer& t) { return t.array == k; };
    return static_cast<std::size_t>(std::find_if(r_.out.begin(), r_.out.end(), same) - r_.out.begin());
  }

  void steps() {
    for (std::size_t k = 0; k < r_.arrays.size(); k++)
      if (kept_[k]) line("T kept" + to_string(k) + "[" + room(r_.arrays[k].components) + "] = {};");
    for (std::size_t k = 0; k < r_.in.size(); k++)
      if (!r_.in[k].every_step) take(k, "0");
    line("for (long rollout_step = 0; rollout_step < steps; ++rollout_step) {");
    for (std::size_t k = 0; k < r_.in.size(); k++)
      if (r_.in[k].every_step) take(k, "rollout_step");
    if (r_.controls != RolloutProgram::ControlKind::none && r_.arrays[r_.controlled].components > 0)
      line("  make_controls<" + std::string(r_.controls == RolloutProgram::ControlKind::knots ? "true" : "false") +
           ">(controls, i, rollout_step, kept" + to_string(r_.controlled) + ");");
    for (const RolloutProgram::Stage& s : r_.stages) stage(s);
    for (std::size_t k = 0; k < r_.out.size(); k++)
      if (r_.out[k].every_step) give(k, "rollout_step");
    line("}");
    for (const RolloutProgram::Check& c : r_.checks) spoil(c);
    for (std::size_t k = 0; k < r_.out.size(); k++)
      if (!r_.out[k].every_step) give(k, "0");
  }
  void stage_in_place(const RolloutProgram::Stage& s) {
    line("if (*at(" + entry(static_cast<std::size_t>(entry_[s.needed])) + ", i, 0) > Real(0)) {");
    for (std::size_t k = 0; k < r_.in.size(); k++) {
      const int a = r_.in[k].array;
      if (!kept_[a]) continue;
      line("  T kept" + to_string(a) + "[" + room(r_.arrays[a].components) + "] = {};");
      if (r_.arrays[a].components > 0) line("  take(" + entry(k) + ", i, 0, kept" + to_string(a) + ");");
    }
    const Program& p = *s.program;
    for (std::size_t k = 0; k < p.inputs.size(); k++) bind(p.inputs[k], "in", s.in[k]);
    for (std::size_t k = 0; k < p.outputs.size(); k++) bind_to_memory(p.outputs[k], s.out[k]);
    text_ += emit_body(p, order_(p), target_.double_precision);
    line("}");
  }

  void line(const std::string& s) { text_ += "  " + s + "\n"; }
  static std::string room(std::size_t n) { return to_string(std::max<std::size_t>(n, 1)); }
  std::string entry(std::size_t k) const { return "memory.array[" + to_string(k) + "]"; }

  void take(std::size_t k, const std::string& step) {
    const int a = r_.in[k].array;
    if (kept_[a] && r_.arrays[a].components > 0)
      line((r_.in[k].every_step ? "  take(" : "take(") + entry(k) + ", i, " + step + ", kept" + to_string(a) + ");");
  }
  void give(std::size_t k, const std::string& step) {
    const int a = r_.out[k].array;
    const std::string to = entry(r_.in.size() + k), indent = r_.out[k].every_step ? "  " : "";
    if (r_.arrays[a].components == 0 || straight_[a]) return;
    if (kept_[a]) {
      line(indent + "give(" + to + ", i, " + step + ", kept" + to_string(a) + ");");
      return;
    }
    // copy from memory to memory
    const std::string from = !every_step_[a] ? "0" : r_.out[k].every_step ? step : "steps - 1";
    line(indent + "{");
    line(indent + "  T copied[" + to_string(r_.arrays[a].components) + "];");
    line(indent + "  take(" + entry(entry_[a]) + ", i, " + from + ", copied);");
    line(indent + "  give(" + to + ", i, " + step + ", copied);");
    line(indent + "}");
  }
  void spoil(const RolloutProgram::Check& c) {
    std::string all;
    for (int a : c.of)
      if (r_.arrays[a].components > 0 && kept_[a])
        all += (all.empty() ? "" : " && ") + ("finite(kept" + to_string(a)) + ")";
    if (!all.empty()) line("if (!(" + all + ")) spoil(kept" + to_string(c.array) + ");");
  }

  // Defines the names of an output that goes directly to memory.
  void bind_to_memory(const Program::Array& a, int array) {
    const std::string name = a.name + "_out", to = entry(r_.in.size() + out_entry(array));
    line("    Real* " + name + " = at(" + to + ", i, 0);");
    line("    const Stride " + name + "_stride = stride_of(" + to + ");");
  }
  // Defines the names of a program's array; `side` is in or out.
  void bind(const Program::Array& a, const std::string& side, int array) {
    const std::string name = a.name + "_" + side, place = to_string(array);
    if (r_.arrays[array].uniform && r_.arrays[array].every_step) {
      line("    const StepNumbers " + name + " = {numbers + steps * " + to_string(offset(array, true)) +
           " + rollout_step * " + to_string(a.size) + "};");
    } else if (r_.arrays[array].uniform) {
      line("    const Real* " + name + " = uniform.value + " + to_string(offset(array, false)) + ";");
    } else if (kept_[array]) {
      line("    const Kept " + name + " = {kept" + place + "};");
      line("    const Unit " + name + "_stride = {};");
    } else {
      const std::string from = entry(entry_[array]);
      line("    const Real* " + name + " = at(" + from + ", i, " + (every_step_[array] ? "rollout_step" : "0") + ");");
      line("    const Stride " + name + "_stride = stride_of(" + from + ");");
    }
  }
  void stage(const RolloutProgram::Stage& s) {
    const std::string when = s.last ? "if (rollout_step + 1 == steps) " : "";
    const std::string again = s.needed < 0 ? ""
                                           : "for (long pass = 0; pass < " + to_string(s.repeat) + " && kept" +
                                                 to_string(s.needed) + "[0] > Real(0); ++pass) ";
    line("  " + when + again + "{");
    const Program& p = *s.program;
    for (std::size_t k = 0; k < p.inputs.size(); k++) bind(p.inputs[k], "in", s.in[k]);
    for (std::size_t k = 0; k < p.outputs.size(); k++)
      straight_[s.out[k]] ? bind_to_memory(p.outputs[k], s.out[k]) : bind(p.outputs[k], "out", s.out[k]);
    if (!p.carried.empty()) line("    const long repeat = " + to_string(s.needed < 0 ? s.repeat : 1) + ";");
    text_ += emit_body(p, order_(p), target_.double_precision);
    if (s.needed < 0) line("  }");
    for (auto [x, y] : s.swaps)
      line("  " + (s.needed < 0 ? when : "  ") + "exchange(kept" + to_string(x) + ", kept" + to_string(y) + ");");
    if (s.needed >= 0) line("  }");
  }

  // Returns how many numbers precede this array's among uniform arrays with, or without, numbers for each step.
  int offset(int array, bool every_step) const {
    int n = 0;
    for (int k = 0; k < array; k++)
      if (r_.arrays[k].uniform && r_.arrays[k].every_step == every_step) n += r_.arrays[k].components;
    return n;
  }

  void check() const {
    const auto require = [](bool ok, const std::string& what) {
      if (!ok) throw std::invalid_argument("rollout: " + what);
    };
    const auto has = [](const std::vector<RolloutProgram::Transfer>& list, int array) {
      return std::any_of(list.begin(), list.end(), [&](const auto& t) { return t.array == array && !t.every_step; });
    };
    for (const RolloutProgram::Stage& s : r_.stages) {
      const Program& p = *s.program;
      if (s.in_place) {
        require(r_.stages.size() == 1 && s.repeat == 1 && s.swaps.empty() && r_.checks.empty() && p.carried.empty() &&
                    has(r_.in, s.needed) && r_.controls == RolloutProgram::ControlKind::none,
                "a stage in place is not the only one, or is repeated");
        for (const int k : s.out) require(has(r_.out, k), "a stage in place writes what nobody reads");
        for (const int k : s.in)
          require(r_.arrays[k].uniform || has(r_.in, k), "a stage in place reads what is nowhere");
      }
      require(s.in.size() == p.inputs.size() && s.out.size() == p.outputs.size(),
              "a stage has " + to_string(s.in.size()) + " inputs and " + to_string(s.out.size()) +
                  " outputs, expected " + to_string(p.inputs.size()) + " and " + to_string(p.outputs.size()) +
                  " as its program has");
      const auto fits = [&](const Program::Array& a, int array, bool output) {
        const RolloutProgram::Array& here = r_.arrays[array];
        require(here.components == a.size, "array '" + a.name + "' of a stage has " + to_string(a.size) +
                                               " components, that of the rollout " + to_string(here.components));
        require(
            here.uniform == a.uniform && !(output && here.uniform),
            "array '" + a.name + "' of a stage " +
                (output ? "is written, that of the rollout is the same for all instances"
                        : std::string(a.uniform ? "is" : "is not") +
                              " the same for all instances, that of the rollout " + (here.uniform ? "is" : "is not")));
      };
      for (std::size_t k = 0; k < s.in.size(); k++) fits(p.inputs[k], s.in[k], false);
      for (std::size_t k = 0; k < s.out.size(); k++) fits(p.outputs[k], s.out[k], true);
    }
  }

  const RolloutProgram& r_;
  const OrderOf& order_;
  const Cuda& target_;
  std::vector<char> kept_;        // array -> 1 if it is in registers
  std::vector<char> straight_;    // array -> 1 if results go to memory at once
  std::vector<int> entry_;        // array -> its entry of `in`, -1: none
  std::vector<char> every_step_;  // array -> 1 if that entry is read at each step
  std::string text_;
};

int count_uniforms(const RolloutProgram& r, bool every_step) {
  int n = 0;
  for (const RolloutProgram::Array& a : r.arrays) n += a.uniform && a.every_step == every_step ? a.components : 0;
  return n;
}

}  // namespace

int uniform_numbers(const RolloutProgram& r) { return count_uniforms(r, false); }
int step_numbers(const RolloutProgram& r) { return count_uniforms(r, true); }

std::string emit_rollout(const RolloutProgram& r, const OrderOf& order, const Cuda& target) {
  return RolloutText(r, order, target).text();
}

}  // namespace featherstorm
