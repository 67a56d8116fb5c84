// Writes launches of the kernels of a world's step as JSON lines for test_sass.py, programs fused into one as the engine does it
// (host/rollout/cuda_stages.h): the machine code that NVRTC makes for sm_90, what it takes, the bytes of the parameters, the memory they
// point to, and the results expected with a tolerance. Before them a line tells the compiler. Exit status 77 where there is no NVRTC.
//
//   world_cases [PART]    those whose names hold PART
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>

#include "core/emit/rollout.h"
#include "core/program/order.h"
#include "core/trace/evaluate.h"
#include "host/compile/nvrtc.h"
#include "host/load/load.h"
#include "host/trace/world_programs.h"
#include "tests/cuda/launch_source.h"
#include "tests/cuda/world_states.h"
#include "tests/host/simulation/falling_task.h"
#include "tests/support/robots/small_world.h"
#include "tests/support/robots/touching_world.h"

namespace featherstorm::testing {
namespace {

struct FusedStage {
  std::shared_ptr<const Program> program;
  std::vector<std::pair<std::string, std::string>> swaps{};
  std::string needed{};  // "": for all instances
  long repeat = 1;
};

// Every array goes in where a stage reads it before one has made it, and every array that changes comes out, but for the second of a
// pair that changes places: what was before, or, of Newton's steps, how it went on from there, which hangs on the last digit.
class FusedKernel {
 public:
  explicit FusedKernel(const std::vector<FusedStage>& stages) : stages_(stages) {
    for (const FusedStage& s : stages_) {
      RolloutProgram::Stage to{s.program, {}, {}, {}, s.repeat, false};
      for (const Program::Array& a : s.program->inputs) to.in.push_back(read(a.name, a.size));
      if (!s.needed.empty()) to.needed = read(s.needed, 1);
      for (const Program::Array& a : s.program->outputs) {
        if (!s.needed.empty()) read(a.name, a.size);  // it may run for no instance
        to.out.push_back(place(a.name, a.size)), changed_.insert(a.name);
      }
      for (const auto& [x, y] : s.swaps) {
        const int size = size_of(places_.count(x) ? x : y);
        to.swaps.push_back({read(x, size), read(y, size)});
        changed_.insert(x), changed_.insert(y);
      }
      rollout_.stages.push_back(to);
    }
    for (const FusedStage& s : stages_)
      for (const auto& [x, y] : s.swaps) changed_.erase(y);
    for (const std::string& name : changed_) rollout_.out.push_back({places_.at(name), false}), out_.push_back(name);
  }

  const RolloutProgram& rollout() const { return rollout_; }
  const std::vector<std::string>& in() const { return in_; }
  const std::vector<std::string>& out() const { return out_; }
  int size_of(const std::string& name) const {
    return rollout_.arrays[static_cast<std::size_t>(places_.at(name))].components;
  }

  // What the kernel makes of an instance's numbers, in T.
  template <class T> Values<T> run(Values<T> x) const {
    for (const auto& [name, at] : places_) x[name].resize(static_cast<std::size_t>(size_of(name)));
    for (const FusedStage& s : stages_)
      for (long pass = 0; pass < s.repeat && (s.needed.empty() || x.at(s.needed)[0] > 0); pass++) {
        Arrays<T> in;
        for (const Program::Array& a : s.program->inputs) in.push_back(x.at(a.name));
        const Arrays<T> made = evaluate(*s.program, in);
        for (std::size_t k = 0; k < made.size(); k++) x[s.program->outputs[k].name] = made[k];
        for (const auto& [a, b] : s.swaps) std::swap(x.at(a), x.at(b));
        if (s.needed.empty()) break;
      }
    return x;
  }

 private:
  int place(const std::string& name, int size) {
    const auto [at, is_new] = places_.try_emplace(name, static_cast<int>(rollout_.arrays.size()));
    if (is_new) rollout_.arrays.push_back({size, false, false});
    return at->second;
  }
  int read(const std::string& name, int size) {
    const int at = place(name, size);
    const bool there = changed_.count(name) > 0 || std::find(in_.begin(), in_.end(), name) != in_.end();
    if (!there) in_.push_back(name), rollout_.in.push_back({at, false});
    return at;
  }

  std::vector<FusedStage> stages_;
  RolloutProgram rollout_;
  std::map<std::string, int> places_;
  std::set<std::string> changed_;
  std::vector<std::string> in_, out_;
};

// A launch of the kernel for these instances. What is expected is the host's form in more digits: doubles of a float kernel, long
// doubles of one in doubles.
template <class Real>
void write_launch(const Nvrtc& compiler, const std::string& name, const FusedKernel& kernel,
                  const std::vector<Values<double>>& instances) {
  using More = std::conditional_t<sizeof(Real) == 4, double, long double>;
  const int count = static_cast<int>(instances.size());
  struct Memory {
    void* data;
    long instance, component, step;
  };  // as core/emit/prelude_rollout.inc has it
  std::vector<Real> memory;
  std::vector<Memory> table;
  std::vector<std::size_t> first;
  const long stride = count + 3;
  const auto place = [&](const std::string& array) {
    first.push_back(memory.size());
    table.push_back({reinterpret_cast<void*>(base + sizeof(Real) * memory.size()), 1, stride, 0});
    memory.resize(memory.size() + static_cast<std::size_t>(stride * kernel.size_of(array) + 1), Real(-12345));
  };
  for (const std::string& array : kernel.in()) place(array);
  for (const std::string& array : kernel.out()) place(array);
  if (table.empty()) throw std::logic_error(name + " has no arrays");

  Expected<Real> expected(static_cast<int>(kernel.out().size()));
  for (int i = 0; i < count; i++) {
    Values<Real> here;
    Values<More> more;
    for (std::size_t k = 0; k < kernel.in().size(); k++) {
      const std::string& array = kernel.in()[k];
      const std::vector<double>& numbers = instances[static_cast<std::size_t>(i)].at(array);
      if (static_cast<int>(numbers.size()) != kernel.size_of(array))
        throw std::logic_error(name + ": " + array + " has " + std::to_string(numbers.size()) + " numbers");
      for (std::size_t c = 0; c < numbers.size(); c++) {
        const Real x = static_cast<Real>(numbers[c]);
        here[array].push_back(x), more[array].push_back(x);
        memory[first[k] + c * static_cast<std::size_t>(stride) + static_cast<std::size_t>(i)] = x;
      }
      here[array], more[array];
    }
    const Values<Real> rounded = kernel.run(here);
    const Values<More> exact = kernel.run(more);
    std::vector<std::vector<Real>> a;
    std::vector<std::vector<More>> b;
    for (const std::string& array : kernel.out()) a.push_back(rounded.at(array)), b.push_back(exact.at(array));
    expected.add(b, a, [&](std::size_t k, std::size_t c) {
      return first[kernel.in().size() + k] + c * static_cast<std::size_t>(stride) + static_cast<std::size_t>(i);
    });
  }

  const DeviceCode code =
      compiler.compile(emit_rollout(kernel.rollout(), trace_order, Cuda{sizeof(Real) == 8}), "sm_90");
  // memory, uniform (none: one number), numbers, controls (none), steps, count
  std::string parameters(reinterpret_cast<const char*>(table.data()), table.size() * sizeof(Memory));
  parameters.append(8 + 8 + 128, '\0');
  const long numbers[] = {1, count};
  parameters.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
  const DeviceCost& c = code.cost;
  std::printf(
      "{\"case\": \"%s/%s\", \"base\": %lu, \"count\": %d, \"real\": \"%s\", \"parameters\": \"%s\", \"memory\": \"%s\", "
      "\"tolerance\": [%s], \"cubin\": \"%s\", \"cost\": [%d, %d, %d, %d, %d, %d], \"expected\": [%s]}\n",
      name.c_str(), sizeof(Real) == 4 ? "float" : "double", base, count, sizeof(Real) == 4 ? "f" : "d",
      hex(parameters.data(), parameters.size()).c_str(), hex(memory.data(), memory.size() * sizeof(Real)).c_str(),
      expected.tolerances().c_str(), hex(code.image.data(), code.image.size()).c_str(), c.registers, c.stack,
      c.spill_stores, c.spill_loads, c.code, c.instructions, expected.values().c_str());
  std::fflush(stdout);
}

std::shared_ptr<const Program> kept(Program p) { return std::make_shared<const Program>(std::move(p)); }

// `count` instances for a kernel, with all that `before` makes of their states.
std::vector<Values<double>> instances_for(const FusedKernel& kernel, const States& states, const FusedKernel& before,
                                          int count) {
  std::vector<Values<double>> all;
  for (int i = 0; i < count; i++) {
    const unsigned seed = 100 + static_cast<unsigned>(i);
    const auto given = states(seed);
    Values<double> x = before.run(given);
    for (const auto& [name, numbers] : given) x[name] = numbers;
    x["more"] = {1}, x["passes"] = {0}, x["env_step"] = {2.0 + i}, x["env_sums"] = {0.5},
    x["env_episode"] = {double(i)};
    x["env_done"] = {i % 2 == 0 ? 1.0 : 0.0}, x["env_draw"] = {0.25 + 0.1 * i, 0.75};
    Random random(7 * seed);
    for (const std::string& name : kernel.in()) {
      auto& numbers = x[name];
      while (static_cast<int>(numbers.size()) < kernel.size_of(name)) numbers.push_back(random.uniform(-0.5, 0.5));
    }
    all.push_back(std::move(x));
  }
  return all;
}

struct Writer {
  const Nvrtc& compiler;
  std::string part;

  template <class Real>
  void write(const std::string& name, const FusedKernel& kernel, const States& states, const FusedKernel& before,
             int count) const {
    const std::string full = name + (sizeof(Real) == 4 ? "/float" : "/double");
    if (full.find(part) == full.npos) return;
    write_launch<Real>(compiler, name, kernel, instances_for(kernel, states, before, count));
  }
  void write_both(const std::string& name, const FusedKernel& kernel, const States& states, const FusedKernel& before,
                  int count) const {
    write<float>(name, kernel, states, before, count), write<double>(name, kernel, states, before, count);
  }
};

// Programs of a small world, with all kinds of terms: alone, Newton's steps as a loop of their own, the whole step in one kernel, and
// the stages of Runge-Kutta's method.
void write_small_world(const Writer& w) {
  const Robot robot = with_geoms(small_world());
  const Model<double>& m = robot.model;
  const States states(m);
  const WorldPrograms found = world_programs(m, Candidates::None, 1e-6, 1 << 20);
  const FusedKernel equations({{kept(found.equations)}});
  w.write_both("small_world/equations", equations, states, equations, 3);
  w.write_both("small_world/advance", FusedKernel({{kept(found.advance), {{"q", "q_next"}, {"v", "v_next"}}}}), states,
               equations, 3);

  const WorldPrograms all = world_programs(small_world().model, Candidates::All, 1e-6, 1 << 20);
  const FusedStage begin{kept(all.equations)};
  const FusedStage newton{
      kept(all.newton),
      {{"qacc", "qacc_next"}, {"more", "more_next"}, {"passes", "passes_next"}, {"row_force", "row_force_next"}},
      "more",
      20};
  const FusedStage advance{kept(all.advance), {{"q", "q_next"}, {"v", "v_next"}, {"act", "act_next"}}};
  const States without(robot.model);
  w.write_both("small_world/step", FusedKernel({begin, newton, advance}), without, FusedKernel({begin}), 2);

  const Robot runge_kutta = small_world(Integrator::RungeKutta);
  const WorldPrograms stages = world_programs(runge_kutta.model, Candidates::None, 1e-6, 1 << 20);
  for (std::size_t i = 0; i < stages.stages.size(); i++)
    w.write_both("small_world/stage" + std::to_string(i), FusedKernel({{kept(stages.stages[i])}}), without,
                 FusedKernel({{kept(stages.equations)}}), 2);
}

// A legged robot among contacts, and the kernels of an environment's step: between two solvers of contacts, and behind the last one.
void write_legged(const Writer& w) {
  const Robot robot = with_touching_world(load("go2"), {});
  const Model<double>& m = robot.model;
  const States states(m);
  const WorldPrograms found = world_programs(m, Candidates::None, 1e-6, 1 << 22);
  const FusedStage equations{kept(found.equations)},
      advance{kept(found.advance), {{"q", "q_next"}, {"v", "v_next"}, {"act", "act_next"}}};
  const FusedKernel before({equations});
  w.write<float>("go2/equations", before, states, before, 1);
  w.write<float>("go2/advance", FusedKernel({advance}), states, before, 1);
  const EnvironmentStages task = falling_task(m, 4);
  const auto stage = [](const EnvironmentStage& s) { return FusedStage{kept(s.program), s.swaps, s.needed}; };
  w.write<float>("go2/environment/pass", FusedKernel({advance, stage(task.pass[0]), equations}), states, before, 1);
  w.write<float>("go2/environment/after", FusedKernel({advance, stage(task.after[0])}), states, before, 1);
  w.write_both("go2/environment/restart", FusedKernel({stage(task.after[1])}), states, before, 4);
}

int run(const std::string& part) {
  const Nvrtc compiler;
  if (!compiler.missing().empty()) return std::puts(compiler.missing().c_str()), 77;
  std::printf("%s\n", compiler.identity().c_str());
  const Writer w{compiler, part};
  write_small_world(w);
  write_legged(w);
  return 0;
}

}  // namespace
}  // namespace featherstorm::testing

int main(int n, char** arguments) { return featherstorm::testing::run(n > 1 ? arguments[1] : ""); }
