// What derivatives and parameters cost, in times of the operation itself, as tables in Markdown.
//
//   bench_costs [--instances=1024] [ROBOT...]     default: iiwa14 go2 atlas
//
// Before anything is timed: a vector-Jacobian product in double must be that of central differences of the run-time-model
// kernels along a random path, y_bar . dy = x_bar . dx, and kernels with the robot's own numbers as parameters must
// give the answers of the run-time-model kernels, which have them as constants. Then one repetition of each follows one of
// another; medians of the thread's processor time.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>

#include "bench/case.h"
#include "host/load/load.h"
#include "host/trace/parameters.h"

using namespace featherstorm;

namespace {

constexpr int repetitions = 15;
constexpr double repetition = 0.01;  // s
constexpr double goal_vjp = 2.1, goal_parameters = 1.2;

// An operation with arrays of its own.
struct Run {
  Run(Evaluator& e, std::string name, Precision p, long instances) : evaluator(&e), op(std::move(name)) {
    const OpRow& row = e.op(op);
    for (const auto& a : row.in) in.push_back(buffers.emplace_back(p, instances, a.components).ref());
    for (const auto& a : row.out) out.push_back(buffers.emplace_back(p, instances, a.components).ref());
  }
  void operator()() { evaluator->run(op, in, out, options); }
  Evaluator* evaluator;
  std::string op;
  std::vector<Buffer> buffers;
  std::vector<ArrayRef> in, out;
  RunOptions options;
};

void copy(const ArrayRef& from, const ArrayRef& to) {
  for (long i = 0; i < to.instances; i++)
    for (long c = 0; c < to.components; c++) set(to, i, c, get(from, i, c));
}
void randomise(const ArrayRef& a, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (long i = 0; i < a.instances; i++)
    for (long c = 0; c < a.components; c++) set(a, i, c, uniform(random));
}

double seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Nanoseconds per instance of each, in turn.
std::vector<double> times(const std::vector<Run*>& runs, long instances) {
  std::vector<std::vector<double>> samples(runs.size());
  for (int r = 0; r < repetitions; r++)
    for (std::size_t k = 0; k < runs.size(); k++) {
      const std::size_t at = (k + static_cast<std::size_t>(r)) % runs.size();
      (*runs[at])();
      const double start = seconds();
      double now = start;
      long passes = 0;
      for (; now < start + repetition; now = seconds()) (*runs[at])(), passes++;
      samples[at].push_back((now - start) * 1e9 / static_cast<double>(passes * instances));
    }
  std::vector<double> medians;
  for (auto& s : samples) {
    std::nth_element(s.begin(), s.begin() + repetitions / 2, s.end());
    medians.push_back(s[repetitions / 2]);
  }
  return medians;
}

// The inputs of an operation on a path x(h): q (+) h xi, all others x + h d.
void along(Evaluator& run_time, const Case& c, double h, Run& r) {
  const OpRow& row = run_time.op(c.op);
  for (std::size_t k = 0; k < c.in.size(); k++) {
    if (row.in[k].name == "q") {
      Run step(run_time, "integrate", Precision::float64, c.instances);
      copy(c.in[k], step.in[0]), randomise(step.in[1], 7);
      step.options.uniforms = {h};
      step();
      copy(step.out[0], r.in[k]);
    } else {
      randomise(r.in[k], 11 + static_cast<unsigned>(k));
      for (long i = 0; i < c.instances; i++)
        for (long e = 0; e < r.in[k].components; e++) set(r.in[k], i, e, get(c.in[k], i, e) + h * get(r.in[k], i, e));
    }
  }
}

// y_bar . (y+ - y-) - x_bar . (x+ - x-), the largest over instances, relative to the sum of the products' sizes.
double error_of_vjp(Evaluator& run_time, Evaluator& assembled, const std::string& op) {
  const long instances = 64;
  const double h = 1e-6;
  Case c(run_time, op, Precision::float64, instances);
  Run vjp(assembled, op + "_vjp", Precision::float64, instances), plus(run_time, op, Precision::float64, instances),
      minus(run_time, op, Precision::float64, instances);
  vjp.options = plus.options = minus.options = c.options;
  for (std::size_t k = 0; k < c.in.size(); k++) copy(c.in[k], vjp.in[k]);
  for (std::size_t k = c.in.size(); k < vjp.in.size(); k++) randomise(vjp.in[k], 3);
  along(run_time, c, h, plus), along(run_time, c, -h, minus);
  vjp(), plus(), minus();
  double worst = 0;
  for (long i = 0; i < instances; i++) {
    double sum = 0, size = 0;
    auto add = [&](const ArrayRef& bar, const ArrayRef& up, const ArrayRef& down, double sign) {
      for (long e = 0; e < up.components; e++) {
        const double x = get(bar, i, e) * (get(up, i, e) - get(down, i, e)) / (2 * h);
        sum += sign * x, size += std::fabs(x);
      }
    };
    for (std::size_t k = 0; k < c.out.size(); k++) add(vjp.in[c.in.size() + k], plus.out[k], minus.out[k], 1);
    for (std::size_t k = 0; k < c.in.size(); k++) add(vjp.out[k], plus.in[k], minus.in[k], -1);
    const double error = std::fabs(sum) / size;
    worst = error <= worst ? worst : error;
  }
  return worst;
}

EvaluatorOptions one_thread(bool assemble, std::vector<std::string> parameters = {}) {
  EvaluatorOptions options;
  options.threads = 1, options.assemble = assemble, options.parameters = std::move(parameters);
  return options;
}

[[noreturn]] void wrong(const std::string& robot, const std::string& what, double error) {
  std::fprintf(stderr, "%s: %s is wrong by %.1e\n", robot.c_str(), what.c_str(), error);
  std::exit(1);
}

const char* verdict(double ratio, double goal) { return ratio <= goal ? "met" : "missed"; }

void derivatives(const std::vector<std::string>& robots, long instances) {
  std::printf(
      "| robot | operation | ns | vjp, ns | over the operation | goal | error of vjp in double |\n|---|---|---|---|---|---|---|\n");
  for (const std::string& name : robots) {
    const Robot robot = load(name);
    Evaluator run_time(robot, one_thread(false)), assembled(robot, one_thread(true));
    for (const std::string op : {"rnea", "fd", "step"}) {
      const double error = error_of_vjp(run_time, assembled, op);
      if (!(error < 1e-5)) wrong(name, op + "_vjp", error);
      Case c(run_time, op, Precision::float32, instances);
      Run itself(assembled, op, Precision::float32, instances),
          vjp(assembled, op + "_vjp", Precision::float32, instances);
      itself.options = vjp.options = c.options;
      for (std::size_t k = 0; k < c.in.size(); k++) copy(c.in[k], itself.in[k]), copy(c.in[k], vjp.in[k]);
      for (std::size_t k = c.in.size(); k < vjp.in.size(); k++) randomise(vjp.in[k], 3);
      const std::vector<double> t = times({&itself, &vjp}, instances);
      const double ratio = t[1] / t[0];
      std::printf("| %s | %s | %.1f | %.1f | %.2f |", name.c_str(), op.c_str(), t[0], t[1], ratio);
      if (op == "fd") std::printf(" %.1f: %s |", goal_vjp, verdict(ratio, goal_vjp));
      else std::printf(" - |");
      std::printf(" %.0e |\n", error);
      std::fflush(stdout);
    }
  }
}

void parameters(const std::vector<std::string>& robots, long instances) {
  const std::vector<std::vector<std::string>> sets = {
      {}, {"gravity"}, {"mass"}, {"mass", "com", "inertia"}, {"friction", "armature"}};
  std::printf("\n| robot | operation | parameters | ns | over constants | goal |\n|---|---|---|---|---|---|\n");
  for (const std::string& name : robots) {
    const Robot robot = load(name);
    Evaluator run_time(robot, one_thread(false));
    for (const std::string op : {"fd", "step"}) {
      Case c(run_time, op, Precision::float32, instances);
      std::vector<Evaluator> evaluators;
      for (const auto& set : sets) evaluators.emplace_back(robot, one_thread(true, set));
      std::vector<Run> runs;
      for (Evaluator& e : evaluators) {
        Run& r = runs.emplace_back(e, op, Precision::float32, instances);
        r.options = c.options;
        for (std::size_t k = 0; k < c.in.size(); k++) copy(c.in[k], r.in[k]);
        for (std::size_t k = c.in.size(); k < r.in.size(); k++) {
          const std::vector<double> own = parameter_values(robot, e.op(op).in[k].name);
          for (long i = 0; i < instances; i++)
            for (long x = 0; x < r.in[k].components; x++) set(r.in[k], i, x, own[static_cast<std::size_t>(x)]);
        }
        r();
        for (std::size_t k = 0; k < c.out.size(); k++) copy(r.out[k], c.out[k]);
        if (const double error = c.error().relative; !(error < 1e-4)) wrong(name, op + " with parameters", error);
      }
      std::vector<Run*> all;
      for (Run& r : runs) all.push_back(&r);
      const std::vector<double> t = times(all, instances);
      for (std::size_t k = 0; k < sets.size(); k++) {
        std::string label;
        for (const std::string& p : sets[k]) label += (label.empty() ? "" : ", ") + p;
        const double ratio = t[k] / t[0];
        std::printf("| %s | %s | %s | %.1f | ", name.c_str(), op.c_str(), k == 0 ? "none" : label.c_str(), t[k]);
        if (k == 0) std::printf("1 | - |\n");
        else std::printf("%.2f | %.1f: %s |\n", ratio, goal_parameters, verdict(ratio, goal_parameters));
      }
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  long instances = 1024;
  std::vector<std::string> robots;
  for (int k = 1; k < argc; k++) {
    if (std::strncmp(argv[k], "--instances=", 12) == 0) instances = std::atol(argv[k] + 12);
    else robots.push_back(argv[k]);
  }
  if (robots.empty()) robots = {"iiwa14", "go2", "atlas"};
  std::printf("float32, %ld instances a call, one thread, kernels assembled; medians of %d repetitions. Build: %s\n\n",
              instances, repetitions, FEATHERSTORM_BUILD);
  derivatives(robots, instances);
  parameters(robots, instances);
}
