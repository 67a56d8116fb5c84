// Robots that nobody built against their oracles: what a user gets from an Evaluator, in both precisions.
//
//   adversarial FIRST COUNT [--rows all|main] [--seconds N] [--jobs N]
//
// Robots of the seeds FIRST .. FIRST + COUNT - 1 (tests/support/adversarial_robot.h). Forces, the inertia matrix, forward
// dynamics, frames and energy are compared with the dense oracle (tests/support/dense.h), of robots with more than 12 freedoms
// the first few of these rows; all other rows, of robots with fewer and with --rows all, with their texts in double on the robot
// as it was built. Accelerations are judged by the forces that they stand for. Forces and inertias are judged twice: by the
// largest number of the array, and joint by joint, each by what its own inertia M_ii makes of the motion, so that a light limb
// on a heavy robot counts as much as the robot; not where M is singular and some joint has nothing of its own.
// Prints every failure, every kernel that its own check refused, and the worst error of each row. Ends with 1 where one failed.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "host/evaluator.h"
#include "tests/support/adversarial_robot.h"
#include "tests/support/dense.h"
#include "tests/support/op_reference.h"
#include "tests/support/tolerance.h"

namespace featherstorm::testing {
namespace {

using dense::MatrixX;
using dense::VectorX;
using Numbers1 = std::vector<double>;

constexpr int states = 4, text_states = 8, freedoms_of_all_rows = 12;
// Of tasks that depend on each other rounding chooses the one that is left out; of steps the one that is refused.
bool chosen_by_rounding(std::string_view row) { return row == "operational_space" || row == "dormand_prince"; }
constexpr double flown = 1e9;  // of numbers of what has flown apart
constexpr double double_rounding = 0x1p-44;  // a few
constexpr double turned_away = 1e-14;  // `rounding` of core/joint_axes.cpp, of two joints
constexpr double lost = 1e-10;  // of a robot's size: what rounding leaves of the inertia of points on an axis
constexpr double singular = 1e10;  // condition of M with unit diagonal: beyond it accelerations say nothing

// Errors in units of the largest number of the array, and of what each joint's own inertia lets expect.
struct Errors {
  double all = 0, joint = 0;
  void take(const Errors& e) { all = std::max(all, e.all), joint = std::max(joint, e.joint); }
};
struct RowResult {
  long runs = 0, failures = 0, made = 0, refused = 0;
  Errors kernel, text;  // of runs that did not fail
};

struct Report {
  std::mutex mutex;
  std::map<std::pair<std::string, Precision>, RowResult> rows;
  std::atomic<long> robots{0}, unbuilt{0}, singular{0}, failures{0}, refused{0}, unassembled{0};
  void line(const std::string& text) {
    std::lock_guard lock(mutex);
    std::printf("%s\n", text.c_str());
    std::fflush(stdout);
  }
};

const char* word(Precision p) { return p == Precision::float64 ? "float64" : "float32"; }

template <class Real>
SampledArrays run_text(const OpRow& row, const Model<Real>& m, int frame, const SampledRow& inputs) {
  const std::size_t count = inputs.in[0][0].size();
  SampledArrays found;
  for (const auto& a : row.out) found.emplace_back(a.components, Numbers1(count));
  for (std::size_t i = 0; i < count; i++) {
    std::vector<std::vector<Real>> in, uniforms, out;
    for (const auto& array : inputs.in) {
      auto& x = in.emplace_back();
      for (const auto& component : array) x.push_back(static_cast<Real>(component[i]));
    }
    std::size_t at = 0;
    for (const auto& u : row.uniforms) {
      uniforms.emplace_back(inputs.uniforms.begin() + at, inputs.uniforms.begin() + at + u.components);
      at += u.components;
    }
    for (const auto& a : row.out) out.emplace_back(a.components);
    std::vector<const Real*> pi, pu;
    std::vector<Real*> po;
    for (auto& x : in) pi.push_back(x.data());
    for (auto& x : uniforms) pu.push_back(x.data());
    for (auto& x : out) po.push_back(x.data());
    run_row(row.index, m, frame, pi.data(), pu.data(), po.data());
    for (std::size_t k = 0; k < out.size(); k++)
      for (std::size_t c = 0; c < out[k].size(); c++) found[k][c][i] = out[k][c];
  }
  return found;
}

template <class Real> void copy(const Buffer& b, Numbers1& component, long c, bool in) {
  for (std::size_t i = 0; i < component.size(); i++)
    if (in) b.component<Real>(c)[i] = static_cast<Real>(component[i]);
    else component[i] = b.component<Real>(c)[i];
}

SampledArrays run_evaluator(Evaluator& e, const OpRow& row, Precision precision, int frame, SampledRow inputs) {
  const long count = static_cast<long>(inputs.in[0][0].size());
  std::vector<ArrayRef> in, out;
  std::vector<Buffer> buffers;
  const auto exchange = [&](const Buffer& b, std::vector<Numbers1>& array, bool given) {
    for (std::size_t c = 0; c < array.size(); c++)
      precision == Precision::float64 ? copy<double>(b, array[c], c, given) : copy<float>(b, array[c], c, given);
  };
  for (auto& array : inputs.in) {
    const Buffer& b = buffers.emplace_back(precision, count, static_cast<long>(array.size()));
    exchange(b, array, true);
    in.push_back(b.ref());
  }
  SampledArrays found;
  for (const auto& a : row.out) out.push_back(buffers.emplace_back(precision, count, a.components).ref());
  e.run(row.name, in, out, {inputs.uniforms, row.uses_frame ? frame : 0});
  for (std::size_t k = 0; k < out.size(); k++) {
    found.emplace_back(row.out[k].components, Numbers1(count));
    exchange(buffers[inputs.in.size() + k], found[k], false);
  }
  return found;
}

// One robot in one state, with what the oracle says of it.
struct Exact {
  Exact(const RobotSpec& spec, const Robot& robot, const dense::Tree& tree, unsigned seed)
      : spec(spec), robot(robot), tree(tree), s(adversarial_state(robot.model, seed)), M(tree.crba(s.q)) {
    const int n = tree.nv;
    const Numbers1 rest(n, 0.0);
    const VectorX d = M.diagonal().cwiseMax(0).cwiseSqrt();
    MatrixX unit = M;
    double motion = 0, mass = 0, speed = 0, length = 0;
    for (double x : s.v) speed = std::max(speed, std::abs(x));
    for (int i = 0; i < n; i++) {
      motion = std::max(motion, d(i) * (std::abs(s.a[i]) + n * speed * std::abs(s.v[i])));
      for (int k = 0; k < n; k++) unit(i, k) = d(i) * d(k) > 0 ? M(i, k) / (d(i) * d(k)) : i == k;
    }
    const VectorX e = Eigen::SelfAdjointEigenSolver<MatrixX>(unit, Eigen::EigenvaluesOnly).eigenvalues();
    solvable = d.minCoeff() > lost * d.maxCoeff() && e(0) > e(n - 1) / singular;
    for (const dense::Node& node : tree.node) mass += node.mass, length += node.joint.X.r.norm() + node.com.norm();
    moves = d.squaredNorm() > lost * mass * length * length;
    force = d * (motion + std::sqrt(mass) * tree.gravity.norm());
    root = d;
    cleaned = turned_away * tree.gravity.norm() * mass * length / std::max(force.maxCoeff(), 1e-300);
    const VectorX tau = tree.rnea(s.q, s.v, s.a, {}), pushed = tree.rnea(s.q, s.v, s.a, s.f_ext);
    s.tau.assign(tau.begin(), tau.end());
    tau_pushed.assign(pushed.begin(), pushed.end());
    push = (pushed - tau).cwiseAbs();
  }

  const Numbers1& array(std::string_view name, bool with_forces) const {
    if (name == "q") return s.q;
    if (name == "v") return s.v;
    if (name == "a" || name == "x") return s.a;
    if (name == "tau") return with_forces ? tau_pushed : s.tau;
    return s.f_ext;
  }

  // How far an output is off in this state; false where the oracle does not know the row.
  bool judge(const std::string& row, const Numbers1& y, Errors& e) const {
    const Numbers1 zero(tree.nv, 0.0), none;
    const VectorX pushed = force + VectorX::Constant(tree.nv, push.maxCoeff());
    const auto forces = [&](const VectorX& expected, VectorX scale) {
      scale = scale.cwiseMax(1e-300);
      const VectorX d = (Eigen::Map<const VectorX>(y.data(), tree.nv) - expected).cwiseAbs();
      e.take(ratio(d, scale));
      return true;
    };
    const auto accelerations = [&](const Numbers1& tau, const Numbers1& f, const VectorX& scale) {
      const VectorX d = (tree.rnea(s.q, s.v, y, f) - Eigen::Map<const VectorX>(tau.data(), tree.nv)).cwiseAbs();
      e.take(ratio(d, scale.cwiseMax(1e-300)));
      return true;
    };
    if (row == "rnea") return forces(tree.rnea(s.q, s.v, s.a, none), force);
    if (row == "rnea_forces") return forces(tree.rnea(s.q, s.v, s.a, s.f_ext), pushed);
    if (row == "bias") return forces(tree.rnea(s.q, s.v, zero, none), force);
    if (row == "gravity") return forces(tree.rnea(s.q, zero, zero, none), force);
    if (row == "id_delta") return forces(M * Eigen::Map<const VectorX>(s.a.data(), tree.nv), force);
    if (row == "fd" || row == "aba") return accelerations(s.tau, none, force);
    if (row == "aba_forces") return accelerations(tau_pushed, s.f_ext, pushed);
    if (row == "crba") return inertia(y, e);
    if (row == "forward_kinematics") return frames(y, e);
    if (row == "energy") {
      const double T = tree.kinetic_energy(s.q, s.v), V = tree.potential_energy(s.q);
      double size = std::abs(T);
      const dense::Pose p = tree.pose(s.q, zero);
      for (std::size_t i = 0; i < tree.node.size(); i++)
        size += tree.node[i].mass * tree.gravity.norm() * (p.T[i] * tree.node[i].com.homogeneous()).head<3>().norm();
      e.take(worst(std::max(std::abs(y[0] - T), std::abs(y[1] - V)) / std::max(size, 1e-300)));
      return true;
    }
    return false;
  }

  static Errors worst(double x) { return {x >= 0 ? x : HUGE_VAL, 0}; }  // NaN
  Errors ratio(const VectorX& d, const VectorX& scale) const {
    Errors e;
    for (int i = 0; i < d.size(); i++) {
      const double x = d(i) >= 0 ? d(i) : HUGE_VAL;
      e.take({x / scale.maxCoeff(), solvable ? x / scale(i) : 0});
    }
    return e;
  }
  bool inertia(const Numbers1& y, Errors& e) const {
    const Model<double>& m = robot.model;
    const double size = M.cwiseAbs().maxCoeff();
    for (int i = 0; i < m.nv; i++)
      for (int j = i; j >= 0; j = m.dof_parent[j]) {
        const double d = std::abs(y[m.at(i, j)] - M(i, j)), x = d >= 0 ? d : HUGE_VAL;
        e.take({x / size, solvable ? x / (root(i) * root(j)) : 0});
      }
    return true;
  }
  bool frames(const Numbers1& y, Errors& e) const {
    const dense::Pose p = tree.pose(s.q, Numbers1(tree.nv, 0.0));
    double reach = 1e-300;
    for (const auto& T : p.T) reach = std::max(reach, T.topRightCorner<3, 1>().norm());
    for (int f = 0; f < robot.model.nf; f++) {
      dense::Matrix4 X = dense::Matrix4::Identity();
      std::string link = robot.frame_names[f];
      for (const FrameSpec& given : spec.frames)
        if (given.name == link) link = given.link, X.topLeftCorner<3, 3>() = given.X.R, X.topRightCorner<3, 1>() = given.X.r;
      for (std::size_t i = 0; i < tree.node.size(); i++) {
        if (tree.node[i].name != link) continue;
        const dense::Matrix4 T = p.T[i] * X;
        for (int r = 0; r < 3; r++) {
          e.take(worst(std::abs(y[12 * f + r] - T(r, 3)) / std::max(reach, T.topRightCorner<3, 1>().norm())));
          for (int c = 0; c < 3; c++) e.take(worst(std::abs(y[12 * f + 3 + 3 * r + c] - T(r, c))));
        }
      }
    }
    return true;
  }

  const RobotSpec& spec;
  const Robot& robot;
  const dense::Tree& tree;
  State s;
  MatrixX M;
  VectorX force, root, push;
  double cleaned;  // what the robot's weight makes of turns that building takes for none, of the largest force
  Numbers1 tau_pushed;
  bool solvable, moves;  // M is far from singular; some joint has more inertia than rounding leaves of a point on its axis
};

bool accelerates(std::string_view row) { return row == "fd" || row == "aba" || row == "aba_forces"; }
// By the oracle; of robots with more freedoms only the first.
constexpr int first_main_rows = 5;
const std::vector<std::string> main_rows = {"rnea", "crba", "fd",   "forward_kinematics", "energy",    "rnea_forces",
                                            "bias", "gravity", "id_delta", "aba", "aba_forces"};

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
    bool solvable = true, moves = true;
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
        by_text(seed, e, row, single);
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
  // and what turns of 1e-14 make of the robot's weight.
  void by_oracle(unsigned seed, Evaluator& e, const OpRow& row, const std::vector<Exact>& exact, const Model<float>& single) {
    SampledRow inputs;
    for (const auto& a : row.in) {
      auto& array = inputs.in.emplace_back(a.components, Numbers1(states));
      for (int i = 0; i < states; i++)
        for (int c = 0; c < a.components; c++)
          array[c][i] = exact[i].array(a.name, row.name == "aba_forces")[c];
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
                    "%.1e of its size, expected at most %.1e; %.1e of a joint's own, expected at most %.1e%s", kernel.all, all,
                    kernel.joint, joint, textual ? "; the text itself is wrong" : "");
      if (failed) fail(seed, row, p, words);
      record(row, p, kernel, by_text, failed);
    }
  }

  // By the text in double: as near as the text in double comes to itself where its inputs and the robot are off by a few
  // roundings (float: as the text in float comes), or to 1e-9 (float 2e-5) of the largest number. States in which that is much of
  // the result say nothing.
  void by_text(unsigned seed, Evaluator& e, const OpRow& row, const Model<float>& single) {
    const Robot& robot = e.robot();
    const int frame = robot.model.nf - 1;
    const SampledRow inputs = sample_row(row, robot, text_states, seed + 2);
    const SampledArrays exact = run_text(row, robot.model, frame, inputs), rounded = run_text(row, single, frame, inputs);
    Random random(seed);
    const auto off = [&](double x) { return x * (1 + double_rounding * random.uniform(-1, 1)); };
    SampledRow near = inputs;
    for (auto& array : near.in)
      for (auto& component : array)
        for (double& x : component) x = off(x);
    Model<double> other = robot.model;
    for (Body<double>& b : other.body) {
      b.I.m = off(b.I.m);
      for (int k = 0; k < 3; k++) b.I.h(k) = off(b.I.h(k)), b.X_T.r(k) = off(b.X_T.r(k));
      for (double* x : {&b.I.I.xx, &b.I.I.xy, &b.I.I.xz, &b.I.I.yy, &b.I.I.yz, &b.I.I.zz}) *x = off(*x);
      b.second_moments = second_moments(b.I.I);
    }
    const SampledArrays beside = run_text(row, other, frame, near);
    for (Precision p : {Precision::float64, Precision::float32}) {
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
      for (int i = 0; i < text_states; i++) {
        double all = 1e-300;
        for (std::size_t k = 0; k < exact.size(); k++) all = std::max(all, largest(instance(exact[k], i)));
        for (std::size_t k = 0; k < exact.size(); k++) {
          const bool remains = row.out[k].name == "violation" || row.out[k].name == "missing" || row.out[k].name == "residual";
          const double size = remains ? all : std::max(largest(instance(exact[k], i)), 1e-7 * all);
          double sensitivity = farthest(exact[k], beside[k], i) * (dbl ? 1 : 0x1p20);
          if (!dbl) sensitivity = std::max(sensitivity, farthest(exact[k], rounded[k], i));
          if (!(size > 0) || !std::isfinite(size) || size > flown || !(sensitivity < (dbl ? 1e-3 : 0.02) * size)) continue;
          const double rounding = (dbl ? 1 : 0x1p29) * nothing(robot.model) + (dbl ? 1e-14 : 1e-6) * all;
          const double error = farthest(exact[k], found[k], i) / size;
          const double bound = (64 * sensitivity + rounding) / size + (dbl ? 1e-9 : 2e-5);
          kernel.all = std::max(kernel.all, error), allowed.all = std::max(allowed.all, bound);
          if (error <= bound) continue;
          char words[200];
          std::snprintf(words, sizeof words, " of state %d is off by %.1e of its size %.1e, expected at most %.1e", i, error, size,
                        bound);
          failed = std::string(row.out[k].name) + words;
        }
      }
      if (!failed.empty()) fail(seed, row, p, failed);
      record(row, p, kernel, allowed, !failed.empty());
    }
  }

  static double farthest(const std::vector<Numbers1>& a, const std::vector<Numbers1>& b, std::size_t i) {
    double d = 0;
    for (std::size_t c = 0; c < a.size(); c++) {
      const double x = std::abs(a[c][i] - b[c][i]);
      d = x <= d ? d : std::isfinite(x) ? x : HUGE_VAL;
    }
    return d;
  }

  // A force that is nothing beside the robot's weight on its full length.
  static double nothing(const Model<double>& m) {
    std::vector<double> reach(m.nb + 1);
    double mass = 0, length = 0;
    for (int i = 1; i <= m.nb; i++) {
      reach[i] = reach[m.body[i].parent] + m.body[i].X_T.r.norm();
      length = std::max(length, reach[i]), mass += m.body[i].I.m;
    }
    return 10 * mass * length * std::numeric_limits<double>::epsilon();
  }

  Report& report_;
  bool all_;
};

int usage() {
  std::fprintf(stderr, "usage: adversarial FIRST COUNT [--rows all|main] [--seconds N] [--jobs N]\n");
  return 2;
}

void print(const Report& r, double seconds) {
  std::printf("\n%-34s %-8s %6s %6s %7s %10s %10s %10s %10s\n", "row", "", "robots", "made", "refused", "error", "by joint",
              "text", "by joint");
  long made = 0;
  for (const auto& [key, row] : r.rows) {
    made += row.made;
    std::printf("%-34s %-8s %6ld %6ld %7ld %10.1e %10.1e %10.1e %10.1e\n", key.first.c_str(), word(key.second), row.runs, row.made,
                row.refused, row.kernel.all, row.kernel.joint, row.text.all, row.text.joint);
  }
  std::printf("%ld robots in %.0f s, %ld of them with a singular inertia matrix; %ld kernels made, %ld refused by their own check, "
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
