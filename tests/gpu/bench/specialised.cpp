// Times of the kernels made for one robot in the forms that compete (order of statements, limit on registers, instances
// in a block, warps for 32 instances), a line each (bench_report.h): answers are compared with the host's in double and
// before and after. The fastest become rows of the dispatch table.
//
//   gpu_specialised [ROWS.csv] [--only ROBOT[/ROW]] [--seconds N]   ROWS.csv: is written, for tests/gpu/adopt
//   gpu_specialised quick [ROWS.csv]   small, for a test without a GPU
//   gpu_specialised plan               what would be timed, and about how long it takes; needs no device
//   gpu_specialised compile 90         makes all kernels for compute capability 9.0 and keeps them in the cache on
//   disk, so
//                                      that they need not be made where they are timed; needs no device
#include <ctime>

#include "host/load/load.h"
#include "tests/gpu/bench/dispatch_rows.h"
#include "tests/gpu/bench/forms.h"
#include "tests/gpu/timing/checked_time.h"
#include "tests/gpu/timing/machine.h"
#include "tests/gpu/timing/options.h"

namespace featherstorm::testing {
namespace {

using Sizes = std::vector<long>;

// A row of one robot in one precision: what is timed first, and the sizes between.
struct Case {
  std::string robot, row;
  bool double_precision;
  FormsOptions options;
  Sizes first, grid;
  std::shared_ptr<Forms> forms{};
  std::map<std::string, double> behind{};  // of each form, how far it was behind the fastest where it did best

  std::string name() const { return robot + "/" + row + (double_precision ? "/float64" : "/float32"); }
};

// What is worth most comes first.
std::vector<Case> cases(const Options& o) {
  const FormsOptions all, few = FormsOptions::few();
  const Sizes first = {4096, 65536, 1 << 20};
  // 32, 96 and 129 instances a multiprocessor of an H100, where the table by count changes, among powers of two
  const Sizes grid = {16, 256, 1024, 4224, 8192, 12672, 16384, 17028, 32768, 262144};
  const std::vector<const char*> robots = {"go2", "g1", "iiwa14", "atlas"};
  std::vector<Case> list;
  if (o.quick) {
    const FormsOptions quick = FormsOptions::quick();
    list = {{"iiwa14", "fd", false, quick, {67, 1037}, {16}},
            {"go2", "rnea", false, quick, {67}, {}},
            {"iiwa14", "fd_vjp", false, quick, {67}, {}},
            {"iiwa14", "rnea", true, quick, {33}, {}}};
  } else {
    for (const char* row : {"fd", "step", "rnea", "crba"})
      for (const char* robot : robots) list.push_back({robot, row, false, all, first, grid});
    for (const char* row : {"fd_vjp", "aba", "jacobian", "forward_kinematics"})
      for (const char* robot : robots) list.push_back({robot, row, false, few, {256, 4096, 65536, 1 << 20}, {}});
    for (const char* robot : robots) list.push_back({robot, "fd", true, few, {4096, 65536}, {}});
  }
  std::erase_if(list, [&](const Case& c) { return !o.wants(c.robot, c.row); });
  if (list.empty()) throw std::runtime_error("--only fits no case");
  return list;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[20];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

struct Bench {
  const Options& options;
  Report report;
  Budget budget;
  DeviceStream stream{0};
  Stopwatch watch;
  Machine best;
  Repetitions repetitions;
  DispatchRows rows;
  double form_seconds = 0.12;  // that a form and size took so far, with its checks
  long timed = 0;
  std::map<std::string, double> medians;  // ns of the fastest form, by case and size

  Bench(const Options& o, const std::string& path)
      : options(o),
        budget(o.seconds),
        watch(stream.get(), o.quick ? TimingOptions::quick() : TimingOptions{}),
        best(machine(watch, stream.get(), o.quick)),
        rows(path, "# Measured by gpu_specialised on " + std::string(device_info().name) + ", " + today() + ".\n") {}

  template <class Real>
  void run(Case& c, long count, bool choose);
  void attempt(Case& c, long count, bool choose) {
    const std::string what = c.name() + "/B=" + std::to_string(count);
    if (!budget.fits(form_seconds * (choose ? 5 : c.options.most()), what)) return;
    if (!c.forms->ready(budget.left())) return budget.leave_out(what, "its kernels are still being made");
    report.attempt(what, [&] {
      if (c.double_precision) run<double>(c, count, choose);
      else run<float>(c, count, choose);
    });
  }
  // A vector-Jacobian product beside the operation itself.
  void ratio(const Case& c, long count) {
    if (!c.row.ends_with("_vjp")) return;
    const std::string size = "/B=" + std::to_string(count);
    Case primal{c.robot, c.row.substr(0, c.row.size() - 4), c.double_precision, {}, {}, {}};
    const auto mine = medians.find(c.name() + size), other = medians.find(primal.name() + size);
    if (mine == medians.end() || other == medians.end()) return;
    std::printf("# %s%s takes %.2f times %s (goal: 2.1)\n", c.name().c_str(), size.c_str(),
                mine->second / other->second, primal.row.c_str());
    std::fflush(stdout);
  }
};

template <class Real>
void Bench::run(Case& c, long count, bool choose) {
  const RowCase& row = c.forms->row();
  const std::vector<Form>& forms = c.forms->loaded([&](const std::string& why) { report.failed(c.name(), why); });
  const auto began = budget.used();
  const DeviceBatch<Real> batch(row, count, stream.get());
  const double bytes = double(sizeof(Real)) * row.numbers_moved;
  std::vector<DispatchRows::Measured> measured;
  int tried = 0;
  for (const Form& f : forms) {
    if (choose && c.behind[f.name()] > 1.1) continue;
    tried++;
    ReportRow r;
    r.what = c.name() + "/own kernel/" + f.name() + "/B=" + std::to_string(count);
    report.attempt(r.what, [&] {
      const auto launch = [&](void* s) {
        f.program->launch(batch.in(), batch.out(), batch.uniform(), 1, count * f.form.warps, f.threads * f.form.warps,
                          s);
      };
      check_and_time(r, batch, repetitions, watch, stream.get(), launch);
      r.kernel = f.program->info, r.code = f.kernel->cost.code, r.bytes = bytes;
      r.in_cache = bytes * count <= best.cache;
      r.ceiling = best.least_seconds(bytes * count, f.kernel->cost.instructions * ((count + 31) / 32.0), r.time);
      report.row(r);
      if (r.result == "same") measured.push_back({f, r.time.median});
      else rows.different(r.what);
    });
  }
  const CudaDevice d = device_info();
  rows.add(c.robot, c.row, c.double_precision ? "float64" : "float32", device_capability(), count, d.multiprocessors,
           measured);
  double fastest = HUGE_VAL, one_warp = HUGE_VAL, several = HUGE_VAL;
  for (const auto& m : measured) {
    fastest = std::min(fastest, m.seconds);
    double& kind = m.form.form.warps > 1 ? several : one_warp;
    kind = std::min(kind, m.seconds);
  }
  for (const auto& m : measured) {
    // the best with one warp and with several are kept, for which of them wins is what sizes decide
    const double behind = m.seconds / (m.form.form.warps > 1 ? several : one_warp);
    const auto found = c.behind.find(m.form.name());
    if (found == c.behind.end() || !choose) {
      double& least = c.behind.insert({m.form.name(), behind}).first->second;
      least = std::min(least, behind);
    }
  }
  if (!measured.empty()) medians[c.name() + "/B=" + std::to_string(count)] = fastest / count * 1e9, ratio(c, count);
  if (tried > 0) form_seconds += ((budget.used() - began) / tried - form_seconds) / std::min(++timed, 10L);
}

int plan(std::vector<Case>& list) {
  int first = 0, between = 0, kernels = 0;
  for (const Case& c : list) {
    std::printf("%s: %d forms at %zu sizes, those within a tenth of the fastest at %zu more\n", c.name().c_str(),
                c.options.most(), c.first.size(), c.grid.size());
    first += c.options.most() * static_cast<int>(c.first.size()), between += 5 * static_cast<int>(c.grid.size());
    kernels += static_cast<int>(c.options.orders.size() + c.options.blocks.size() + c.options.warps.size());
  }
  std::printf("at most %d kernels; at most %d and about %d timings of 0.1 s: %.0f s\n", kernels, first, between,
              0.1 * (first + between));
  return 0;
}

int run(const Options& o) {
  std::vector<Case> list = cases(o);
  if (o.has("plan")) return plan(list);
  const bool only_compile = o.has("compile");
  if (only_compile && o.words.size() != 2) throw std::runtime_error("expected compile CAPABILITY, such as 90");
  const int capability = only_compile ? std::stoi(o.words[1]) : device_capability();
  std::map<std::string, Robot> robots;
  for (const Case& c : list)
    if (!robots.count(c.robot)) robots.emplace(c.robot, load(c.robot));
  DeviceCompiler compiler([](const std::string& notice) { std::fprintf(stderr, "%s\n", notice.c_str()); });
  if (!compiler.missing().empty()) throw std::runtime_error(compiler.missing());
  Workshop shop(std::max(1u, std::thread::hardware_concurrency()));
  for (Case& c : list)
    c.forms = std::make_shared<Forms>(c.row, robots.at(c.robot), c.double_precision, capability,
                                      o.quick ? 40 : distinct, c.options, compiler, shop);
  if (only_compile) {
    int n = 0;
    for (Case& c : list) {
      n += c.forms->compiled();
      std::printf("%s: %d kernels so far\n", c.name().c_str(), n), std::fflush(stdout);
    }
    return 0;
  }
  Bench bench(o, o.words.empty() ? "" : o.words[0]);
  bench.report.head();
  std::printf("# %s, %d multiprocessors: copies %.0f GB/s in memory, %.0f GB/s in the L2; memory clock %d MHz\n",
              device_info().name, device_info().multiprocessors, bench.best.memory_rate * 1e-9,
              bench.best.cache_rate * 1e-9, bench.watch.clocks().memory());
  for (Case& c : list)
    for (long count : c.first) bench.attempt(c, count, false);
  for (Case& c : list)
    for (long count : c.grid) bench.attempt(c, count, true);
  const int status = bench.report.end(bench.budget);
  // what is still being compiled for cases that were left out is not waited for
  if (bench.budget.left_out()) std::_Exit(status);
  return status;
}

}  // namespace
}  // namespace featherstorm::testing

int main(int argc, char** argv) try {
  return featherstorm::testing::run(featherstorm::testing::Options(argc, argv));
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
