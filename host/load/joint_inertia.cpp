#include "host/load/joint_inertia.h"

#include <algorithm>
#include <cmath>

#include "core/dynamics/articulated_joint.h"
#include "host/load/sample_q.h"
#include "host/system/interruption.h"

namespace featherstorm {
namespace {

constexpr int positions = 3;
constexpr double rounding = 1e-13;       // of S^T I^c S, I^c the inertia of the whole subtree
constexpr double axes_rounding = 1e-15;  // of the largest element of I^c, which turns from body to body

// The fault of the outermost coordinate that has one.
struct Fault {
  int freedom = -1;
  bool zero = false;
};
Fault first_fault(const Model<double>& m, const std::vector<double>& q) {
  const std::vector<Pivot> all = pivots(m, q);
  for (int i = m.nv - 1; i >= 0; i--)
    if (const Pivot& p = all[static_cast<std::size_t>(i)]; p.is_zero || p.value < 0) return {i, p.is_zero};
  return {};
}

}  // namespace

std::vector<Pivot> pivots(const Model<double>& m, const std::vector<double>& q) {
  std::vector<Pivot> all(static_cast<std::size_t>(m.nv));
  std::vector<double> x(static_cast<std::size_t>(m.nx));
  std::vector<RigidBodyInertia<double>> Ic;
  std::vector<ArticulatedInertia<double>> IA;
  update_joints(m, q.data(), Zeros<double>{}, x);
  for (const Body<double>& b : m.body) Ic.push_back(b.I), IA.push_back(articulated<double>(b.I));
  for (int i = m.nb; i >= 1; i--) {
    end_if_interrupted();
    const Body<double>& b = m.body[static_cast<std::size_t>(i)];
    RigidBodyInertia<double>& I = Ic[static_cast<std::size_t>(i)];
    ArticulatedInertia<double>& A = IA[static_cast<std::size_t>(i)];
    with_joint(m, i, x.data(), [&](const auto& J) {
      const Sym3<double>& a = I.I;
      const double largest =
          std::max({std::abs(a.xx), std::abs(a.xy), std::abs(a.xz), std::abs(a.yy), std::abs(a.yz), std::abs(a.zz)});
      // eliminate the last coordinate first: d_k = S_k^T I^A S_k + armature, I^A -= I^A S_k (I^A S_k)^T / d_k
      for (int k = J.nv - 1; k >= 0; k--) {
        double unit[6] = {};
        unit[k] = 1;
        const Motion<double> S = zero_motion<double>() + J.velocity(static_cast<const double*>(unit));
        const double armature = m.armature[static_cast<std::size_t>(b.v) + static_cast<std::size_t>(k)];
        const Force<double> U = J.force_of_axis(k, A);
        const double d = J.project(k, U) + armature;
        const double own = std::abs(J.project(k, J.force_of_axis(k, I))) + armature;
        const double noise = S.w.squaredNorm() * largest + S.v.squaredNorm() * std::abs(I.m);
        all[static_cast<std::size_t>(b.v) + static_cast<std::size_t>(k)] = {
            d, !(std::abs(d) > rounding * own + axes_rounding * noise)};
        const Force<double> G = U * (1 / d);
        A = {minus_outer(A.I, U.n, G.n), minus_outer(A.H, U.n, G.f), minus_outer(A.M, U.f, G.f)};
      }
      if (b.parent == 0) return;
      if (!b.rotor) J.clear_axis(A);
      Ic[static_cast<std::size_t>(b.parent)] += apply_transpose(J, I);
      IA[static_cast<std::size_t>(b.parent)] += apply_transpose(J, A);
    });
  }
  return all;
}

void check_joint_inertia(Robot& robot) {
  const Model<double>& m = robot.model;
  for (const UserJoint& joint : m.user)
    if (joint.time_dependent) return;  // its placement needs a time
  std::mt19937_64 engine(1);
  Fault found;
  int faults = 0, zeros = 0;
  for (int k = 0; k < positions && m.nv > 0; k++) {
    const Fault p = first_fault(m, sample_q(m, engine));
    if (p.freedom < 0) continue;
    faults++, zeros += p.zero;
    if (found.freedom < 0 || p.zero) found = p;
  }
  if (faults == 0) return;
  const std::string& joint = robot.joint_names[m.dof_body[found.freedom] - 1];
  if (zeros == positions)
    throw ModelError(
        "joint", joint,
        "moves no inertia, or only inertia that the joints beyond it move as well: the joint-space inertia matrix is "
        "singular at every position, so forces determine no acceleration; give the joint a rotor "
        "(armature), or make it fixed");
  robot.odd.push_back("joint '" + joint + "' has " + (found.zero ? "no" : "a negative") +
                      " inertia at some positions: accelerations there are not physical");
  robot.notices.push_back(robot.odd.back());
}

}  // namespace featherstorm
