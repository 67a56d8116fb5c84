// Robots that nobody built against their oracles: what a user gets from an Evaluator, in both precisions.
//
//   adversarial FIRST COUNT [--rows all|main] [--seconds N] [--jobs N]
//
// Robots of the seeds FIRST .. FIRST + COUNT - 1 (tests/support/robots/adversarial_robot.h). Forces, the inertia matrix,
// forward dynamics, frames and energy are compared with the dense oracle (tests/support/oracles/dense.h), of robots with more
// than 12 freedoms the first few of these rows; all other rows, of robots with fewer and with --rows all, with their texts in
// double on the robot as it was built. Accelerations are judged by the forces that they stand for. Forces and inertias are
// judged twice: by the largest number of the array, and joint by joint, each by what its own inertia M_ii makes of the motion,
// so that a light limb on a heavy robot counts as much as the robot; not where M is singular and some joint has nothing of its
// own. Prints every failure, every kernel that its own check refused, and the worst error of each row. Ends with 1 where one
// failed.
#include <Eigen/Dense>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "host/engine/evaluator.h"
#include "tests/host/table/adversarial_oracle.h"
#include "tests/host/table/adversarial_runs.h"
#include "tests/support/oracles/op_reference.h"
#include "tests/support/tools/tolerance.h"

namespace featherstorm::testing {
namespace {

constexpr int states = 4, text_states = 8, freedoms_of_all_rows = 12;
// Of tasks that depend on each other rounding chooses the one that is left out; of steps the one that is refused.
bool chosen_by_rounding(std::string_view row) { return row == "operational_space" || row == "dormand_prince"; }
constexpr double flown = 1e9,
                 vanished = 1e-200;  // of numbers of what has flown apart, of what is zero but for rounding
constexpr int neighbours = 3;        // of a robot and its state, a few roundings away
constexpr double double_rounding = 0x1p-44, float_rounding = 0x1p-24, double_from_float = 0x1p-29;

struct RowResult {
  long runs = 0, failures = 0, made = 0, refused = 0;
  Errors kernel, text;  // of runs that did not fail
};

struct Report {
  std::mutex mutex;
  std::map<std::pair<std::string, Precision>, RowResult> rows;
  std::atomic<long> robots{0}, unbuilt{0}, singular{0}, failures{0}, refused{0}, unassembled{0}, clear{0}, unclear{0};
  void line(const std::string& text) {
    std::lock_guard lock(mutex);
    std::printf("%s\n", text.c_str());
    std::fflush(stdout);
  }
};

const char* word(Precision p) { return p == Precision::float64 ? "float64" : "float32"; }

bool accelerates(std::string_view row) { return row == "fd" || row == "aba" || row == "aba_f_ext"; }
// What factors M, or a matrix that is as badly conditioned.
bool of_definite_matrices(std::string_view row) {
  return row == "ltl" || row == "maximal_force" || row == "maximal_force_inertia";
}
// By the oracle; of robots with more freedoms only the first.
constexpr int first_main_rows = 5;
const std::vector<std::string> main_rows = {"rnea",     "crba",       "fd",       "forward_kinematics",
                                            "energy",   "rnea_f_ext", "bias",     "gravity",
                                            "id_delta", "aba",        "aba_f_ext"};

Numbers1 instance(const std::vector<Numbers1>& array, std::size_t i) {
  Numbers1 x;
  for (const auto& component : array) x.push_back(component[i]);
  return x;
}

// One robot: all of its rows, by name.
class Robots {
 public:
  Robots(Report& report, bool all) : report_(report), all_(all) {}

  void run(unsigned seed) {
    const RobotSpec spec = adversarial_spec(seed);
    Robot robot;
    try {
      robot = build(spec);
    } catch (const ModelError& e) {
      report_.unbuilt++, report_.failures++;
      return report_.line("seed " + std::to_string(seed) + " is not built: " + e.what());
    }
    report_.robots++;
    const dense::Tree tree(spec, robot);
    std::vector<Exact> exact;
    for (int i = 0; i < states; i++) exact.emplace_back(spec, robot, tree, seed * states + i);
    Evaluator e(robot, {.threads = 1, .notice = [&](const std::string& what) {
                          if (what.find("is not assembled") != std::string::npos) report_.unassembled++;
                        }});
    const Model<float> single = cast<float>(robot.model);
    bool solvable = true, moves = true, definite_in_float = true;
    for (const Exact& x : exact) definite_in_float = definite_in_float && x.definite_in_float;
    for (const Exact& x : exact) solvable = solvable && x.solvable && x.moves, moves = moves && x.moves;
    if (!solvable) report_.singular++;
    for (const OpRow& row : e.ops()) {
      const auto at = std::find(main_rows.begin(), main_rows.end(), row.name);
      const bool is_main = at != main_rows.end(), small = robot.model.nv <= freedoms_of_all_rows;
      if (!row.refused.empty() || row.in.empty() || row.in[0].components == 0) continue;
      if (is_main && !small && at - main_rows.begin() >= first_main_rows) continue;
      const bool judged = solvable || (moves && !accelerates(row.name)) || row.name == "forward_kinematics";
      if (is_main && judged) by_oracle(seed, e, row, exact, single);
      if (!is_main && all_ && solvable && small && !chosen_by_rounding(row.name))
        by_text(seed, e, row, single, !of_definite_matrices(row.name) || definite_in_float);
    }
    for (const CheckedKernel& c : e.checks()) {
      {
        std::lock_guard lock(report_.mutex);
        RowResult& r = report_.rows[{c.op, c.precision}];
        r.made++, r.refused += !c.result.passed;
      }
      if (c.result.passed) continue;
      report_.refused++;
      report_.line("seed " + std::to_string(seed) + " " + c.op + " " + word(c.precision) +
                   " kernel refused: " + c.result.words());
    }
  }

 private:
  void fail(unsigned seed, const OpRow& row, Precision p, const std::string& what) {
    report_.failures++;
    report_.line("seed " + std::to_string(seed) + " " + std::string(row.name) + " " + word(p) + " FAILS: " + what);
  }
  void record(const OpRow& row, Precision p, const Errors& kernel, const Errors& text, bool failed) {
    std::lock_guard lock(report_.mutex);
    RowResult& r = report_.rows[{std::string(row.name), p}];
    r.runs++, r.failures += failed;
    if (!failed) r.kernel.take(kernel), r.text.take(text);
  }

  // By the dense oracle: as accurate as the text on the robot as it was built, within a factor of 30, or to 1e-11 (float 2e-5) of
  // the largest number and 1e-9 of each joint's own. The text itself fails by 1e-11 of the largest (solutions: 1e-9),
  // and what turns of 1e-14 make of the weight and inertia of the robot.
  void by_oracle(unsigned seed, Evaluator& e, const OpRow& row, const std::vector<Exact>& exact,
                 const Model<float>& single) {
    SampledRow inputs;
    for (const auto& a : row.in) {
      auto& array = inputs.in.emplace_back(a.components, Numbers1(states));
      for (int i = 0; i < states; i++)
        for (int c = 0; c < a.components; c++) array[c][i] = exact[i].array(a.name, row.name == "aba_f_ext")[c];
    }
    for (Precision p : {Precision::float64, Precision::float32}) {
      SampledArrays found;
      try {
        found = run_evaluator(e, row, p, 0, inputs);
      } catch (const std::exception& why) {
        fail(seed, row, p, why.what());
        continue;
      }
      const bool dbl = p == Precision::float64;
      const SampledArrays text = dbl ? run_text(row, e.robot().model, 0, inputs) : run_text(row, single, 0, inputs);
      Errors kernel, by_text;
      for (int i = 0; i < states; i++) {
        exact[i].judge(std::string(row.name), instance(found[0], i), kernel);
        exact[i].judge(std::string(row.name), instance(text[0], i), by_text);
      }
      const double all = (dbl ? 1e-11 : 2e-5) + 30 * by_text.all, joint = (dbl ? 1e-9 : 2e-3) + 30 * by_text.joint;
      double cleaned = 0;
      for (const Exact& x : exact) cleaned = std::max(cleaned, x.cleaned);
      const bool textual = dbl && by_text.all > (accelerates(row.name) ? 1e-9 : 1e-11) + cleaned;
      const bool failed = !(kernel.all <= all) || !(kernel.joint <= joint) || textual;
      char words[300];
      std::snprintf(words, sizeof words,
                    "%.1e of its size, expected at most %.1e; %.1e of a joint's own, expected at most %.1e%s",
                    kernel.all, all, kernel.joint, joint, textual ? "; the text itself is wrong" : "");
      if (failed) fail(seed, row, p, words);
      record(row, p, kernel, by_text, failed);
    }
  }

  // By the text in double: as near as the text in double comes to itself where its inputs and the robot are off by a few
  // roundings (float: as the text in float comes from the same), or to 1e-9 (float 2e-5) of the largest number. States in which
  // that is much of the result say nothing. As four neighbours now and then show a hundredth of what rounding does, in one state
  // a result may be off by 64 times as much. Of a matrix that is not definite in float, roots of pivots may be no numbers.
  void by_text(unsigned seed, Evaluator& e, const OpRow& row, const Model<float>& single, bool in_float) {
    const Robot& robot = e.robot();
    const int frame = robot.model.nf - 1;
    const SampledRow inputs = sample_row(row, robot, text_states, seed + 2);
    const SampledArrays exact = run_text(row, robot.model, frame, inputs);
    Random random(seed);
    std::vector<SampledArrays> beside, rounded{run_text(row, single, frame, inputs)};
    for (int k = 0; k < neighbours; k++) {
      beside.push_back(
          run_text(row, off(robot.model, double_rounding, random), frame, off(row, inputs, double_rounding, random)));
      rounded.push_back(run_text(row, cast<float>(off(robot.model, float_rounding, random)), frame,
                                 off(row, inputs, float_rounding, random)));
    }
    for (Precision p : {Precision::float64, Precision::float32}) {
      if (p == Precision::float32 && !in_float) continue;
      SampledArrays found;
      try {
        found = run_evaluator(e, row, p, frame, inputs);
      } catch (const std::exception& why) {
        fail(seed, row, p, why.what());
        continue;
      }
      const bool dbl = p == Precision::float64;
      Errors kernel, allowed;
      std::string failed;
      int exceeded = 0;
      for (int i = 0; i < text_states; i++) {
        double all = 1e-300;
        for (std::size_t k = 0; k < exact.size(); k++) all = std::max(all, largest(instance(exact[k], i)));
        for (std::size_t k = 0; k < exact.size(); k++) {
          const bool remains =
              row.out[k].name == "violation" || row.out[k].name == "missing" || row.out[k].name == "residual";
          const double size = remains ? all : std::max(largest(instance(exact[k], i)), 1e-7 * all);
          double sensitivity = 0;
          for (const SampledArrays& near : beside)
            sensitivity =
                std::max(sensitivity, farthest(exact[k], near[k], i) * (dbl ? 1 : float_rounding / double_rounding));
          for (const SampledArrays& near : rounded)
            sensitivity =
                std::max(sensitivity, std::min(farthest(exact[k], near[k], i), size) * (dbl ? double_from_float : 1));
          const double of_inverse = row.out[k].name == "by_tau" ? rounding_of_inverse(row, robot.model, inputs, i) : 0;
          const double remainder =
              (dbl ? 1 : 1 / double_from_float) * (nothing(robot.model) + of_inverse) + (dbl ? 1e-14 : 1e-6) * all;
          const double unclear = (dbl ? 1e-3 : 0.02) * size;
          if (!(size > vanished) || !std::isfinite(size) || size > flown ||
              !(std::max(sensitivity, remainder) < unclear)) {
            report_.unclear++;
            continue;
          }
          report_.clear++;
          const double rounding = remainder / size + (dbl ? 1e-9 : 2e-5);
          const double error = farthest(exact[k], found[k], i) / size, bound = 64 * sensitivity / size + rounding;
          kernel.all = std::max(kernel.all, error), allowed.all = std::max(allowed.all, bound);
          if (error <= bound) continue;
          exceeded++;
          if (error <= 64 * 64 * sensitivity / size + rounding && exceeded == 1) continue;
          char words[200];
          std::snprintf(words, sizeof words, " of state %d is off by %.1e of its size %.1e, expected at most %.1e", i,
                        error, size, bound);
          failed = std::string(row.out[k].name) + words;
        }
      }
      if (!failed.empty()) fail(seed, row, p, failed);
      record(row, p, kernel, allowed, !failed.empty());
    }
  }

  Report& report_;
  bool all_;
};

int usage() {
  std::fprintf(stderr, "usage: adversarial FIRST COUNT [--rows all|main] [--seconds N] [--jobs N]\n");
  return 2;
}

void print(const Report& r, double seconds) {
  std::printf("\n%-34s %-8s %6s %6s %7s %10s %10s %10s %10s\n", "row", "", "robots", "made", "refused", "error",
              "by joint", "text", "by joint");
  long made = 0;
  for (const auto& [key, row] : r.rows) {
    made += row.made;
    std::printf("%-34s %-8s %6ld %6ld %7ld %10.1e %10.1e %10.1e %10.1e\n", key.first.c_str(), word(key.second),
                row.runs, row.made, row.refused, row.kernel.all, row.kernel.joint, row.text.all, row.text.joint);
  }
  if (r.clear > 0)
    std::printf("%ld outputs compared with the text, %ld too close to rounding\n", r.clear.load(), r.unclear.load());
  std::printf(
      "%ld robots in %.0f s, %ld of them with a singular inertia matrix; %ld kernels made, %ld refused by their own check, "
      "%ld too large; %ld failures\n",
      r.robots.load(), seconds, r.singular.load(), made, r.refused.load(), r.unassembled.load(), r.failures.load());
}

int main(int argc, char** argv) {
  if (argc < 3) return usage();
  const unsigned first = std::strtoul(argv[1], nullptr, 10), count = std::strtoul(argv[2], nullptr, 10);
  bool all = false;
  double most = 1e9;
  int jobs = 1;
  for (int k = 3; k < argc; k += 2) {
    if (k + 1 == argc) return usage();
    const std::string_view option = argv[k];
    if (option == "--rows") all = std::string_view(argv[k + 1]) == "all";
    else if (option == "--seconds") most = std::atof(argv[k + 1]);
    else if (option == "--jobs") jobs = std::max(1, std::atoi(argv[k + 1]));
    else return usage();
  }
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  Report report;
  std::atomic<unsigned> next{0};
  const auto work = [&] {
    for (unsigned k; (k = next++) < count && seconds() < most;) Robots(report, all).run(first + k);
  };
  std::vector<std::thread> others;
  for (int k = 1; k < jobs; k++) others.emplace_back(work);
  work();
  for (std::thread& t : others) t.join();
  print(report, seconds());
  return report.failures > 0 || report.robots == 0;
}

}  // namespace
}  // namespace featherstorm::testing

int main(int argc, char** argv) { return featherstorm::testing::main(argc, argv); }
