// Every call of the engine survives every allocation that fails.
//
//   out_of_memory [GROWTH] [NAME]
//
// Calls of the list below are repeated with an allocation that fails, the first one, then the second one, and so on until a
// call succeeds: once alone, and once with all that follow it. Each failure must be std::bad_alloc, or a file that cannot
// be read; the same call must then succeed, with the bits of a call that never failed; and when all objects are gone, no
// memory is lost. With GROWTH > 0 the next number after k is k + 1 + k / GROWTH. Counts malloc and all that the C library
// has beside it, on the calling thread.
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "host/engine/evaluator.h"
#include "host/load/load.h"
#include "host/load/robot_bytes.h"
#include "host/planning/ilqr.h"
#include "host/planning/planner.h"
#include "host/simulation/rollout.h"
#include "host/simulation/simulation.h"
#include "tests/support/robots/worlds.h"

namespace {

constinit thread_local bool armed = false, all_that_follow = false;
constinit thread_local long left = 0;  // allocations until one fails
std::atomic<long> live{0};             // blocks that have not been freed

bool fails() {
  if (!armed || left > 1) return left -= armed, false;
  if (left < 1 && !all_that_follow) return false;
  left = 0, errno = ENOMEM;
  return true;
}
void* counted(void* p) {
  if (p) live++;
  return p;
}

}  // namespace

#define FS_EXPORTED __attribute__((visibility("default")))
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

FS_EXPORTED void* malloc(std::size_t n) noexcept { return fails() ? nullptr : counted(__libc_malloc(n)); }
FS_EXPORTED void* calloc(std::size_t n, std::size_t size) noexcept {
  return fails() ? nullptr : counted(__libc_calloc(n, size));
}
FS_EXPORTED void* realloc(void* p, std::size_t n) noexcept {
  if (fails()) return nullptr;
  if (!p) live++;
  return __libc_realloc(p, n);
}
FS_EXPORTED void* memalign(std::size_t alignment, std::size_t n) noexcept {
  return fails() ? nullptr : counted(__libc_memalign(alignment, n));
}
FS_EXPORTED void* aligned_alloc(std::size_t alignment, std::size_t n) noexcept { return memalign(alignment, n); }
FS_EXPORTED int posix_memalign(void** p, std::size_t alignment, std::size_t n) noexcept {
  *p = memalign(alignment, n);
  return *p ? 0 : ENOMEM;
}
FS_EXPORTED void free(void* p) noexcept {
  if (p) live--;
  __libc_free(p);
}
}

namespace featherstorm::testing {
namespace {

// A call with the objects that it needs, made without failures.
struct Trial {
  std::function<void()> call;
  std::function<std::string()> bits;  // of its results
};
struct Case {
  std::string name;
  std::function<Trial()> make;
  bool reads = false;  // a file
};

std::string bits_of(std::initializer_list<ArrayRef> arrays) {
  std::string bits;
  for (const ArrayRef& a : arrays) {
    const std::vector<double> x = numbers_of(a);
    bits.append(reinterpret_cast<const char*>(x.data()), sizeof(double) * x.size());
  }
  return bits;
}

LoadOptions on_the_ground() { return {.world = UrdfWorld{.ground = true, .motors = true, .timestep = 0.005}}; }

Case load_of(const std::string& robot, const LoadOptions& options = {}) {
  return {"load " + robot + (options.world ? " in a world" : ""),
          [=] {
            const auto r = std::make_shared<std::optional<Robot>>();
            return Trial{[=] { r->emplace(load(robot, options)); }, [=] { return robot_bytes(**r); }};
          },
          true};
}

Case bytes() {
  return {"robot_of_bytes", [] {
            const auto text = std::make_shared<std::string>(robot_bytes(load("cartpole", on_the_ground())));
            const auto r = std::make_shared<std::optional<Robot>>();
            return Trial{[=] { r->emplace(robot_of_bytes(*text)); }, [=] { return robot_bytes(**r); }};
          }};
}

// Arrays of users, whose rows are instances: blocks are gathered and scattered.
ArrayRef rows_of(const Buffer& b, long instances, long components) {
  return {b.ref().data, b.ref().precision, instances, components, components, 1};
}

Case evaluation(bool warm) {
  return {warm ? "a warm evaluation" : "a first evaluation", [=] {
            constexpr long B = 150;
            const auto e = std::make_shared<Evaluator>(load("cartpole"), EvaluatorOptions{.threads = 1});
            std::vector<ArrayRef> arrays;
            std::vector<Buffer> owners;
            for (unsigned k = 0; k < 4; k++)
              arrays.push_back(rows_of(owners.emplace_back(noise(Precision::float32, 2 * B, 1, 1, k)), B, 2));
            const auto run = [=] { e->run("fd", {arrays[0], arrays[1], arrays[2]}, {arrays[3]}); };
            if (warm) run();
            return Trial{run, [=] { return owners.empty() ? "" : bits_of({arrays[3]}); }};
          }};
}

Case step(const std::string& robot, const LoadOptions& options, bool warm) {
  return {(warm ? "a warm step of " : "a first step of ") + robot + (options.world ? " in a world" : ""), [=] {
            const auto e = std::make_shared<Evaluator>(load(robot, options), EvaluatorOptions{.threads = 1});
            const auto s = std::make_shared<Simulation>(*e, 40, StepOptions{.dt = options.world ? 0.0 : 0.005});
            if (warm) s->step();
            return Trial{[e, s] { s->step(); }, [e, s] { return bits_of({s->q(), s->v()}); }};
          }};
}

Case construction() {
  return {"a simulation's construction", [] {
            const auto e =
                std::make_shared<Evaluator>(load("cartpole", on_the_ground()), EvaluatorOptions{.threads = 1});
            const auto s = std::make_shared<std::optional<Simulation>>();
            return Trial{[=] { s->emplace(*e, 40); }, [=] { return bits_of({(*s)->q(), (*s)->v()}); }};
          }};
}

// The first reading of a solution makes a step that keeps it, and repeats the last step.
Case reading() {
  return {"a first reading of accelerations", [] {
            const auto e =
                std::make_shared<Evaluator>(load("cartpole", on_the_ground()), EvaluatorOptions{.threads = 1});
            const auto s = std::make_shared<Simulation>(*e, 40);
            s->step();
            const auto found = std::make_shared<Buffer>();
            const auto read = [=] {
              Program p;
              const std::vector<Expr> qacc = p.input("qacc", 2);
              {
                Tracing scope(p.graph);
                p.output("found", {qacc[0] + 1.0, qacc[1]});
              }
              *found = s->measure(WorldReading(*e, Precision::float32, p, true));
            };
            return Trial{read, [=] { return found->memory() ? bits_of({found->ref()}) : ""; }};
          }};
}

RolloutOptions swing() {
  RolloutOptions o;
  o.stepping = {.dt = 0.05}, o.precision = Precision::float64;
  o.residual = [](const TracedState& x, const Traced& u, Expr, const Traced&) -> Traced {
    return {x.q[0] - Expr(0.5), 0.1 * x.v[0], 0.02 * u[0]};
  };
  return o;
}

// Planners for a cart, with the state that they plan for.
template <class Plans> struct Planning {
  Evaluator dynamics{load("cartpole"), {.threads = 1}};
  Rollout rollout{dynamics, swing()};
  Buffer q{Precision::float64, 1, 2}, v{Precision::float64, 1, 2};
  std::optional<Plans> planner;
  RolloutArrays state() const { return {.q = q.ref(), .v = v.ref()}; }
};

template <class Plans> Trial command_of(const std::shared_ptr<Planning<Plans>>& o, bool warm) {
  const auto u = std::make_shared<std::vector<double>>(1000);
  const auto length = std::make_shared<std::size_t>(0);
  const auto call = [=] {
    const auto now = o->planner->command(o->state());
    std::copy(now.begin(), now.end(), u->begin()), *length = now.size();
  };
  if (warm) call();
  return {call, [=] { return std::string(reinterpret_cast<const char*>(u->data()), sizeof(double) * *length); }};
}

Case plan(bool warm) {
  return {warm ? "a warm plan" : "a first plan", [=] {
            const auto o = std::make_shared<Planning<Planner>>();
            PlannerOptions options{.horizon = 8, .samples = 20, .iterations = 2, .knots = 4};
            options.sigma = {1};
            o->planner.emplace(o->rollout, options);
            return command_of(o, warm);
          }};
}

Case plan_by_gradients(bool warm) {
  return {warm ? "a warm plan by gradients" : "a first plan by gradients", [=] {
            const auto o = std::make_shared<Planning<Ilqr>>();
            o->planner.emplace(o->dynamics, swing(), IlqrOptions{.horizon = 4, .iterations = 2});
            return command_of(o, warm);
          }};
}

Case rollout(bool warm) {
  return {warm ? "a warm rollout" : "a first rollout", [=] {
            const auto o = std::make_shared<Planning<Planner>>();
            const Buffer u = noise(Precision::float64, 30, 2 * 5, 1, 1), costs(Precision::float64, 30, 1);
            const auto run = [=] {
              ArrayRef first = u.ref();
              first.components = 2;
              RolloutArrays a{.q = o->q.ref(), .v = o->v.ref(), .u = {"u", first, true, 2 * u.stride()}};
              a.costs = costs.ref();
              o->rollout.run(5, 30, a);
            };
            if (warm) run();
            return Trial{run, [=] { return bits_of({costs.ref()}); }};
          }};
}

std::vector<Case> cases() {
  std::vector<Case> all = {load_of("double_pendulum"),
                           load_of("go2"),
                           load_of("cartpole", on_the_ground()),
                           bytes(),
                           construction(),
                           reading()};
  for (const bool warm : {false, true}) {
    all.push_back(evaluation(warm));
    all.push_back(step("cartpole", {}, warm)), all.push_back(step("cartpole", on_the_ground(), warm));
    all.push_back(rollout(warm)), all.push_back(plan(warm)), all.push_back(plan_by_gradients(warm));
  }
  return all;
}

// Make what a thread keeps between calls: working memory, and lists of a rollout. The C library ends a process that cannot
// register their destructors.
void make_objects_of_thread() {
  static Planning<Planner> o;
  const Buffer u(Precision::float64, 1, 2), costs(Precision::float64, 1, 1);
  RolloutArrays a{.q = o.q.ref(), .v = o.v.ref(), .u = {"u", u.ref(), true, 0}};
  a.costs = costs.ref();
  o.rollout.run(1, 1, a);
}

struct Outcome {
  bool failed = false;
  std::string wrong;  // empty: as it must be
};

// The call with its allocation k failing, then again without; in a thread of its own.
Outcome survive(const Case& c, long k, bool follow, const std::string& expected) {
  Outcome o;
  std::thread([&] {
    make_objects_of_thread();
    const Trial t = c.make();
    armed = true, left = k, all_that_follow = follow;
    try {
      t.call();
      armed = false;
    } catch (const std::bad_alloc&) { armed = false, o.failed = true; } catch (const std::exception& e) {
      armed = false, o.failed = true;
      const bool known = c.reads && std::string(e.what()).find("cannot be read") != std::string::npos;
      if (!known) o.wrong = std::string("another error: ") + e.what();
    }
    if (!o.failed && left <= 0 && t.bits() != expected) o.wrong = "went on with other bits";
    if (o.failed) try {
        t.call();
        if (t.bits() != expected) o.wrong += "other bits afterwards";
      } catch (const std::exception& e) { o.wrong += std::string("no call afterwards: ") + e.what(); }
    o.failed |= left <= 0;
  }).join();
  return o;
}

// Return the number of calls with a failure, and add those that went wrong.
long run(const Case& c, long growth, long& wrong) {
  std::string expected;
  for (int warm = 0; warm < 3; warm++)
    std::thread([&] {
      const Trial t = c.make();
      t.call();
      expected = t.bits();
    }).join();
  long calls = 0, last = 0;
  for (const bool follow : {false, true})
    for (long k = 1;; k += 1 + (growth > 0 ? k / growth : 0)) {
      const long before = live;
      Outcome o = survive(c, k, follow, expected);
      if (o.wrong.empty() && live != before) {  // a table that was made for the first time is no loss
        const long again = live;
        o = survive(c, k, follow, expected);
        // tinyxml2 loses a block whose list cannot grow
        if (live != again && !(c.reads && live == again + 1))
          o.wrong = std::to_string(live - again) + " blocks are lost";
      }
      if (!o.failed) break;
      calls++, last = k;
      if (o.wrong.empty()) continue;
      if (wrong++ < 40)
        std::printf("%s: allocation %ld%s: %s\n", c.name.c_str(), k, follow ? " and all that follow" : "",
                    o.wrong.c_str());
    }
  std::printf("%-40s %6ld failures, the last at allocation %ld\n", c.name.c_str(), calls, last);
  std::fflush(stdout);
  return calls;
}

int main_of(int count, char** words) {
  const long growth = count > 1 ? std::atol(words[1]) : 0;
  long calls = 0, wrong = 0;
  for (const Case& c : cases())
    if (count < 3 || c.name.find(words[2]) != std::string::npos) calls += run(c, growth, wrong);
  std::printf("%ld failures, %ld wrong\n", calls, wrong);
  return wrong || !calls;
}

}  // namespace
}  // namespace featherstorm::testing

int main(int count, char** words) { return featherstorm::testing::main_of(count, words); }
