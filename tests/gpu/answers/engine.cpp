// The engine's path to a GPU (host/engine/cuda_rows.h, Buffers, copies) against the reference in double: every
// operation, robot and precision, arrays by components and by instances, on the default stream and on one of its own;
// by the kernels for any robot, then by the robot's own, which NVRTC makes here: of the rows of the engine, of steps
// with contacts, loops and coupled joints, and of reverse derivatives. Own kernels run at batch sizes for which the
// dispatch table gives each number of warps that it has for the robot.
//
//   gpu_engine            all of it
//   gpu_engine quick      every row on a small robot, own kernels of an arm and a humanoid
#include <chrono>
#include <set>

#include "host/compile/dispatch.h"
#include "host/memory/device_graph.h"
#include "tests/gpu/answers/batch.h"
#include "tests/gpu/answers/engine_case.h"

namespace featherstorm::testing {
namespace {

constexpr int device = 0;
bool quick = false;
int own_kernels = 0, runs_with_warps = 0;
double own_seconds = 0, waited_seconds = 0;
Coverage coverage;

using Names = std::vector<std::string_view>;
bool has(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A robot and the kernels of its own that are made: some 60 s of NVRTC in all. Rows of the books take it up to minutes
// each, rows of go2 and of trees over all joint types a second each.
struct Plan {
  NamedRobot robot;
  enum class Rows {
    all,
    engine,
    own
  } rows;  // that the kernels for any robot serve; those with own kernels in any case
  Names own_float{}, own_double{};
  const Names& own(Precision p) const { return p == Precision::float32 ? own_float : own_double; }
};
using Rows = Plan::Rows;
const Names heavy{"rnea", "crba", "fd", "step"}, steps{"loop_step", "coupled_step"}, derivatives{"rnea_vjp", "fd_vjp"};
const Names positions{"forward_kinematics", "jacobian", "integrate", "difference", "momentum"};
Names operator+(Names a, const Names& b) { return a.insert(a.end(), b.begin(), b.end()), a; }
Names engine_rows() {
  Names names;
  for_every_op([&](auto row, int op) {
    if (info_of(op).common) names.push_back(decltype(row)::info.name);
  });
  return names;
}
std::vector<Plan> plans() {
  std::vector<Plan> all;
  if (quick) {
    for (NamedRobot& r : quick_robots()) {
      const bool coupled = r.only == Needs::coupling;
      all.push_back({std::move(r), Rows::all, coupled ? steps : Names{}});
    }
    all.push_back({named("iiwa14"), Rows::own, {"rnea", "fd", "step", "fd_vjp"}, {"rnea"}});
    all.push_back({named("humanoid"), Rows::own, {"rnea", "fd"}});
    return all;
  }
  for (NamedRobot& r : gpu_robots()) {
    const bool small = r.name == "all_joints_1";
    all.push_back({std::move(r), Rows::all, small ? heavy + positions : Names{}});
  }
  for (NamedRobot& r : constrained_robots()) all.push_back({std::move(r), Rows::all, steps, steps});
  all.push_back({named("iiwa14"), Rows::engine, engine_rows() + derivatives, heavy + derivatives});
  all.push_back({named("go2", go2_feet), Rows::engine, heavy + derivatives + Names{"aba", "contact_step"}});
  all.push_back({named("g1"), Rows::engine, {"rnea", "fd"}});
  return all;
}

CudaDevice this_device() {
  CudaDevice info;
  require(gpu().device_info(device, &info));
  return info;
}
// What the dispatch table says of a call; without instances, of the largest batches.
DispatchCall call_of(const NamedRobot& robot, const EngineCase& c, Precision p) {
  const CudaDevice info = this_device();
  return {robot.robot.name, c.row.name, p, 10 * info.major + info.minor};
}
const DispatchRow& choice(const Dispatch& table, const NamedRobot& robot, const EngineCase& c, Precision p, int count) {
  DispatchCall call = call_of(robot, c, p);
  call.per_multiprocessor = double(count) / this_device().multiprocessors;
  return table.choose(call);
}

template <class Real>
void check(CudaRows& e, const Plan& plan, const EngineCase& c, int count, const Layout& l, const std::string& kernel) {
  const std::string where = std::string(c.row.name) + "/" + plan.robot.name + "/" +
                            (sizeof(Real) == 4 ? "float" : "double") + "/" + kernel + "/" + l.name() +
                            "/B=" + std::to_string(count);
  tally().cases++;
  attempt(where, [&] {
    const double worst = error_of<Real>(e, c, device, count, l);
    if (worst > 1) failed(where, "error is " + std::to_string(worst) + " of the tolerance");
    else line("%s  error %.3f of the tolerance", where.c_str(), worst);
  });
}
void check(CudaRows& e, const Plan& plan, const EngineCase& c, Precision p, int count, const Layout& l,
           const std::string& kernel) {
  if (p == Precision::float32) check<float>(e, plan, c, count, l, kernel);
  else check<double>(e, plan, c, count, l, kernel);
}

// An own kernel that is wanted, and how long it took.
struct Job {
  const EngineCase* c;
  Precision p;
  double seconds = 0;
  std::string why_not{};
};
// What the engine told meanwhile: that the table's number of warps cannot be had, or that the cache cannot be written.
struct Told {
  std::mutex mutex;
  std::set<std::string> notices;
};
void make_kernels(CudaRows& e, const Plan& plan, std::vector<Job>& jobs, Told& told) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); };
  const auto begin = Clock::now();
  on_all_cores(static_cast<int>(jobs.size()), [&](int k) {
    Job& job = jobs[k];
    const auto start = Clock::now();
    try {
      e.specialise({job.c->row, job.p, job.c->operation.frame, device});
    } catch (const std::exception& error) { job.why_not = error.what(); }
    job.seconds = since(start);
  });
  waited_seconds += since(begin);
  for (const std::string& notice : told.notices) {
    if (notice.find("has no kernel of") != std::string::npos) failed(plan.robot.name, notice);
    else line("%s: %s", plan.robot.name.c_str(), notice.c_str());
  }
  for (const Job& job : jobs) {
    const std::string where = std::string(job.c->row.name) + "/" + plan.robot.name + "/" +
                              (job.p == Precision::float32 ? "float" : "double") + "/own-kernel";
    own_seconds += job.seconds, own_kernels++;
    if (job.why_not.empty()) line("%s  made in %.2f s", where.c_str(), job.seconds);
    else failed(where, job.why_not);
  }
}

void run_own(CudaRows& e, const Plan& plan, const Job& job, int count, void* stream) {
  const Dispatch table = Dispatch::standard();
  std::set<int> counts{count};
  for (const DispatchRow* form : table.forms(call_of(plan.robot, *job.c, job.p)))
    counts.insert(std::max<int>(count, form->per_multiprocessor * this_device().multiprocessors + 3));
  for (int n : counts) {
    const DispatchRow& row = choice(table, plan.robot, *job.c, job.p, n);
    const bool own = row.specialised || !job.c->any_robot;
    const std::string kernel = own ? "own-kernel-of-" + std::to_string(row.warps) + "-warps" : "any-robot-by-the-table";
    runs_with_warps += own && row.warps > 1;
    check(e, plan, *job.c, job.p, n, {false, stream}, kernel);
    if (n == count) check(e, plan, *job.c, job.p, n, {true, stream}, kernel);
  }
}

void run(const Plan& plan) {
  const Robot& robot = plan.robot.robot;
  const int count = quick ? 67 : 1027;
  const DeviceStream stream(device);
  std::vector<Layout> layouts;
  for (bool by_instances : {false, true})
    for (void* s : {static_cast<void*>(nullptr), stream.get()})
      if (!quick || by_instances == (s != nullptr)) layouts.push_back({by_instances, s});
  const auto wanted = [&](std::string_view name) { return has(plan.own_float, name) || has(plan.own_double, name); };

  std::vector<std::unique_ptr<EngineCase>> cases;  // that have own kernels, which know them by name
  Told told;
  EngineRobot shared(robot, {.notice = [&](const std::string& notice) {
                       std::lock_guard lock(told.mutex);
                       told.notices.insert(notice);
                     }});
  CudaRows e(shared);
  for_every_op([&](auto row, int op) {
    using Op = decltype(row);
    if (!takes_part<Op>(plan.robot)) return;
    attempt(std::string(Op::info.name) + "/" + plan.robot.name, [&] {
      const bool any = plan.rows == Rows::all || (plan.rows == Rows::engine && info_of(op).common);
      if (!any && !wanted(Op::info.name)) return;
      auto c = std::make_unique<EngineCase>(case_of<Op>(robot.model, op, count));
      for (const Layout& l : layouts)
        for (Precision p : {Precision::float32, Precision::float64}) check(e, plan, *c, p, count, l, "any-robot");
      coverage.ran(op);
      if (wanted(Op::info.name)) cases.push_back(std::move(c));
    });
    if constexpr (std::is_same_v<Op, OpRnea> || std::is_same_v<Op, OpFd>) {
      constexpr std::string_view name = std::is_same_v<Op, OpRnea> ? "rnea_vjp" : "fd_vjp";
      attempt(std::string(name) + "/" + plan.robot.name, [&] {
        if (wanted(name)) cases.push_back(std::make_unique<EngineCase>(vjp_of<Op>(robot.model, op, count, name)));
      });
    }
  });
  std::vector<Job> jobs;
  for (const auto& c : cases)
    for (Precision p : {Precision::float32, Precision::float64})
      if (has(plan.own(p), c->row.name)) jobs.push_back({c.get(), p});
  make_kernels(e, plan, jobs, told);
  for (const Job& job : jobs)
    if (job.why_not.empty())
      attempt(std::string(job.c->row.name) + "/" + plan.robot.name,
              [&] { run_own(e, plan, job, count, stream.get()); });
}

int run() {
  for (const Plan& plan : plans()) attempt(plan.robot.name, [&] { run(plan); });
  coverage.report();
  line("%d kernels made for robots in %.1f s, %.1f s of NVRTC and loading added over the cores", own_kernels,
       waited_seconds, own_seconds);
  line("%d runs of kernels of several warps", runs_with_warps);
  if (!own_kernels) failed("own-kernel", "none was made");
  if (!runs_with_warps) failed("own-kernel", "none of several warps ran");
  return finish("calls of the engine compared");
}

}  // namespace
}  // namespace featherstorm::testing

int main(int argc, char** argv) try {
  using namespace featherstorm::testing;
  quick = argc > 1 && std::string(argv[1]) == "quick";
  return run();
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
