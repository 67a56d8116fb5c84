#include "host/trace/canonical_form.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/dynamics/crba.h"
#include "core/dynamics/newton_euler.h"
#include "host/load/sample_q.h"
#include "host/trace/digits.h"

namespace featherstorm {
namespace {

constexpr int states = 2;
constexpr double allowed = 1e-12;  // relative to the largest number; a chain of 30 bodies has rounding of 1e-14

Model<double> formed(const Model<double>& m, CanonicalForm f) {
  Model<double> r = f.turned ? turned(m) : m;
  if (f.slid) r = slid(std::move(r));
  return f.regrouped ? regrouped(std::move(r)) : r;
}

// Joint forces and joint-space inertia in several states, one after another.
struct Moves { std::vector<std::vector<double>> forces, inertia; };
Moves moves_of(const Model<double>& m, const std::vector<std::vector<double>>& q, const std::vector<double>& v,
               const std::vector<double>& a) {
  Moves r;
  for (const auto& position : q) {
    newton_euler(m, position.data(), v.data(), a.data(), Zeros<double>{}, r.forces.emplace_back(m.nv).data());
    crba(m, position.data(), r.inertia.emplace_back(m.nh).data());
  }
  return r;
}

bool alike(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
  double size = 0, difference = 0;
  for (std::size_t k = 0; k < a.size(); k++)
    for (std::size_t i = 0; i < a[k].size(); i++) {
      size = std::max(size, std::abs(a[k][i]));
      difference = std::max(difference, std::abs(a[k][i] - b[k][i]));
      if (std::isnan(b[k][i]) != std::isnan(a[k][i])) return false;
    }
  return difference <= allowed * size;
}

}  // namespace

CanonicalForm canonical_form(const Model<double>& m, CanonicalForm wanted, bool solves) {
  return canonical_form(m, wanted, solves, formed);
}

CanonicalForm canonical_form(const Model<double>& m, CanonicalForm wanted, bool solves, const Former& formed) {
  for (const UserJoint& joint : m.user)
    if (joint.time_dependent) return wanted;  // its placement needs a time
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<> uniform(-1, 1);
  std::vector<std::vector<double>> q;
  for (int k = 0; k < states; k++) q.push_back(sample_q(m, engine));
  std::vector<double> v(m.nv), a(m.nv);
  for (double& x : v) x = uniform(engine);
  for (double& x : a) x = uniform(engine);
  const Moves own = moves_of(m, q, v, a);
  std::optional<FormAccuracy> accuracy;
  if (solves) accuracy.emplace(m);
  const auto keeps = [&](CanonicalForm f) {
    const Model<double> other = formed(m, f);
    const Moves moves = moves_of(other, q, v, a);
    return alike(own.forces, moves.forces) && alike(own.inertia, moves.inertia) &&
           (!accuracy || accuracy->keeps_digits(other));
  };
  if (keeps(wanted)) return wanted;
  CanonicalForm found{false, false, false};
  for (bool CanonicalForm::* step : {&CanonicalForm::turned, &CanonicalForm::slid, &CanonicalForm::regrouped}) {
    if (!(wanted.*step)) continue;
    found.*step = true;
    if (!keeps(found)) found.*step = false;
  }
  return found;
}

}  // namespace featherstorm
