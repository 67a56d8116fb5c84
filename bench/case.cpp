#include "bench/case.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "core/model/joints.h"

namespace featherstorm {
namespace {

using Random = std::mt19937_64;

double uniform(Random& random, double bound) { return std::uniform_real_distribution<double>(-bound, bound)(random); }

// Makes components k .. k + 3 a random unit quaternion.
void unit_quaternion(const ArrayRef& a, long i, int k, Random& random) {
  std::normal_distribution<double> normal;
  double x[4], square = 0;
  for (double& c : x) c = normal(random), square += c * c;
  for (int c = 0; c < 4; c++) set(a, i, k + c, x[c] / std::sqrt(square));
}

void random_configuration(const Model<double>& m, const ArrayRef& q, long i, Random& random) {
  for (long c = 0; c < q.components; c++) set(q, i, c, uniform(random, 1));
  for (int b = 1; b <= m.nb; b++) {
    const auto& body = m.body[b];
    const JointTraits traits = joint_traits(body.type);
    if (traits.group == JointGroup::turns_about_z) set(q, i, body.q, uniform(random, std::numbers::pi));
    if (traits.quaternion >= 0) unit_quaternion(q, i, body.q + traits.quaternion, random);
  }
}

void copy(const ArrayRef& from, const ArrayRef& to) {
  for (long i = 0; i < from.instances; i++)
    for (long c = 0; c < from.components; c++) set(to, i, c, get(from, i, c));
}

// A joint-space inertia matrix at a random configuration, or its factor by an operation.
void inertia_matrix(Evaluator& reference, const ArrayRef& to, const char* factor, Random& random) {
  const Model<double>& m = reference.robot().model;
  Buffer q(Precision::float64, to.instances, m.nq), M(Precision::float64, to.instances, m.nh),
      L(Precision::float64, to.instances, m.nh);
  for (long i = 0; i < to.instances; i++) random_configuration(m, q.ref(), i, random);
  reference.run("crba", {q.ref()}, {M.ref()});
  if (factor) reference.run(factor, {M.ref()}, {L.ref()});
  copy(factor ? L.ref() : M.ref(), to);
}

// Numbers that all instances share, of the size a simulation has.
double uniform_value(std::string_view name) {
  if (name == "dt") return 0.002;
  if (name == "kp" || name == "limit_stiffness") return 20;
  if (name == "kd" || name == "limit_damping") return 0.5;
  if (name == "tolerance") return 1e-6;
  return 0.1;
}

}  // namespace

int deepest_frame(const Model<double>& m) {
  int deepest = 0;
  for (int f = 0; f < m.nf; f++)
    if (support(m, m.frame[f].body).size() >= support(m, m.frame[deepest].body).size()) deepest = f;
  return deepest;
}

double get(const ArrayRef& a, long instance, long component) {
  const long k = instance * a.instance_stride + component * a.component_stride;
  return a.precision == Precision::float32 ? static_cast<const float*>(a.data)[k]
                                           : static_cast<const double*>(a.data)[k];
}
void set(const ArrayRef& a, long instance, long component, double value) {
  const long k = instance * a.instance_stride + component * a.component_stride;
  if (a.precision == Precision::float32) static_cast<float*>(a.data)[k] = static_cast<float>(value);
  else static_cast<double*>(a.data)[k] = value;
}

void Case::add_array(long components, bool rows, std::vector<ArrayRef>& list) {
  if (rows) {
    rows_.emplace_back(std::max(instances * components, 1L) * bytes_of(precision));
    list.push_back({rows_.back().data(), precision, instances, components, components, 1});
  } else {
    buffers_.emplace_back(precision, instances, components);
    list.push_back(buffers_.back().ref());
  }
}

Case::Case(Evaluator& reference, std::string_view name, Precision precision, long instances, bool rows, unsigned seed)
    : op(name), precision(precision), instances(instances) {
  Random random(seed);
  const Model<double>& m = reference.robot().model;
  const OpRow& row = reference.op(op);
  for (const auto& a : row.in) {
    add_array(a.components, rows, in);
    if (a.name == "M" || a.name == "L" || a.name == "L_ltl") {
      inertia_matrix(reference, in.back(), a.name == "M" ? nullptr : a.name == "L" ? "ltdl" : "ltl", random);
    } else {
      const bool configuration = a.name[0] == 'q' && a.components == m.nq;
      for (long i = 0; i < instances; i++) {
        if (configuration) random_configuration(m, in.back(), i, random);
        else
          for (long c = 0; c < a.components; c++) set(in.back(), i, c, uniform(random, 1));
      }
    }
  }
  for (const auto& a : row.out) add_array(a.components, rows, out);
  for (const auto& u : row.uniforms)
    options.uniforms.insert(options.uniforms.end(), u.components, uniform_value(u.name));
  if (row.uses_frame) options.frame = deepest_frame(m);

  std::vector<Buffer> exact;
  std::vector<ArrayRef> x, r;
  for (const ArrayRef& a : in) {
    exact.emplace_back(Precision::float64, instances, a.components);
    x.push_back(exact.back().ref());
    copy(a, x.back());
  }
  for (const ArrayRef& a : out) {
    reference_.emplace_back(Precision::float64, instances, a.components);
    r.push_back(reference_.back().ref());
  }
  reference.run(op, x, r, options);
}

void Case::run(Evaluator& evaluator, bool poison) {
  if (poison) {
    for (const ArrayRef& a : out)
      for (long i = 0; i < instances; i++)
        for (long c = 0; c < a.components; c++) set(a, i, c, std::numeric_limits<double>::quiet_NaN());
  }
  evaluator.run(op, in, out, options);
}

Case::Error Case::error() const {
  Error e;
  for (std::size_t k = 0; k < out.size(); k++) {
    const ArrayRef r = reference_[k].ref();
    double batch_difference = 0, batch_scale = 0;
    for (long i = 0; i < instances; i++) {
      double difference = 0, scale = 0;
      for (long c = 0; c < r.components; c++) {
        const double exact = get(r, i, c), d = std::fabs(get(out[k], i, c) - exact);
        difference = d <= difference ? difference : d;  // keeps a NaN
        scale = std::max(scale, std::fabs(exact));
        batch_difference += d * d, batch_scale += exact * exact;
      }
      const double largest = difference == 0 ? 0 : difference / scale;
      e.largest = largest <= e.largest ? e.largest : largest;
    }
    const double relative = batch_difference == 0 ? 0 : std::sqrt(batch_difference / batch_scale);
    e.relative = relative <= e.relative ? e.relative : relative;
  }
  return e;
}

}  // namespace featherstorm
