// docs/control.md: a Go2 that plans its steps, from C++. The planner knows four point feet; the robot has all of its collision
// elements.
//
//   trot                       the robot is featherstorm's simulation of it, with MuJoCo's law of contacts
//   trot go2.mjb               the robot is MuJoCo C's (in_mujoco.h)
//   trot go2.mjb --clock 10    so many seconds in real time, with the planner in a thread of its own
//
// The exit code says whether it trots: it does not fall, and is faster than 0.6 m/s of 0.8 m/s.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

#include <featherstorm/featherstorm.h>

#include "quadruped.h"
#ifdef TROT_IN_MUJOCO
#include "in_mujoco.h"
#endif

using namespace featherstorm;

// [model]
constexpr double kp = 30, kd = 1, foot_radius = 0.022;
const char* const feet[4] = {"FL_foot", "FR_foot", "RL_foot", "RR_foot"};

Robot on_point_feet() {
  Robot robot = load("go2");
  std::vector<ContactSpec> contacts;
  for (const char* foot : feet) contacts.push_back(on_ground(foot, {0, 0, 0}, foot_radius, 0.8));
  robot.model.contacts = contacts_of(robot, contacts);
  return robot;
}

Expr square(Expr x) { return x * x; }

// The height of a foot in a trot [m]: half a sine while it swings, twice a second, diagonal legs together.
Expr swing(Expr t, int leg) {
  const double duty = 0.55, lift = 0.08;
  const Expr cycle = 2.0 * t + (leg == 0 || leg == 3 ? 0.0 : 0.5);
  const Expr part = max((cycle - floor(cycle) - duty) / (1 - duty), Expr(0.0));
  return lift * sin(M_PI * part);
}

RolloutOptions trot(double speed) {
  RolloutOptions o;
  o.stepping = {.dt = 0.02, .numbers = {{"kp", {kp}}, {"kd", {kd}}}};
  o.controls = 12;  // targets of the joints
  o.control = [](const TracedState&, const Traced& u, Expr, const Traced&) -> RolloutOptions::Drive {
    Traced target(6, 0.0);
    target.insert(target.end(), u.begin(), u.end());
    return {Traced(18, 0.0), target};
  };
  o.cost = [speed](const TracedState& x, const Traced& u, Expr t, const Traced&) {
    const Traced R = x.rotation("base");
    const Expr length = sqrt(square(R[0]) + square(R[3]) + 1e-6), c = R[0] / length, s = R[3] / length;
    const Expr forward = c * x.v[0] + s * x.v[1], side = c * x.v[1] - s * x.v[0];
    const Expr turn = R[6] * x.v[3] + R[7] * x.v[4] + R[8] * x.v[5];
    Expr sum = 3.0 * (square(forward - speed) + square(side)) + 0.3 * square(turn) + 0.3 * square(s);
    sum = sum + 0.5 * (square(R[6]) + square(R[7]) + square(1.0 - R[8])) + 10.0 * square(x.q[2] - 0.3);
    sum = sum + 0.002 * (square(x.v[3]) + square(x.v[4]));
    for (int k = 0; k < 12; k++) sum = sum + 0.02 * square(u[k] - stance[k % 3]);
    for (int leg = 0; leg < 4; leg++) sum = sum + 40.0 * square(x.position(feet[leg])[2] - foot_radius - swing(t, leg));
    return sum;
  };
  return o;
}

// The planner, which begins with targets of a stance.
struct Pilot {
  Robot model = on_point_feet();
  Evaluator dynamics{model, {.threads = 1}};
  RolloutOptions options;
  Rollout roll;
  Planner planner;

  explicit Pilot(double speed) : options(trot(speed)), roll(dynamics, options), planner(roll, plans()) {
    std::vector<double> knots;
    for (int k = 0; k < 5 * 12; k++) knots.push_back(stance[k % 3]);
    planner.reset(knots);
  }
  static PlannerOptions plans() {
    const double low[] = {-0.5, 0.4, -2.3}, high[] = {0.5, 1.4, -0.85};
    PlannerOptions o;
    std::vector<double> sigma;
    for (int k = 0; k < 12; k++) {
      o.lower.push_back(low[k % 3]), o.upper.push_back(high[k % 3]);
      sigma.push_back(0.5 * (high[k % 3] - low[k % 3]));
    }
    o.horizon = 16, o.samples = 256, o.iterations = 2, o.first_iterations = 10;
    o.knots = 5, o.interpolation = Interpolation::Cubic;
    o.sigma = annealed_sigma(sigma, o.iterations, o.knots, 0.5, 0.9);
    o.update.temperature = 0.1, o.update.standardised = true;
    return o;
  }
};
// [model end]

// The torques of the motors, which follow targets within their limits.
void follow(Quadruped& robot, const State& x, const double* target) {
  double torque[12];
  for (int j = 0; j < 12; j++) {
    const double most = j % 3 == 2 ? 45.43 : 23.7;  // [N m]
    torque[j] = std::clamp(kp * (target[j] - x[7 + j]) - kd * x[19 + 6 + j], -most, most);
  }
  robot.step(torque);
}

// [loop]
// Trot in the robot's time: plans act `latency` after the state that they were made for, on any computer.
Record walk(Quadruped& robot, double speed, double seconds, double latency) {
  Pilot pilot(speed);
  Predictor predictor(pilot.dynamics, pilot.options);
  const Buffer q(Precision::float32, 1, 19), v(Precision::float32, 1, 18);
  const RolloutArrays now{.q = q.ref(), .v = v.ref()};
  Record record;
  double target[12];
  for (long k = 0; k < std::lround(seconds / timestep) && !record.fell; k++) {
    const double t = timestep * k;
    const State x = robot.state();
    record.add(t, x);
    if (k % 10 == 0) {  // a plan every 20 ms
      for (int c = 0; c < 19; c++) *q.component<float>(c) = static_cast<float>(x[c]);
      for (int c = 0; c < 18; c++) *v.component<float>(c) = static_cast<float>(x[19 + c]);
      pilot.planner.command(predictor.state(pilot.planner, now, t, latency), t + latency);
    }
    pilot.planner.control(t, target);
    follow(robot, x, target);
  }
  return record;
}

// Trot in real time: this thread is the robot, which steps by the clock and waits for no plan.
Record live(Quadruped& robot, double speed, double seconds) {
  Pilot pilot(speed);
  Receding receding(pilot.planner, pilot.dynamics, pilot.options);
  while (receding.plans() == 0) receding.submit(robot.state(), 0), std::this_thread::yield();  // it makes the kernels
  Record record;
  double target[12];
  const double begin = receding.clock();
  for (long k = 0; k < std::lround(seconds / timestep) && !record.fell; k++) {
    const double t = begin + timestep * k, early = t - receding.clock();
    if (early > 0) std::this_thread::sleep_for(std::chrono::duration<double>(early));
    const State x = robot.state();
    record.add(t - begin, x);
    if (k % 5 == 0) receding.submit(x, t);
    receding.control(t, target);
    follow(robot, x, target);
  }
  const RecedingStats s = receding.stats();
  std::printf(
      "%ld plans, %.1f a second, %ld late, %ld failed; p50, p95, p99 [ms] of a plan %.1f, %.1f, %.1f, of its age "
      "%.1f, %.1f, %.1f\n",
      s.plans, static_cast<double>(s.plans) / seconds, s.late, s.failed, 1e3 * s.spent.p50, 1e3 * s.spent.p95,
      1e3 * s.spent.p99, 1e3 * s.age.p50, 1e3 * s.age.p95, 1e3 * s.age.p99);
  return record;
}
// [loop end]

int main(int count, char** words) {
  std::unique_ptr<Quadruped> robot;
  const char* where = "MuJoCo C";
#ifdef TROT_IN_MUJOCO
  if (count > 1) robot = std::make_unique<InMujoco>(words[1]);
#endif
  if (!robot) robot = std::make_unique<Simulated>(), where = "featherstorm's simulation";
  const bool clock = count > 3 && !std::strcmp(words[2], "--clock");
  const Record record = clock ? live(*robot, 0.8, std::atof(words[3])) : walk(*robot, 0.8, 5, 0.02);
  std::printf("the quadruped %s at %.2f m/s in %s\n", record.fell ? "fell" : "trots", record.speed(), where);
  return !record.fell && record.speed() > 0.6 ? 0 : 1;
}
