// Times every operation of ops.h: op / robot / dtype / backend / path / B=batch [/ rows] [/ threads=0].
//
//   bench_ops                                                  the default choice, below
//   bench_ops --benchmark_filter='aba/.*/float/.*/B=4096$'      any others; --benchmark_list_tests names all
//
// Before and after the timing the answers are compared with those of the run-time-model kernels in double; a
// benchmark whose answers are wrong fails. Counters: per_instance, time per instance [s]; error, the larger of both
// comparisons (case.h).
#include <benchmark/benchmark.h>

#include <map>
#include <memory>

#include "bench/case.h"
#include "host/load/load.h"
#include "host/robots/robots.h"

namespace featherstorm {
namespace {

struct Axes {
  std::string op, robot;
  Precision precision;
  std::string isa;
  std::string path;  // "run-time", "assembled", "compiled"
  long batch;
  bool rows;    // arrays in row-major order, so that the engine transposes blocks of them
  int threads;  // 0: all cores
};

std::string name_of(const Axes& a) {
  return a.op + "/" + a.robot + (a.precision == Precision::float32 ? "/float/cpu-" : "/double/cpu-") + a.isa + "/" +
         a.path + "/B=" + std::to_string(a.batch) + (a.rows ? "/rows" : "") + (a.threads == 0 ? "/threads=0" : "");
}

const Robot& robot_of(const std::string& name) {
  static std::map<std::string, Robot> robots;
  const auto found = robots.find(name);
  return found != robots.end() ? found->second : robots.emplace(name, load(name)).first->second;
}

std::string last_notice;

// Evaluators are kept; those of the run-time path never specialise.
Evaluator& evaluator_of(const std::string& robot, const std::string& isa, const std::string& path, int threads) {
  static std::map<std::tuple<std::string, std::string, std::string, int>, std::unique_ptr<Evaluator>> all;
  auto& e = all[{robot, isa, path, threads}];
  if (!e) {
    EvaluatorOptions options;
    options.threads = threads, options.isa = isa, options.assemble = path == "assembled";
    options.notice = [](const std::string& text) { last_notice = text; };
    e = std::make_unique<Evaluator>(robot_of(robot), std::move(options));
  }
  return *e;
}

void run(benchmark::State& state, const Axes& a) {
  Evaluator& evaluator = evaluator_of(a.robot, a.isa, a.path, a.threads);
  Case c(evaluator_of(a.robot, a.isa, "run-time", 1), a.op, a.precision, a.batch, a.rows);
  if (a.path != "run-time" && !evaluator.specialise(a.op, a.precision, c.options.frame)) {
    state.SkipWithError(last_notice.c_str());
    return;
  }
  auto checked = [&] {
    c.run(evaluator, true);
    return c.error().largest;
  };
  // not a measure of accuracy (accuracy.cpp is): what no correct kernel exceeds
  const double tolerance = a.precision == Precision::float32 ? 1e-1 : 1e-8;
  double error = checked();
  for (auto _ : state) c.run(evaluator);
  error = std::max(error, c.error().largest);
  error = std::max(error, checked());
  state.counters["error"] = error;
  state.counters["per_instance"] = benchmark::Counter(static_cast<double>(state.iterations()) * a.batch,
                                                      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  if (!(error < tolerance)) state.SkipWithError("the answers differ from the run-time-model kernels in double");
}

void add(const Axes& a) {
  auto* b = benchmark::RegisterBenchmark(name_of(a).c_str(), [a](benchmark::State& state) { run(state, a); });
  b->Unit(benchmark::kMicrosecond);
  // processor time of one thread does not see what else the machine does; of several threads it is no measure
  if (a.threads == 0) b->UseRealTime();
}

void add_all() {
  const std::vector<std::string> isas = available_isas();
  for (const BuiltinRobot& robot : builtin_robots()) {
    const Evaluator& e = evaluator_of(std::string(robot.name), isas.front(), "run-time", 1);
    for (const OpRow& row : e.ops()) {
      if (!row.refused.empty()) continue;
      for (Precision precision : {Precision::float32, Precision::float64})
        for (const std::string& isa : isas)
          for (const char* path : {"run-time", "assembled", "compiled"})
            for (long batch : {1L, 16L, 256L, 4096L, 65536L})
              for (bool rows : {false, true})
                for (int threads : {1, 0})
                  add({std::string(row.name), std::string(robot.name), precision, isa, path, batch, rows, threads});
    }
  }
}

}  // namespace
}  // namespace featherstorm

int main(int argc, char** argv) {
  using namespace featherstorm;
  const std::string widest = available_isas().front();
  // what the user gives comes later and wins
  std::vector<std::string> defaults = {
      "--benchmark_filter=/(iiwa14|go2|atlas)/(float|double)/cpu-" + widest + "/[a-z-]*/B=4096$",
      "--benchmark_min_time=0.05", "--benchmark_repetitions=7", "--benchmark_report_aggregates_only=true"};
  std::vector<char*> arguments(argv, argv + argc);
  for (std::string& d : defaults) arguments.insert(arguments.begin() + 1, d.data());
  int count = static_cast<int>(arguments.size());
  add_all();
  benchmark::AddCustomContext("featherstorm_build", FEATHERSTORM_BUILD);
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
