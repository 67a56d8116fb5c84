#include "host/load/joint_inertia.h"

#include <cmath>

#include "core/dynamics/crba.h"
#include "core/linear/ltdl.h"
#include "host/load/sample_q.h"

namespace featherstorm {
namespace {

constexpr int positions = 3;
constexpr double rounding = 1e-13;

// A pivot of M = L^T D L at a position that is not positive. The pivot of a coordinate is its inertia while all
// coordinates beyond it are free; the last such coordinate is reported.
struct Pivot {
  int freedom = -1;
  bool zero = false;
};
Pivot first_fault(const Model<double>& m, const std::vector<double>& q) {
  std::vector<double> H(m.nh);
  crba(m, q.data(), H.data());
  std::vector<double> L = H;
  ltdl(m, L.data());  // the diagonal is 1 / D
  for (int i = m.nv - 1; i >= 0; i--) {
    const double own = H[m.at(i, i)], pivot = 1 / L[m.at(i, i)];
    if (!(std::abs(pivot) > rounding * std::abs(own))) return {i, true};
    if (pivot < 0) return {i, false};
  }
  return {};
}

}  // namespace

void check_joint_inertia(Robot& robot) {
  const Model<double>& m = robot.model;
  for (const UserJoint& joint : m.user)
    if (joint.time_dependent) return;  // its placement needs a time
  std::mt19937_64 engine(1);
  Pivot found;
  int faults = 0, zeros = 0;
  for (int k = 0; k < positions && m.nv > 0; k++) {
    const Pivot p = first_fault(m, sample_q(m, engine));
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
