// What long straight-line code costs: the same kernel by how many warps are on a multiprocessor and how far they drift
// apart.
#pragma once
#include <sstream>

#include "core/emit/emit.h"
#include "core/program/order.h"
#include "host/load/load.h"
#include "tests/gpu/bench/workshop.h"
#include "tests/gpu/timing/bench_report.h"
#include "tests/gpu/timing/device_batch.h"
#include "tests/gpu/timing/options.h"

namespace featherstorm::testing {

// A barrier after each `distance` statements. All threads of the launch must have an instance.
inline std::string with_barriers(const std::string& text, int distance) {
  std::istringstream lines(text);
  std::string s;
  int statements = 0, barriers = 0;
  for (std::string line; std::getline(lines, line);) {
    s += line + "\n";
    if (line.starts_with("    const T ") && ++statements % distance == 0) s += "    __syncthreads();\n", barriers++;
  }
  if (barriers == 0) throw std::runtime_error("the text has no place for barriers");
  return s;
}

class CodeProbe {
 public:
  CodeProbe(const std::string& robot, const std::string& row, const Robot& r, const std::vector<int>& most_warps,
            Workshop& shop)
      : name_("instruction cache/" + robot + "/" + row) {
    row_ = shop.give([row, &r] { return std::make_shared<const RowCase>(row, r.model, 64); });
    for (int warps : most_warps)
      for (bool barriers : {false, true})
        codes_[{warps, barriers}] = shop.give([made = row_, warps, barriers, target = device_target()] {
          const Program& p = made.get()->program;
          std::string text = emit(p, greedy_order(p), Cuda{false, 32 * warps, 0});
          if (barriers) text = with_barriers(text, 64);
          return std::make_shared<const DeviceCode>(nvrtc().compile(text, target));
        });
  }
  // A kernel for blocks of so many warps, with the least room for registers that it needs.
  const GpuProgram& kernel(int warps, bool barriers, int* code) {
    const auto made = codes_.lower_bound({warps, barriers});
    for (auto k = made; k != codes_.end(); ++k) {
      if (k->first.first < warps || k->first.second != barriers) continue;
      std::unique_ptr<GpuProgram>& p = programs_[k->first];
      if (!p) p = std::make_unique<GpuProgram>(k->second.get()->image);
      *code = k->second.get()->cost.code;
      return *p;
    }
    throw std::runtime_error("no kernel for blocks of " + std::to_string(warps) + " warps");
  }
  const RowCase& row() const { return *row_.get(); }
  const std::string& name() const { return name_; }

  // A job for `count` instances, a multiple of a block.
  struct Job {
    const GpuProgram* program;
    std::shared_ptr<DeviceBatch<float>> batch;
    long count;
    int threads, code;
    void operator()(void* stream) const {
      program->launch(batch->in(), batch->out(), batch->uniform(), 1, count, threads, stream);
    }
  };
  Job job(long blocks, int warps, bool barriers, void* stream) {
    Job j{nullptr, nullptr, 32L * warps * blocks, 32 * warps, 0};
    j.program = &kernel(warps, barriers, &j.code);
    j.batch = std::make_shared<DeviceBatch<float>>(row(), j.count, stream);
    return j;
  }

 private:
  std::string name_;
  std::shared_future<std::shared_ptr<const RowCase>> row_;
  std::map<std::pair<int, bool>, std::shared_future<std::shared_ptr<const DeviceCode>>> codes_;
  std::map<std::pair<int, bool>, std::unique_ptr<GpuProgram>> programs_;
};

inline void probe_code(const Options& o, Report& report, Budget& budget, void* stream, Stopwatch& watch) {
  std::vector<std::pair<std::string, std::string>> wanted = {
      {"go2", "fd"}, {"g1", "rnea"}, {"atlas", "fd"}, {"g1", "step"}};
  if (o.quick) wanted = {{"iiwa14", "rnea"}};
  std::erase_if(wanted, [&](const auto& w) { return !o.wants(w.first, w.second); });
  if (wanted.empty()) return;
  const std::pair<std::string, std::string> between =
      o.quick ? wanted[0] : std::pair<std::string, std::string>{"atlas", "step"};
  std::map<std::string, Robot> robots;
  for (const auto& [robot, row] : wanted) robots.try_emplace(robot, load(robot));
  robots.try_emplace(between.first, load(between.first));
  const std::vector<int> most_warps = o.quick ? std::vector<int>{8} : std::vector<int>{8, 16};
  Workshop shop(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::unique_ptr<CodeProbe>> probes;
  for (const auto& [robot, row] : wanted)
    probes.push_back(std::make_unique<CodeProbe>(robot, row, robots.at(robot), most_warps, shop));
  CodeProbe other(between.first, between.second, robots.at(between.first), {8}, shop);
  const Repetitions repetitions;
  const long multiprocessors = device_info().multiprocessors;

  for (const auto& p : probes) {
    // `before`: work that stands before each launch and whose own time is taken away
    const auto line = [&](const std::string& how, long blocks, int warps, bool barriers, const CodeProbe::Job* before) {
      const std::string what = p->name() + "/" + how + (barriers ? "/barriers" : "/no barriers");
      if (!budget.fits(0.3, what)) return;
      report.attempt(what, [&] {
        const CodeProbe::Job job = p->job(blocks, warps, barriers, stream);
        ReportRow r;
        r.what = what, r.kernel = job.program->info, r.code = job.code, r.instances = job.count;
        job.batch->poison();
        job(stream);
        bool right = false;
        r.error = job.batch->error(job.batch->results(), &right);
        r.result = right && job.batch->repeats(repetitions) ? "same" : "DIFFERENT";
        if (before) {
          (*before)(stream);
          const Time both = watch.in_graph([&](void* s) { (*before)(s), job(s); }), alone = watch.in_graph(*before);
          r.time = both;
          r.time.median -= alone.median, r.time.least = both.least - alone.median,
                                         r.time.most = both.most - alone.median;
        } else {
          r.time = watch.in_graph(job);
        }
        r.figure = r.time.median * 1e6, r.unit = "us a launch";
        report.row(r);
      });
    };
    for (int warps : o.quick ? std::vector<int>{1, 2} : std::vector<int>{1, 2, 4, 8, 16})
      for (bool barriers : {false, true})
        line(std::to_string(warps) + " warps a multiprocessor", multiprocessors, warps, barriers, nullptr);
    for (int warps : o.quick ? std::vector<int>{1} : std::vector<int>{1, 4})
      report.attempt(p->name() + "/cold", [&] {
        const CodeProbe::Job before = other.job(multiprocessors, 1, false, stream);
        line(std::to_string(warps) + " warps a multiprocessor, cold", multiprocessors, warps, false, &before);
      });
    const long instances = o.quick ? 512 : 1L << 18;
    for (int warps : {2, 8})
      for (bool barriers : {false, true})
        line("full machine, blocks of " + std::to_string(warps) + " warps", instances / 32 / warps, warps, barriers,
             nullptr);
  }
}

}  // namespace featherstorm::testing
