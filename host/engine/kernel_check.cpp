#include "host/engine/kernel_check.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "core/trace/evaluate.h"
#include "host/memory/cpu_library.h"
#include "host/trace/digits.h"
#include "host/trace/parameters.h"

namespace featherstorm {
namespace {

constexpr int instances = 16, walked_instances = 4;  // sampled: the lanes of the widest pack; for derivatives
constexpr double double_from_float = 0x1p-29;

using Engine = std::mt19937_64;
double uniform(Engine& engine, double low, double high) { return std::uniform_real_distribution<>(low, high)(engine); }

// The robot's full length [m].
double natural_length(const Model<double>& m) {
  std::vector<double> reach(m.nb + 1);
  double length = 0.01;
  for (int i = 1; i <= m.nb; i++) {
    const Body<double>& b = m.body[i];
    reach[i] = reach[b.parent] + b.X_T.r.norm();
    length = std::max(length, reach[i] + (b.I.m > 0 ? Vec3d(b.I.h).norm() / b.I.m : 0));
  }
  return length;
}
// Reference force of the robot [N m]: its weight times its full length.
double natural_force(const Model<double>& m) {
  double mass = 0;
  for (int i = 1; i <= m.nb; i++) mass += std::abs(m.body[i].I.m);
  return 10 * mass * natural_length(m);
}

template <class Real>
SampledArrays walk(const Program& p, const OpRow& row, const SampledRow& inputs) {
  SampledArrays out;
  for (const auto& a : row.out) out.emplace_back(a.components, std::vector<double>(inputs.in[0][0].size()));
  for (std::size_t i = 0; i < inputs.in[0][0].size(); i++) {
    Arrays<Real> in;
    for (const auto& array : inputs.in) {
      auto& x = in.emplace_back();
      for (const auto& component : array) x.push_back(static_cast<Real>(component[i]));
    }
    std::size_t at = 0;
    for (const auto& u : row.uniforms) {
      in.emplace_back(inputs.uniforms.begin() + at, inputs.uniforms.begin() + at + u.components);
      at += u.components;
    }
    const Arrays<Real> y = evaluate(p, in);
    for (std::size_t k = 0; k < out.size(); k++)
      for (std::size_t c = 0; c < out[k].size(); c++) out[k][c][i] = y[k][c];
  }
  return out;
}

double largest(const std::vector<std::vector<double>>& array, std::size_t i) {
  double x = 0;
  for (const auto& component : array) x = std::max(x, std::abs(component[i]));
  return x;
}
bool has_numbers(const std::vector<std::vector<double>>& array, std::size_t i) {
  return std::all_of(array.begin(), array.end(), [i](const auto& component) { return std::isfinite(component[i]); });
}
// The largest difference; infinite where one of the two is not finite.
double difference(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b, std::size_t i) {
  double d = 0;
  for (std::size_t c = 0; c < a.size(); c++) {
    const double x = std::abs(a[c][i] - b[c][i]);
    d = x <= d ? d : std::isfinite(x) ? x : HUGE_VAL;
  }
  return d;
}

template <class Real>
void fill_buffer(const Buffer& b, const std::vector<std::vector<double>>& array) {
  const long padded = b.stride();
  for (std::size_t c = 0; c < array.size(); c++)
    for (long i = 0; i < padded; i++)  // the lanes after the last instance repeat it
      b.component<Real>(c)[i] = static_cast<Real>(array[c][std::min<std::size_t>(i, array[c].size() - 1)]);
}
template <class Real>
void take_results(const Buffer& b, std::vector<std::vector<double>>& array) {
  for (std::size_t c = 0; c < array.size(); c++)
    for (std::size_t i = 0; i < array[c].size(); i++) array[c][i] = b.component<Real>(c)[i];
}

}  // namespace

std::string KernelCheck::words() const {
  if (array.empty()) return "not compared";
  if (lacks_numbers) return array + " is not finite in a state where the algorithm's result is finite";
  char text[200];
  std::snprintf(text, sizeof text, " differs by %.0e of its size from the algorithm in double, expected at most %.0e",
                error, bound);
  return array + text;
}

namespace {

// True if this kind of input is zero while the robot rests: motion and forces.
bool rests(const Sample& s) {
  return s.kind == Sample::symmetric || s.kind == Sample::joint_force || s.kind == Sample::body_force;
}

}  // namespace

SampledRow sample_row(const OpRow& row, const Robot& robot, int count, unsigned seed, Positions positions) {
  Draw draw(robot.model, seed, positions);
  SampledRow s;
  for (const auto& a : row.in) {
    auto& array = s.in.emplace_back(a.components, std::vector<double>(count));
    for (int i = 0; i < count; i++) {
      const bool given = is_parameter(a.name);
      std::vector<double> x = given ? parameter_values(robot, a.name) : draw(a.sample, a.components);
      if (positions == Positions::where_robots_start && i == 0 && !given) {
        if (a.sample.kind == Sample::position) x = robot.q0;
        if (rests(a.sample)) x.assign(x.size(), 0.0);
      }
      for (int c = 0; c < a.components; c++) array[c][i] = x[c];
    }
  }
  for (const auto& u : row.uniforms)
    for (double x : draw(u.sample, u.components)) s.uniforms.push_back(x);
  return s;
}

SampledArrays run_sampled(const BoundKernel& kernel, Precision precision, const OpRow& row, const SampledRow& inputs) {
  const bool single = precision == Precision::float32;
  const long count = static_cast<long>(inputs.in[0][0].size());
  // an array without components has an address, too, which kernels move on
  const auto components = [](long n) { return std::max(n, 1L); };
  std::vector<Buffer> buffers;
  std::vector<Array> in, out;
  for (const auto& array : inputs.in) {
    const Buffer& b = buffers.emplace_back(precision, count, components(static_cast<long>(array.size())));
    single ? fill_buffer<float>(b, array) : fill_buffer<double>(b, array);
    in.push_back({b.ref().data, b.stride()});
  }
  std::vector<float> singles(inputs.uniforms.begin(), inputs.uniforms.end());
  std::vector<double> doubles = inputs.uniforms;
  std::size_t at = 0;
  for (const auto& u : row.uniforms) {
    in.push_back({single ? static_cast<void*>(singles.data() + at) : doubles.data() + at, 0});
    at += u.components;
  }
  const std::size_t first = buffers.size();
  SampledArrays results;
  for (const auto& a : row.out) {
    const Buffer& b = buffers.emplace_back(precision, count, components(a.components));
    out.push_back({b.ref().data, b.stride()});
    results.emplace_back(a.components, std::vector<double>(count));
  }
  const long padded = (count + kernel.width - 1) / kernel.width * kernel.width;
  kernel.kernel(kernel.model, in.data(), out.data(), 1, 0, padded);
  for (std::size_t k = 0; k < results.size(); k++)
    single ? take_results<float>(buffers[first + k], results[k]) : take_results<double>(buffers[first + k], results[k]);
  return results;
}

Usual usual_of(const SampledText& text) {
  Usual usual;
  const auto middle = [](std::vector<double> x) {
    const auto at = x.begin() + static_cast<long>(x.size() / 2);
    std::nth_element(x.begin(), at, x.end());
    return at != x.end() && std::isfinite(*at) ? *at : 0;
  };
  for (std::size_t k = 0; k < text.exact.size(); k++) {
    std::vector<double> sizes, roundings;
    for (std::size_t i = 0; !text.exact[k].empty() && i < text.exact[k][0].size(); i++) {
      sizes.push_back(largest(text.exact[k], i));
      roundings.push_back(difference(text.beside[k], text.exact[k], i));
    }
    usual.size.push_back(middle(sizes)), usual.conditioning.push_back(middle(roundings));
  }
  return usual;
}

KernelCheck compare(const OpRow& row, const Robot& robot, Precision precision, const SampledArrays& found,
                    const SampledText& text, const Usual& usual) {
  const auto& [exact, rounded, beside] = text;
  const bool single = precision == Precision::float32;
  // Rounding of placements leaves this much in results that should be zero: the torque of an axis along gravity, the
  // displacement of a frame on an axis.
  const double nothing =
      (single ? 1e-6 : 1e-13) * (row.uses_frame ? natural_length(robot.model) : natural_force(robot.model));
  KernelCheck worst;
  std::size_t failed = 0, states = 0;
  double worst_ratio = -1;
  bool lacks_numbers = false;
  for (std::size_t i = 0; !exact.empty() && !exact[0].empty() && i < exact[0][0].size(); i++) {
    bool fails = false;
    states++;
    double all = 0;
    for (const auto& array : exact) all = std::max(all, largest(array, i));
    for (double size : usual.size) all = std::max(all, size);
    for (std::size_t k = 0; k < exact.size(); k++) {
      // these outputs are residuals, so they are judged relative to the other outputs
      const bool remains =
          row.out[k].name == "violation" || row.out[k].name == "missing" || row.out[k].name == "residual";
      const double size = remains ? all : std::max(largest(exact[k], i), usual.size.empty() ? 0 : usual.size[k]);
      const double conditioning =
          std::max(difference(beside[k], exact[k], i), usual.size.empty() ? 0 : usual.conditioning[k]);
      if (!std::isfinite(size) || !std::isfinite(conditioning)) continue;
      lacks_numbers = lacks_numbers || (!has_numbers(found[k], i) && (!single || has_numbers(rounded[k], i)));
      // The error of float, capped. A result in double has correct digits even where the float result has none: its cap
      // is ten thousand times the size.
      const double sensitivity = std::min(difference(rounded[k], exact[k], i), (single ? 1 : 1e4) * size);
      const double zero = nothing + (single ? 1e-6 : 1e-14) * all +  // rounding relative to the other outputs
                          16 * (single ? 1 / double_from_float : 1) * conditioning;
      const double bound =
          single ? 16 * sensitivity + 2e-5 * size + zero : 64 * double_from_float * sensitivity + 1e-9 * size + zero;
      const double error = difference(found[k], exact[k], i);
      fails = fails || !(error <= bound);
      if (error / (bound + 1e-300) <= worst_ratio) continue;
      worst_ratio = error / (bound + 1e-300);
      const double unit = std::max(size, 1e-300);
      worst.array = row.out[k].name, worst.error = error / unit, worst.bound = bound / unit;
    }
    failed += fails;
  }
  const bool agrees = 4 * failed <= states;
  worst.lacks_numbers = agrees && lacks_numbers, worst.passed = agrees && !lacks_numbers;
  return worst;
}

namespace {

SampledRow off_by_few_roundings(SampledRow inputs) {
  Engine engine(2);
  for (auto& array : inputs.in)
    for (auto& component : array)
      for (double& x : component) x *= 1 + few_roundings * uniform(engine, -1, 1);
  return inputs;
}
// The more severe of two failures.
KernelCheck worse(const KernelCheck& a, const KernelCheck& b) {
  const auto fault = [](const KernelCheck& c) { return c.passed ? 0 : c.lacks_numbers ? 1 : 2; };
  if (fault(a) != fault(b)) return fault(a) > fault(b) ? a : b;
  return b.error * a.bound > a.error * b.bound ? b : a;
}

}  // namespace

KernelCheck check_kernel(const OpRow& row, const Robot& robot, Precision precision, int frame, const Program& program,
                         const std::function<SampledArrays(const SampledRow&)>& run) {
  if (row.in.empty() || row.in[0].components == 0) return {};
  if (row.derivative != Derivative::none) {
    const SampledRow inputs = sample_row(row, robot, walked_instances, 1);
    return compare(row, robot, precision, run(inputs),
                   {walk<double>(program, row, inputs), walk<float>(program, row, inputs),
                    walk<double>(program, row, off_by_few_roundings(inputs))});
  }
  const KernelTable& table = table_of_row(row.index, row.name);
  const KernelEntry& text = table.entries[row.index];
  const Model<float> single = cast<float>(robot.model);
  const Model<double> off = off_by_few_roundings(robot.model);
  const RunTimeModel exact{&robot.model, frame}, rounded{&single, frame}, beside{&off, frame};
  const BoundKernel in_double{text.in_double, &exact, table.double_width, nullptr};
  const BoundKernel in_float{text.in_float, &rounded, table.float_width, nullptr};
  const BoundKernel of_other{text.in_double, &beside, table.double_width, nullptr};
  const auto by_text = [&](SampledRow own, const BoundKernel& near) -> SampledText {
    // kernels that take the model as data have no parameters
    OpRow plain = row;
    for (std::size_t k = plain.in.size(); k-- > 0;)
      if (is_parameter(plain.in[k].name))
        own.in.erase(own.in.begin() + static_cast<long>(k)), plain.in.erase(plain.in.begin() + static_cast<long>(k));
    return {run_sampled(in_double, Precision::float64, plain, own),
            run_sampled(in_float, Precision::float32, plain, own),
            run_sampled(near, Precision::float64, plain, off_by_few_roundings(own))};
  };
  const SampledRow random = sample_row(row, robot, instances, 1);
  const SampledRow starting = sample_row(row, robot, instances, 1, Positions::where_robots_start);
  const SampledText anywhere = by_text(random, in_double), start = by_text(starting, of_other);
  return worse(compare(row, robot, precision, run(random), anywhere),
               compare(row, robot, precision, run(starting), start, usual_of(anywhere)));
}

}  // namespace featherstorm
