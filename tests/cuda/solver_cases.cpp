//   solver_cases some    launches of the float kernels, all solutions by the kernel of both laws
//   solver_cases all     also of the double kernels and of those of MuJoCo's law alone
//
// Writes launches of the contact solver's kernels as JSON lines for test_sass.py: the bytes of the parameters, the memory they
// point to, how much working memory there is, and what the host's solver makes of the same instances, with a tolerance.
//
// Small robots that touch in many ways: solved in the space of their rows and in that of coordinates, by pyramids and by cones, and by
// the rigid law; a legged one among other contacts; shapes without a closed form. Cotangents and tangents of some of them, by numbers of
// contacts that differ from instance to instance, too.
#include <cmath>
#include <cstdio>
#include <map>
#include <stdexcept>

#include "core/trace/evaluate.h"
#include "cuda/kernels/device_model.h"
#include "cuda/kernels/device_solver.h"
#include "host/load/load.h"
#include "host/solver/contact_solver.h"
#include "host/solver/solver_room.h"
#include "tests/cuda/launch_source.h"
#include "tests/cuda/world_states.h"
#include "tests/support/oracles/op_cases.h"
#include "tests/support/robots/differing_numbers.h"
#include "tests/support/robots/small_world.h"
#include "tests/support/robots/touching_world.h"

namespace featherstorm::testing {
namespace {

// SolverAlgorithm
constexpr const char* kernels[] = {"contact_solver", "contact_gradients", "contact_tangents", "contact_solver_soft"};

struct SolverCase {
  std::string name;
  Robot robot;
  int count;                                // instances
  double height = 0;                        // of a free base, beside that of States [m]
  std::optional<RigidLaw<double>> rigid{};  // in place of MuJoCo's law
  bool differ = false;                      // whether numbers of contacts do
};

// What the solver is given of each instance: what the equations make of a state.
Values<double> solver_inputs_of(const SolverCase& c, const WorldPrograms& programs, unsigned seed) {
  const Model<double>& m = c.robot.model;
  Values<double> x = States(m)(seed);
  if (m.nq == m.nv + 1) x["q"][2] += c.height;
  Arrays<double> in;
  for (const Program::Array& a : programs.equations.inputs) in.push_back(x.at(a.name));
  const Arrays<double> made = evaluate(programs.equations, in);
  for (std::size_t k = 0; k < made.size(); k++) x[programs.equations.outputs[k].name] = made[k];
  return x;
}

// The results of the host's solver, array by array, of numbers given to it as `Real`.
template <class Real>
Arrays<double> host_results(const ContactSolverStage& stage, const Arrays<double>& in, const std::vector<int>& sizes) {
  const int width = stage.kernel.width;
  std::vector<BatchArray<Real>> to, from;
  std::vector<Array> a, b;
  for (const auto& numbers : in) {
    to.emplace_back(static_cast<int>(numbers.size()), width, Real(0));
    for (int c = 0; c < to.back().components; c++)
      for (int i = 0; i < width; i++) to.back().at(c, i) = static_cast<Real>(numbers[static_cast<std::size_t>(c)]);
  }
  for (const int n : sizes) from.emplace_back(n, width, Real(0));
  for (auto& x : to) a.push_back({x.data.data(), x.stride});
  for (auto& x : from) b.push_back({x.data.data(), x.stride});
  stage.kernel.kernel(stage.kernel.model, a.data(), b.data(), 1, 0, width);
  Arrays<double> results;
  for (std::size_t k = 0; k < sizes.size(); k++) {
    results.emplace_back();
    for (int c = 0; c < sizes[k]; c++) results.back().push_back(from[k].at(c, 0));
  }
  return results;
}

// Of the arrays that a text gives.
std::vector<int> output_sizes(const Model<double>& m, SolverAlgorithm text, int alone, int touch) {
  const int moving = 6 * (m.nb + 1);
  switch (text) {
    case SolverAlgorithm::solution:
      return {m.nv, rows_of(m.world.constraints), rows_of(m.world.contacts), 1, 1, 1, 1, alone, 0, 0, 0, 0, 1, 1};
    case SolverAlgorithm::gradients: return {m.nv, moving, moving, moving, moving, touch};
    default: return {m.nv};
  }
}
// Cotangents and tangents that a text is given: some numbers.
std::vector<double> along(const std::string& name, const Model<double>& m, int touch) {
  const std::map<std::string, int> sizes = {
      {"qacc_bar", m.nv},     {"g_tan", m.nv},     {"placement_tan", 12 * (m.nb + 1)}, {"twist_tan", 6 * (m.nb + 1)},
      {"axis_tan", 6 * m.nv}, {"touch_tan", touch}};
  std::vector<double> numbers;
  if (const auto at = sizes.find(name); at != sizes.end())
    for (int k = 0; k < at->second; k++) numbers.push_back(std::sin(0.7 * k + static_cast<double>(name.size())));
  return numbers;
}

template <class Real, SolverAlgorithm text> void write_case(const SolverCase& of) {
  constexpr bool solves = text == SolverAlgorithm::solution || text == SolverAlgorithm::soft;
  constexpr SolverAlgorithm on_host = solves ? SolverAlgorithm::solution : text;
  const Model<double>& m = of.robot.model;
  const auto stage_of = [&](Precision p, const WorldPrograms& programs) {
    return contact_solver(m, programs, p, "base", {100, p == Precision::float64 ? 1e-12 : 1e-6, of.rigid, true, true},
                          on_host);
  };
  WorldPrograms programs = world_programs(m, Candidates::None, 1e-12, 1 << 22, {}, of.rigid ? &*of.rigid : nullptr);
  if (of.differ) programs.touch = differing_numbers(m.world.contacts);
  constexpr bool is_float = sizeof(Real) == sizeof(float);
  const ContactSolverStage exact = stage_of(Precision::float64, programs),
                           own = stage_of(is_float ? Precision::float32 : Precision::float64, programs);
  const auto& solver = *static_cast<const ContactSolver<Real>*>(own.kernel.model);
  const std::vector<int> sizes = output_sizes(m, on_host, static_cast<int>(solver.alone.size()), solver.touch.size);

  // results first, what is poisoned where nothing is written shows
  const std::size_t count = static_cast<std::size_t>(of.count), stride = count + 3;
  std::vector<Arrays<double>> given;
  for (int i = 0; i < of.count; i++) {
    Values<double> x = solver_inputs_of(of, programs, 100 + static_cast<unsigned>(i));
    if (of.differ) x["touch"] = numbers_of_file(m.world.contacts);
    Arrays<double> in;
    for (const std::string& name : own.in) {
      in.push_back(x.count(name) ? x.at(name) : along(name, m, solver.touch.size));
      for (double& number : in.back()) number = static_cast<Real>(number);
    }
    given.push_back(in);
  }
  std::vector<Real> memory;
  constexpr int inputs = arrays_of(text).in, outputs = arrays_of(text).out;
  SolverArguments<Real, text> a{};
  std::vector<std::size_t> first;
  const auto place = [&](InstanceView<Real>& view, std::size_t components) {
    first.push_back(memory.size());
    view = {reinterpret_cast<Real*>(base + sizeof(Real) * memory.size()), static_cast<int>(stride)};
    memory.resize(memory.size() + stride * components + 1, Real(-12345));
  };
  for (int k = 0; k < outputs; k++) place(a.out[k], static_cast<std::size_t>(sizes[static_cast<std::size_t>(k)]));
  for (int k = 0; k < inputs; k++) {
    place(a.in[k], given[0][static_cast<std::size_t>(k)].size());
    for (std::size_t i = 0; i < count; i++)
      for (std::size_t c = 0; c < given[i][static_cast<std::size_t>(k)].size(); c++)
        memory[first.back() + c * stride + i] = static_cast<Real>(given[i][static_cast<std::size_t>(k)][c]);
  }
  memory.resize((memory.size() + 15) / 16 * 16);
  PlacedArrays arrays(base + sizeof(Real) * memory.size());
  const DeviceSolver<Real> device = device_solver(solver, arrays);
  std::string bytes(reinterpret_cast<const char*>(memory.data()), memory.size() * sizeof(Real));
  bytes.append(reinterpret_cast<const char*>(arrays.bytes.data()), arrays.bytes.size());

  // working memory of one warp
  constexpr unsigned long room_at = base + (1UL << 32), bytes_at = room_at + (1UL << 32);
  const SolverRoom room = solver_room(solver, text);
  a.numbers = reinterpret_cast<Real*>(room_at), a.bytes = reinterpret_cast<unsigned char*>(bytes_at);
  a.most_numbers = static_cast<int>(room.numbers), a.most_bytes = static_cast<int>(room.bytes), a.count = of.count;

  Expected<Real> expected(outputs, is_float ? 1e-6 : 1e-10);
  for (std::size_t i = 0; i < count; i++) {
    const Arrays<double> results = host_results<double>(exact, given[i], sizes),
                         same = host_results<Real>(own, given[i], sizes);
    Arrays<Real> rounded;
    for (const auto& numbers : same) rounded.emplace_back(numbers.begin(), numbers.end());
    expected.add(results, rounded, [&](std::size_t k, std::size_t c) { return first[k] + c * stride + i; });
  }
  if (is_float && solves) expected.allow(3, 1);  // the last iteration depends on rounding
  if (solves) expected.allow(13, 1);             // and so does the search in an iteration
  if (solves) expected.allow(12, 1 << 24);       // the order of instances is the host's affair
  std::printf(
      "{\"kernel\": \"%s/%s/any\", \"case\": \"%s\", \"base\": %lu, \"count\": %d, \"real\": \"%s\", "
      "\"model\": \"%s\", \"arguments\": \"%s\", \"memory\": \"%s\", \"room\": [[%lu, %lu], [%lu, %lu]], "
      "\"tolerance\": [%s], \"expected\": [%s]}\n",
      kernels[static_cast<int>(text)], is_float ? "float" : "double", of.name.c_str(), base, of.count,
      is_float ? "f" : "d", hex(&device, sizeof device).c_str(), hex(&a, sizeof a).c_str(),
      hex(bytes.data(), bytes.size()).c_str(), room_at, 32 * sizeof(Real) * static_cast<unsigned long>(room.numbers),
      bytes_at, 32 * static_cast<unsigned long>(room.bytes), expected.tolerances().c_str(), expected.values().c_str());
  std::fflush(stdout);
}

bool all_kernels = false;
template <SolverAlgorithm text> void write_both(const SolverCase& c) {
  write_case<float, text>(c);
  if (all_kernels) write_case<double, text>(c);
}
void write_solution(const SolverCase& c) {
  if (c.rigid || !all_kernels) write_both<SolverAlgorithm::solution>(c);
  else write_both<SolverAlgorithm::soft>(c);
}
void write_derivatives(const SolverCase& c) {
  write_both<SolverAlgorithm::gradients>(c), write_both<SolverAlgorithm::tangents>(c);
}

// Its ground so high [m], with cones or pyramids.
Robot small_robot(double ground, bool elliptic) {
  Robot robot = with_geoms(small_world());
  GeomContacts<double>& c = robot.model.world.contacts;
  c.geom[0].place.X.r.z() = ground, c.elliptic = elliptic;
  return robot;
}

void write_all() {
  for (const bool elliptic : {false, true}) {
    const std::string cost = elliptic ? ", cones" : ", pyramids";
    write_solution({"few rows" + cost, small_robot(-0.2, elliptic), 2});
    write_solution({"many rows" + cost, small_robot(0.05, elliptic), 1});
    write_derivatives({"few rows" + cost, small_robot(-0.2, elliptic), 1});
    write_derivatives({"numbers that differ" + cost, small_robot(-0.2, elliptic), 1, 0, {}, true});
  }
  RigidLaw<double> law;
  write_solution({"rigid law", small_robot(-0.2, true), 1, 0, law});
  if (all_kernels) write_both<SolverAlgorithm::solution>({"few rows, both laws", small_robot(-0.2, false), 1});
  write_solution({"legs", with_touching_world(load("go2"), {}), 1, -0.18});
  write_derivatives({"legs", with_touching_world(load("go2"), {}), 1, -0.18});
  write_solution({"humanoid", with_touching_world(load("g1"), {}), 1, -0.3});
  write_solution(
      {"legs with shapes without a closed form", with_touching_world(load("go2"), {.convex = true}), 1, -0.18});
}

}  // namespace
}  // namespace featherstorm::testing

int main(int count, char** arguments) {
  featherstorm::testing::all_kernels = count > 1 && std::string(arguments[1]) == "all";
  featherstorm::testing::write_all();
}
