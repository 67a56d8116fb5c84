// Uses featherstorm from another project: a built-in robot, the engine, a robot compiled when this project is built.
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

#include <featherstorm/featherstorm.h>

#include "pendulum.h"

using namespace featherstorm;

// The greater error; one that is no number stays.
double worse(double error, double found, double expected) {
  const double e = std::fabs(found - expected);
  return error >= e || std::isnan(error) ? error : e;
}

// The largest error of go2's accelerations in free fall: its base falls with g, nothing turns, no joint moves.
double error_of_free_fall() {
  const Robot robot = load("go2");
  Evaluator dynamics(robot);
  const long B = 33;
  const int nq = robot.model.nq, nv = robot.model.nv;
  Buffer q(Precision::float64, B, nq), v(Precision::float64, B, nv), tau(Precision::float64, B, nv),
      a(Precision::float64, B, nv);
  for (long i = 0; i < B; i++) {
    q.component<double>(3)[i] = 1;  // the quaternion
    for (int c = 7; c < nq; c++) q.component<double>(c)[i] = std::sin(0.7 * c + 0.3 * static_cast<double>(i));
  }
  dynamics.run("fd", {q.ref(), v.ref(), tau.ref()}, {a.ref()});
  double error = 0;
  for (int c = 0; c < nv; c++)
    for (long i = 0; i < B; i++) error = worse(error, a.component<double>(c)[i], c == 2 ? -9.81 : 0);
  std::printf("go2: %d freedoms, kernels for %s, error of free fall %.1e m/s^2\n", nv, dynamics.isa().c_str(), error);
  return error;
}

// The same of a pendulum: (I + m l^2) a = tau - m g l sin(q)
double error_of_pendulum() {
  alignas(64) double q[pendulum::width] = {}, v[pendulum::width] = {}, tau[pendulum::width] = {},
                     a[pendulum::width] = {};
  for (int i = 0; i < pendulum::width; i++) q[i] = 0.4 * i - 0.5, v[i] = i, tau[i] = 2 - i;
  pendulum::fd(q, v, tau, a, pendulum::width, pendulum::width);
  double error = 0;
  for (int i = 0; i < pendulum::width; i++)
    error = worse(error, a[i], (tau[i] - 2 * 9.81 * 0.5 * std::sin(q[i])) / 0.6);
  std::printf("pendulum: error %.1e rad/s^2\n", error);
  return error;
}

// Where what was loaded at run time has come from.
void print_files() {
  std::printf("robots: %s\n", robot_directory().c_str());
  std::ifstream maps("/proc/self/maps");
  for (std::string line, last; std::getline(maps, line);) {
    if (line.find("libfeatherstorm_cpu_") == line.npos) continue;
    line.erase(0, line.find('/'));
    if (line != last) std::printf("kernels: %s\n", line.c_str());
    last = line;
  }
}

int main() {
  try {
    const double free_fall = error_of_free_fall(), swing = error_of_pendulum();
    print_files();
    return free_fall < 1e-9 && swing < 1e-9 ? 0 : 1;
  } catch (const std::exception& error) { return std::printf("%s\n", error.what()), 1; }
}
