#include "host/load/inverse_inertia.h"

#include <cmath>

#include "core/dynamics/crba.h"
#include "core/kinematics/wrench_rows.h"
#include "core/linear/ltdl.h"
#include "host/system/error.h"

namespace featherstorm {

InverseInertia::InverseInertia(const Robot& robot)
    : m_(robot.model),
      x_(static_cast<std::size_t>(m_.nx)),
      factor_(static_cast<std::size_t>(m_.nh)),
      X_(static_cast<std::size_t>(m_.nb) + 1) {
  double* x = x_.data();
  update_joints(m_, robot.q0.data(), Zeros<double>{}, x);
  body_placements(m_, x, X_);
  crba(m_, robot.q0.data(), factor_.data());
  ltdl(m_, factor_.data());
  for (int i = 0; i < m_.nv; i++)
    if (const double d = factor_[static_cast<std::size_t>(m_.at(i, i))]; !(d > 0) || std::isinf(d))
      throw Error("robot '" + robot.name + "': its inertia matrix at q0 is not positive definite, at " +
                  robot.v_names[static_cast<std::size_t>(i)] + "; the softness of contacts cannot be computed");
}

// M^-1 = L^-1 D^-1 L^-T
double InverseInertia::square(std::vector<double> row) const {
  solve_lt<Factor::LTDL>(m_, factor_, row.data());
  double sum = 0;
  for (int i = 0; i < m_.nv; i++) {
    const auto k = static_cast<std::size_t>(i);
    sum += row[k] * row[k] * factor_[static_cast<std::size_t>(m_.at(i, i))];
  }
  return sum;
}

InverseInertia::OfBody InverseInertia::of_body(int body, const Vec3d& point) const {
  const Placement<double>& X = X_[static_cast<std::size_t>(body)];
  const Vec3d p = X.r + X.R * point;
  OfBody r{0, 0};
  for (int k = 0; k < 3; k++)
    for (const bool turns : {false, true}) {
      std::vector<double> row(static_cast<std::size_t>(m_.nv));
      const Vec3d unit = Vec3d::Unit(k);
      add_wrench(m_, x_.data(), X_, body, p, turns ? unit : Vec3d(Vec3d::Zero()), turns ? Vec3d(Vec3d::Zero()) : unit,
                 row.data());
      (turns ? r.rotation : r.translation) += square(std::move(row)) / 3;
    }
  return r;
}

double InverseInertia::of_coordinates(int v, int n) const {
  double sum = 0;
  for (int k = v; k < v + n; k++) {
    std::vector<double> row(static_cast<std::size_t>(m_.nv));
    row[static_cast<std::size_t>(k)] = 1;
    sum += square(std::move(row)) / n;
  }
  return sum;
}

double InverseInertia::acceleration(int v) const {
  std::vector<double> column(static_cast<std::size_t>(m_.nv));
  column[static_cast<std::size_t>(v)] = 1;
  solve<Factor::LTDL>(m_, factor_, column.data());
  double sum = 0;
  for (const double a : column) sum += a * a;
  return std::sqrt(sum);
}

}  // namespace featherstorm
