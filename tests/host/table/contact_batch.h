// go2 with contacts at its feet, and batches of rows on it.
#pragma once
#include <cmath>
#include <vector>

#include "core/model/contacts.h"
#include "host/engine/evaluator.h"
#include "host/load/load.h"

namespace featherstorm::test {

using Numbers = std::vector<double>;
using RowArrays = std::vector<Numbers>;

inline std::vector<ContactSpec> feet(double friction = 0.6, double restitution = 0) {
  std::vector<ContactSpec> c;
  for (const char* foot : {"FL_foot", "FR_foot", "RL_foot", "RR_foot"})
    c.push_back(on_ground(foot, {0, 0, 0}, 0.022, friction, restitution));
  return c;
}
inline Robot on_feet() { return load("go2", {.contacts = feet()}); }

// Runs a row on a batch, arrays [instance][component].
template <class Real>
std::vector<RowArrays> run_batch(Evaluator& e, const char* op, const std::vector<RowArrays>& in,
                                 const Numbers& uniforms = {}, long repeat = 1) {
  const OpRow& row = e.op(op);
  const Precision p = precision_of<Real>();
  const long n = static_cast<long>(in[0].size());
  std::vector<Buffer> buffers;
  std::vector<ArrayRef> i, o;
  for (std::size_t a = 0; a < in.size(); a++) {
    buffers.emplace_back(p, n, row.in[a].components);
    for (long k = 0; k < n; k++)
      for (int c = 0; c < row.in[a].components; c++)
        buffers.back().component<Real>(c)[k] = static_cast<Real>(in[a][k][c]);
    i.push_back(buffers.back().ref());
  }
  for (const auto& a : row.out) o.push_back(buffers.emplace_back(p, n, a.components).ref());
  e.run(op, i, o, {uniforms, 0, repeat});
  std::vector<RowArrays> out;
  for (std::size_t a = 0; a < row.out.size(); a++) {
    out.emplace_back(n, Numbers(row.out[a].components));
    for (long k = 0; k < n; k++)
      for (int c = 0; c < row.out[a].components; c++) out[a][k][c] = buffers[in.size() + a].component<Real>(c)[k];
  }
  return out;
}

// Standing, with springs in the joints.
struct Stance {
  Numbers q, target;
  double kp = 60, kd = 3, dt = 0.002, slop = 0.001;
  explicit Stance(const Robot& robot) : q(robot.q0), target(robot.model.nv, 0.0) {
    for (int leg = 0; leg < 4; leg++) {
      q[7 + 3 * leg + 1] = target[6 + 3 * leg + 1] = 0.8;
      q[7 + 3 * leg + 2] = target[6 + 3 * leg + 2] = -1.6;
    }
  }
  Numbers uniforms(const Robot& robot) const {
    Numbers u{dt};
    u.insert(u.end(), robot.model.nv, kp), u.insert(u.end(), robot.model.nv, kd);
    for (double x : {0.0, 0.0, 0.01, 0.2, slop, 1.0, 0.1, 0.0}) u.push_back(x);
    return u;
  }
};
// q, v, impulse, tau, target of a batch that falls from different heights and attitudes.
inline std::vector<RowArrays> falling(const Robot& robot, const Stance& stance, long count) {
  std::vector<RowArrays> s(5);
  for (long i = 0; i < count; i++) {
    Numbers q = stance.q;
    const double angle = 0.05 * (i % 5 - 2);
    q[2] = 0.36 + 0.02 * (i % 7), q[3] = std::cos(angle / 2), q[4 + i % 2] = std::sin(angle / 2);
    s[0].push_back(q);
    s[1].push_back(Numbers(robot.model.nv, 0.0));
    s[1].back()[0] = 0.2 * (i % 3 - 1);
    s[2].push_back(Numbers(12, 0.0));
    s[3].push_back(Numbers(robot.model.nv, 0.0));
    s[4].push_back(stance.target);
  }
  return s;
}

}  // namespace featherstorm::test
