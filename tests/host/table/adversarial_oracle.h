// How far the outputs of a row are off, judged by the dense oracle: of one robot in one state.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/oracles/dense.h"
#include "tests/support/robots/adversarial_robot.h"

namespace featherstorm::testing {

using dense::MatrixX;
using dense::VectorX;
using Numbers1 = std::vector<double>;

inline constexpr double turned_away = 1e-14;  // `rounding` of core/model/joint_axes.cpp, of two joints
inline constexpr double lost = 1e-10;     // of a robot's size: what rounding leaves of the inertia of points on an axis
inline constexpr double singular = 1e10;  // condition of M with unit diagonal: beyond it accelerations say nothing

// Errors in units of the largest number of the array, and of what each joint's own inertia lets expect.
struct Errors {
  double all = 0, joint = 0;
  void take(const Errors& e) { all = std::max(all, e.all), joint = std::max(joint, e.joint); }
};

// One robot in one state, with what the oracle says of it.
struct Exact {
  Exact(const RobotSpec& spec, const Robot& robot, const dense::Tree& tree, unsigned seed)
      : spec(spec), robot(robot), tree(tree), s(adversarial_state(robot.model, seed)), M(tree.crba(s.q)) {
    const int n = tree.nv;
    const Numbers1 rest(n, 0.0);
    const VectorX d = M.diagonal().cwiseMax(0).cwiseSqrt();
    MatrixX unit = M;
    double motion = 0, turning = 0, mass = 0, speed = 0, length = 0;
    for (double x : s.v) speed = std::max(speed, std::abs(x));
    for (int i = 0; i < n; i++) {
      const double turns = std::abs(s.a[i]) + n * speed * std::abs(s.v[i]);
      turning = std::max(turning, turns), motion = std::max(motion, d(i) * turns);
      for (int k = 0; k < n; k++) unit(i, k) = d(i) * d(k) > 0 ? M(i, k) / (d(i) * d(k)) : i == k;
    }
    const VectorX e = Eigen::SelfAdjointEigenSolver<MatrixX>(unit, Eigen::EigenvaluesOnly).eigenvalues();
    solvable = d.minCoeff() > lost * d.maxCoeff() && e(0) > e(n - 1) / singular;
    definite_in_float = e(0) > e(n - 1) * 1e-6;
    for (const dense::Node& node : tree.node) mass += node.mass, length += node.joint.X.r.norm() + node.com.norm();
    moves = d.squaredNorm() > lost * mass * length * length;
    force = d * (motion + std::sqrt(mass) * tree.gravity.norm());
    root = d;
    cleaned =
        turned_away * mass * length * (tree.gravity.norm() + length * turning) / std::max(force.maxCoeff(), 1e-300);
    const VectorX tau = tree.rnea(s.q, s.v, s.a, {}), pushed = tree.rnea(s.q, s.v, s.a, s.f_ext);
    s.tau.assign(tau.begin(), tau.end());
    tau_pushed.assign(pushed.begin(), pushed.end());
    push = (pushed - tau).cwiseAbs();
  }

  const Numbers1& array(std::string_view name, bool with_forces) const {
    if (name == "q") return s.q;
    if (name == "v") return s.v;
    if (name == "a" || name == "x") return s.a;
    if (name == "tau") return with_forces ? tau_pushed : s.tau;
    return s.f_ext;
  }

  // How far an output is off in this state; false where the oracle does not know the row.
  bool judge(const std::string& row, const Numbers1& y, Errors& e) const {
    const Numbers1 zero(tree.nv, 0.0), none;
    const VectorX pushed = force + VectorX::Constant(tree.nv, push.maxCoeff());
    const auto forces = [&](const VectorX& expected, VectorX scale) {
      scale = scale.cwiseMax(1e-300);
      const VectorX d = (Eigen::Map<const VectorX>(y.data(), tree.nv) - expected).cwiseAbs();
      e.take(ratio(d, scale));
      return true;
    };
    const auto accelerations = [&](const Numbers1& tau, const Numbers1& f, const VectorX& scale) {
      const VectorX d = (tree.rnea(s.q, s.v, y, f) - Eigen::Map<const VectorX>(tau.data(), tree.nv)).cwiseAbs();
      e.take(ratio(d, scale.cwiseMax(1e-300)));
      return true;
    };
    if (row == "rnea") return forces(tree.rnea(s.q, s.v, s.a, none), force);
    if (row == "rnea_f_ext") return forces(tree.rnea(s.q, s.v, s.a, s.f_ext), pushed);
    if (row == "bias") return forces(tree.rnea(s.q, s.v, zero, none), force);
    if (row == "gravity") return forces(tree.rnea(s.q, zero, zero, none), force);
    if (row == "id_delta") return forces(M * Eigen::Map<const VectorX>(s.a.data(), tree.nv), force);
    if (row == "fd" || row == "aba") return accelerations(s.tau, none, force);
    if (row == "aba_f_ext") return accelerations(tau_pushed, s.f_ext, pushed);
    if (row == "crba") return inertia(y, e);
    if (row == "forward_kinematics") return frames(y, e);
    if (row == "energy") {
      const double T = tree.kinetic_energy(s.q, s.v), V = tree.potential_energy(s.q);
      double size = std::abs(T);
      const dense::Pose p = tree.pose(s.q, zero);
      for (std::size_t i = 0; i < tree.node.size(); i++)
        size += tree.node[i].mass * tree.gravity.norm() * (p.T[i] * tree.node[i].com.homogeneous()).head<3>().norm();
      e.take(worst(std::max(std::abs(y[0] - T), std::abs(y[1] - V)) / std::max(size, 1e-300)));
      return true;
    }
    return false;
  }

  static Errors worst(double x) { return {x >= 0 ? x : HUGE_VAL, 0}; }  // NaN
  Errors ratio(const VectorX& d, const VectorX& scale) const {
    Errors e;
    for (int i = 0; i < d.size(); i++) {
      const double x = d(i) >= 0 ? d(i) : HUGE_VAL;
      e.take({x / scale.maxCoeff(), solvable ? x / scale(i) : 0});
    }
    return e;
  }
  bool inertia(const Numbers1& y, Errors& e) const {
    const Model<double>& m = robot.model;
    const double size = M.cwiseAbs().maxCoeff();
    for (int i = 0; i < m.nv; i++)
      for (int j = i; j >= 0; j = m.dof_parent[j]) {
        const double d = std::abs(y[m.at(i, j)] - M(i, j)), x = d >= 0 ? d : HUGE_VAL;
        e.take({x / size, solvable ? x / (root(i) * root(j)) : 0});
      }
    return true;
  }
  bool frames(const Numbers1& y, Errors& e) const {
    const dense::Pose p = tree.pose(s.q, Numbers1(tree.nv, 0.0));
    double reach = 1e-300;
    for (const auto& T : p.T) reach = std::max(reach, T.topRightCorner<3, 1>().norm());
    for (int f = 0; f < robot.model.nf; f++) {
      dense::Matrix4 X = dense::Matrix4::Identity();
      std::string link = robot.frame_names[f];
      for (const FrameSpec& given : spec.frames)
        if (given.name == link)
          link = given.link, X.topLeftCorner<3, 3>() = given.X.R, X.topRightCorner<3, 1>() = given.X.r;
      for (std::size_t i = 0; i < tree.node.size(); i++) {
        if (tree.node[i].name != link) continue;
        const dense::Matrix4 T = p.T[i] * X;
        for (int r = 0; r < 3; r++) {
          e.take(worst(std::abs(y[12 * f + r] - T(r, 3)) / std::max(reach, T.topRightCorner<3, 1>().norm())));
          for (int c = 0; c < 3; c++) e.take(worst(std::abs(y[12 * f + 3 + 3 * r + c] - T(r, c))));
        }
      }
    }
    return true;
  }

  const RobotSpec& spec;
  const Robot& robot;
  const dense::Tree& tree;
  State s;
  MatrixX M;
  VectorX force, root, push;
  double cleaned;  // what weight and inertia of all bodies make of turns taken for none, of the largest force
  Numbers1 tau_pushed;
  bool solvable, moves;  // M is far from singular; a joint has more inertia than rounding leaves of a point on its axis
  bool definite_in_float;  // so that roots of its pivots are numbers
};

}  // namespace featherstorm::testing
