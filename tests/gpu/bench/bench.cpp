// Times of the kernels that serve any robot, a line each (bench_report.h): answers are compared with the host's in
// double and before and after.
//
//   gpu_bench [all] [--only ROBOT[/ROW]] [--seconds N]     rows of the engine; all: those of the books too
//   gpu_bench quick     small, for a test without a GPU
#include "host/load/load.h"
#include "tests/gpu/bench/any_robot.h"
#include "tests/gpu/timing/options.h"
#include "tests/gpu/timing/row_case.h"
#include "tests/support/oracles/op_cases.h"

namespace featherstorm::testing {
namespace {

template <class Op>
RowData data_of(const Model<double>& m, int frame, int instances) {
  RowData d;
  d.instances = instances;
  for (const OpArray& a : Op::info.in) d.in.push_back({std::string(a.name), size_of(m, a.shape), false});
  for (const OpArray& a : Op::info.uniform) d.in.push_back({std::string(a.name), size_of(m, a.shape), true});
  for (const OpArray& a : Op::info.out) d.out.push_back({std::string(a.name), size_of(m, a.shape), false});
  d.uniform = op_uniforms<Op>(m);
  for (int i = 0; i < instances; i++) {
    d.inputs.push_back(op_inputs<Op>(m, 1000 + i));
    for (auto& a : d.inputs.back())
      for (double& x : a) x = static_cast<float>(x);
  }
  const Model<float> rounded = cast<float>(m);
  d.expect([&](const Arrays<double>& x) { return run_on_host<Op, double>(m, x, d.uniform, frame); },
           [&](const Arrays<double>& x) { return run_on_host<Op, float>(rounded, x, d.uniform, frame); });
  return d;
}

struct Bench {
  Report report;
  Budget budget;
  DeviceStream stream{0};
  Stopwatch watch;
  Repetitions repetitions;
  double seconds = 0.3;  // that the last case took

  explicit Bench(const Options& o)
      : budget(o.seconds), watch(stream.get(), o.quick ? TimingOptions::quick() : TimingOptions{}) {}

  template <class Real>
  void time(const std::string& name, const DeviceModel& model, int op, int frame, const RowData& data, long count) {
    ReportRow r;
    r.what = name + (sizeof(Real) == 8 ? "/float64" : "/float32") + "/any robot/-/B=" + std::to_string(count);
    if (!budget.fits(2 * seconds, r.what)) return;
    const double began = budget.used();
    report.attempt(r.what, [&] {
      time_any_robot<Real>(r, model, op, frame, data, count, repetitions, watch, stream.get());
      report.row(r);
    });
    seconds = budget.used() - began;
  }
};

int run(const Options& o) {
  Bench bench(o);
  bench.report.head();
  for (const std::string robot : {"go2", "g1", "iiwa14", "atlas"}) {
    if (o.quick && robot != "go2" && robot != "iiwa14") continue;
    if (!o.robot.empty() && o.robot != robot) continue;
    const Robot r = load(robot);
    const Model<double>& m = r.model;
    const DeviceModel model(m);
    for_every_op([&](auto row, int op) {
      using Op = decltype(row);
      const std::string name(Op::info.name);
      if (!info_of(op).common && !o.has("all")) return;
      if (!on_device<Op>(m) || !o.wants(robot, name)) return;
      const int frame = farthest_frame(m);
      bench.report.attempt(robot + "/" + name, [&] {
        const RowData data = data_of<Op>(m, frame, o.quick ? 20 : distinct);
        for (long count : o.quick ? std::vector<long>{67} : std::vector<long>{1, 256, 4096, 65536})
          bench.time<float>(robot + "/" + name, model, op, frame, data, count);
        bench.time<double>(robot + "/" + name, model, op, frame, data, o.quick ? 33 : 4096);
      });
    });
  }
  return bench.report.end(bench.budget);
}

}  // namespace
}  // namespace featherstorm::testing

int main(int argc, char** argv) try {
  return featherstorm::testing::run(featherstorm::testing::Options(argc, argv));
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
