// Control steps a second of whole rollouts, a step with contacts, and how long one call of an operation takes, a line
// each (bench_report.h); answers are compared with the host's.
//
//   latency/...   calls of the engine on few instances: in a graph, on a stream, and until the host knows that it is
//   done rollout/...   step and cost over T steps, controls drawn in the kernel or given contacts/...  one step of a
//   quadruped with four feet, by its own kernel and by the one for any robot
//   world/...     one step of a model file's world, its contacts found on the device
//
//   gpu_rollouts [--only ROBOT[/ROW]] [--seconds N]     ROW: latency, rollout, contacts or world
//   gpu_rollouts quick         small, for a test without a GPU
//   gpu_rollouts compile 90    makes all kernels for compute capability 9.0 and keeps them in the cache on disk; needs
//   no device
#include "host/compile/dispatch.h"
#include "host/engine/cuda_rows.h"
#include "host/load/load.h"
#include "tests/gpu/bench/any_robot.h"
#include "tests/gpu/bench/forms.h"
#include "tests/gpu/bench/timed_rollout.h"
#include "tests/gpu/timing/options.h"
#include "tests/gpu/timing/world_steps.h"
#include "tests/support/robots/small_world.h"

namespace featherstorm::testing {
namespace {

void notice(const std::string& what) { std::fprintf(stderr, "%s\n", what.c_str()); }

// All kernels, made in the background in the order of their use. The engine finds them in the cache on disk.
struct Kernels {
  DeviceCompiler compiler{notice};
  std::map<std::string, Robot> robots;
  Robot feet;
  std::vector<std::pair<std::pair<std::string, std::string>, std::shared_future<int>>> latency;  // of a robot and row
  std::optional<Forms> contacts;
  std::vector<std::pair<std::string, std::shared_future<std::shared_ptr<const TimedRobot>>>> rollouts;
  Workshop shop{static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))};  // ends before what it works on

  Kernels(const Options& o, int capability) {
    if (!compiler.missing().empty()) throw std::runtime_error(compiler.missing());
    const std::vector<std::string> names =
        o.quick ? std::vector<std::string>{"iiwa14"} : std::vector<std::string>{"go2", "g1", "iiwa14"};
    for (const std::string& name : names) robots.emplace(name, load(name));
    for (const std::string& name : names)
      for (const char* row : {"rnea", "fd", "step"})
        if (o.wants(name, "latency") && !(o.quick && row != std::string("rnea")))
          latency.push_back(
              {{name, row}, shop.give([=, this] { return engine_kernels(robots.at(name), row, capability); })});
    if (o.wants("go2", "contacts")) {
      std::vector<ContactSpec> c;
      for (const char* foot : {"FL_foot", "FR_foot", "RL_foot", "RR_foot"})
        c.push_back(on_ground(foot, {0, 0, 0}, 0.022, 0.6));
      feet = load("go2", {.contacts = c});
      // the fake CUDA library takes long for a text of this size
      const FormsOptions options = o.quick ? FormsOptions{{"trace"}, {}, {}, {32}}
                                           : FormsOptions{{"trace", "greedy", "sethi_ullman"}, {}, {}, {32, 64}};
      contacts.emplace("contact_step", feet, false, capability, o.quick ? 16 : 128, options, compiler, shop);
    }
    for (const std::string& name : names)
      if (o.wants(name, "rollout"))
        rollouts.push_back({name, shop.give([=, this] {
                              auto robot = std::make_shared<TimedRobot>(robots.at(name));
                              for (From from : {From::noise, From::components})
                                compiler.kernel(robot->texts(from), capability);
                              return std::shared_ptr<const TimedRobot>(std::move(robot));
                            })});
  }
  // Those that CudaRows::specialise makes; their number.
  int engine_kernels(const Robot& robot, const std::string& row, int capability) {
    const Program p = specialised_program(operation_of(row, robot.model), robot.model);
    const Bodies bodies = bodies_of(p, robot.model);
    const Dispatch dispatch = Dispatch::standard();
    const DispatchCall call{robot.name, row, Precision::float32, capability};
    int n = 0;
    for (const DispatchRow* choice : dispatch.forms(call))
      compiler.kernel(p, false, capability, {choice->order, choice->blocks, choice->warps}, &bodies), n++;
    return n;
  }
};

int compile(const Options& o) {
  if (o.words.size() != 2) throw std::runtime_error("expected compile CAPABILITY, such as 90");
  Kernels kernels(o, std::stoi(o.words[1]));
  for (const auto& [what, made] : kernels.latency)
    std::printf("%s/%s: %d kernels\n", what.first.c_str(), what.second.c_str(), made.get());
  if (kernels.contacts) std::printf("contacts: %d kernels\n", kernels.contacts->compiled());
  for (const auto& [name, made] : kernels.rollouts) made.get(), std::printf("rollout/%s: 2 kernels\n", name.c_str());
  return 0;
}

struct Rollouts {
  const Options& o;
  Report report;
  Budget budget;
  DeviceStream stream{0};
  Stopwatch watch;
  Repetitions repetitions;
  explicit Rollouts(const Options& o)
      : o(o), budget(o.seconds), watch(stream.get(), o.quick ? TimingOptions::quick() : TimingOptions{}) {}

  // The median of launches that are waited for one by one, in the host's time.
  Time waited(const Stopwatch::Work& launch) {
    std::vector<double> s;
    for (int n = 0; n < (o.quick ? 3 : 501); n++) {
      const auto start = std::chrono::steady_clock::now();
      launch(stream.get());
      synchronise(0, stream.get());
      s.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(s.begin(), s.end());
    return {s[s.size() / 2], s.front(), s.back(), 1};
  }

  void latency(const std::string& name, const Robot& robot, const std::string& row_name) {
    const std::string what = "latency/" + name + "/" + row_name + "/float32/engine";
    if (!budget.fits(3, what)) return;
    report.attempt(what, [&] {
      const RowCase data(row_name, robot.model, o.quick ? 20 : 256);
      OpRow row{};
      row.index = data.operation.op, row.name = row_name, row.derivative = data.operation.derivative;
      for (const auto& a : data.in) (a.uniform ? row.uniforms : row.in).push_back({a.name, a.size});
      for (const auto& a : data.out) row.out.push_back({a.name, a.size});
      EngineRobot shared(robot, {.notice = notice});
      CudaRows engine(shared);
      engine.specialise({row, Precision::float32, 0, 0});
      RunOptions options;
      for (const auto& u : data.uniform) options.uniforms.insert(options.uniforms.end(), u.begin(), u.end());
      for (long count : {16, 256}) {
        const DeviceBatch<float> batch(data, count, stream.get());
        std::vector<ArrayRef> in, out;
        for (const Buffer& b : batch.inputs()) in.push_back(b.ref());
        for (const Buffer& b : batch.outputs()) out.push_back(b.ref());
        const auto call = [&](void* s) {
          options.stream = s;
          engine.run({row, in, out, options});
        };
        ReportRow r;
        r.unit = "us a call";
        const auto line = [&](const char* how) {
          r.what = what + "/" + how + "/B=" + std::to_string(count), r.figure = r.time.median * 1e6;
          report.row(r);
        };
        check_and_time(r, batch, repetitions, watch, stream.get(), call), line("in a graph");
        r.time = watch.on_stream(call), line("on a stream");
        r.time = waited(call), line("until the host knows");
      }
    });
  }

  void rollout(const std::string& name, const TimedRobot& robot, From from, long steps, long count) {
    const std::string what =
        "rollout/" + name + "/float32/" + name_of(from) + "/T=" + std::to_string(steps) + "/B=" + std::to_string(count);
    if (!budget.fits(0.7, what)) return;
    report.attempt(what, [&] {
      const TimedRollout job(robot, from, steps, count, stream.get());
      const auto run = [&](void* s) { job.run(s); };
      run(stream.get());
      bool right = false;
      ReportRow r;
      r.what = what, r.instances = static_cast<double>(count), r.bytes = job.bytes();
      r.error = job.error(&right);
      const std::vector<float> before = job.results();
      r.time = watch.in_graph(run);
      right = right && same_bits<float>({job.results()}, {before});
      r.result = right ? "same" : "DIFFERENT";
      r.figure = count * steps / r.time.median, r.unit = "control steps/s";
      report.row(r);
    });
  }

  void contacts(const Robot& robot, Forms& forms) {
    const std::string what = "contacts/go2 with 4 feet/contact_step/float32/";
    const std::vector<long> counts = o.quick ? std::vector<long>{35} : std::vector<long>{1024, 4096, 16384, 65536};
    report.attempt(what, [&] {
      if (!forms.ready(budget.left())) return budget.leave_out(what, "its kernels are still being made");
      const RowCase& row = forms.row();
      const auto line = [&](const std::string& form, long count, const std::function<void(ReportRow&)>& measure) {
        ReportRow r;
        r.what = what + form + "/B=" + std::to_string(count);
        if (!budget.fits(1, r.what)) return;
        report.attempt(r.what, [&] {
          measure(r);
          r.figure = count / r.time.median, r.unit = "control steps/s";
          report.row(r);
        });
      };
      for (const Form& f : forms.loaded([&](const std::string& why) { report.failed(what, why); }))
        for (long count : counts)
          line("own kernel/" + f.name(), count, [&](ReportRow& r) {
            const DeviceBatch<float> batch(row, count, stream.get());
            r.kernel = f.program->info, r.code = f.kernel->cost.code, r.bytes = 4.0 * row.numbers_moved;
            check_and_time(r, batch, repetitions, watch, stream.get(), [&](void* s) {
              f.program->launch(batch.in(), batch.out(), batch.uniform(), 1, count, f.threads, s);
            });
          });
      const DeviceModel model(robot.model);
      for (long count : counts)
        line("any robot/-", count, [&](ReportRow& r) {
          time_any_robot<float>(r, model, row.operation.op, 0, row, count, repetitions, watch, stream.get());
        });
    });
  }

  // Quadrupeds among their own limbs and on the ground, or in quick form an arm.
  void world(const std::string& name, const Robot& robot) {
    for (long count : o.quick ? std::vector<long>{67} : std::vector<long>{1024, 4096, 16384, 65536}) {
      const std::string what = "world/" + name + "/float32/step/B=" + std::to_string(count);
      if (!budget.fits(2, what)) return;
      report.attempt(what, [&] {
        WorldSteps steps(robot, Precision::float32, 1, count, stream.get());
        const auto run = [&](void* s) { steps.run(s); };
        run(stream.get());
        ReportRow r;
        r.what = what, r.instances = static_cast<double>(count);
        const std::vector<double> before = steps.results();
        r.error = steps.error();
        r.time = watch.in_graph(run);
        r.result = r.error < 5e-3 && steps.results() == before ? "same" : "DIFFERENT";
        r.figure = static_cast<double>(count) / r.time.median, r.unit = "control steps/s";
        report.row(r);
        std::fprintf(stderr, "%s: %.1f rows with a force, mean\n", what.c_str(), steps.mean_rows());
      });
    }
  }

  int all() {
    report.head();
    const std::string world_name = o.quick ? "small" : "go2";
    const Robot world_robot = o.quick ? with_geoms(small_world()) : with_touching_world(load("go2"));
    Kernels kernels(o, device_capability());
    const auto world_kernels = kernels.shop.give([&] {
      if (!o.wants("go2", "world")) return 0;
      const DeviceStream own(0);
      const WorldSteps steps(world_robot, Precision::float32, 1, 1, own.get());
      steps.run(own.get());
      synchronise(0, own.get());
      return 1;
    });
    for (const auto& [what, made] : kernels.latency) {
      const auto& [name, row] = what;
      if (made_in_time(made, "latency/" + name + "/" + row)) latency(name, kernels.robots.at(name), row);
    }
    if (kernels.contacts) contacts(kernels.feet, *kernels.contacts);
    for (const auto& [name, made] : kernels.rollouts) {
      if (!made_in_time(made, "rollout/" + name)) continue;
      const TimedRobot& robot = *made.get();
      for (long steps : o.quick ? std::vector<long>{5} : std::vector<long>{20, 100})
        for (From from : {From::noise, From::components, From::rows})
          for (long count : o.quick ? std::vector<long>{67} : std::vector<long>{1024, 4096, 16384, 65536})
            rollout(name, robot, from, steps, count);
    }
    if (o.wants("go2", "world") && made_in_time(world_kernels, "world/" + world_name)) world(world_name, world_robot);
    const int status = report.end(budget);
    // what is still being compiled for cases that were left out is not waited for
    if (budget.left_out()) std::_Exit(status);
    return status;
  }
  // Waits for a kernel as long as there is time; tells where there is none, or it cannot be made.
  template <class T>
  bool made_in_time(const std::shared_future<T>& made, const std::string& what) {
    if (made.wait_for(std::chrono::duration<double>(std::clamp(budget.left(), 0.0, 1e6))) != std::future_status::ready)
      return budget.leave_out(what, "its kernels are still being made"), false;
    return report.attempt(what, [&] { made.get(); });
  }
};

}  // namespace
}  // namespace featherstorm::testing

int main(int argc, char** argv) try {
  const featherstorm::testing::Options options(argc, argv);
  if (options.has("compile")) return featherstorm::testing::compile(options);
  return featherstorm::testing::Rollouts(options).all();
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
