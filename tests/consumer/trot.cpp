// docs/control.md: a Go2 that plans its steps, from C++. The planner knows four point feet; the robot has all of its collision
// elements and MuJoCo's law of contacts.
#include <cmath>
#include <cstdio>

#include <featherstorm/featherstorm.h>

using namespace featherstorm;

// [model]
constexpr double kp = 30, kd = 1, foot_radius = 0.022;
constexpr double stance[3] = {0, 0.8, -1.6};  // hip, thigh, calf [rad]
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
// [model end]

// [loop]
// Number c of the only instance of an array.
double number(const ArrayRef& a, long c) { return static_cast<const float*>(a.data)[c * a.component_stride]; }

// The mean speed over the last second of a trot [m/s]. Plans act `latency` after the state that they were made for.
double walk(double speed, double seconds, double latency) {
  const Robot model = on_point_feet();
  Evaluator dynamics(model);
  const RolloutOptions options = trot(speed);
  const Rollout roll(dynamics, options);
  std::vector<double> lower, upper, sigma, begin;
  for (int k = 0; k < 12; k++) {
    const double low[] = {-0.5, 0.4, -2.3}, high[] = {0.5, 1.4, -0.85};
    lower.push_back(low[k % 3]), upper.push_back(high[k % 3]), begin.push_back(stance[k % 3]);
    sigma.push_back(0.5 * (upper[k] - lower[k]));
  }
  const long knots = 5, horizon = 16;
  const int iterations = 2;
  Planner planner(roll, {.horizon = horizon,
                         .samples = 256,
                         .update = {.temperature = 0.1, .standardised = true},
                         .sigma = annealed_sigma(sigma, iterations, knots, 0.5, 0.9),
                         .lower = lower,
                         .upper = upper,
                         .iterations = iterations,
                         .knots = knots,
                         .interpolation = Interpolation::Cubic,
                         .first_iterations = 10});
  std::vector<double> rest;
  for (long k = 0; k < knots; k++) rest.insert(rest.end(), begin.begin(), begin.end());
  planner.reset(rest);
  Predictor predictor(dynamics, options);

  Robot robot = load("go2", {.world = UrdfWorld{.ground = true, .motors = true, .timestep = 0.002}});
  robot.q0[2] = 0.32;
  for (int k = 0; k < 12; k++) robot.q0[7 + k] = stance[k % 3];
  Evaluator physics(robot, {.threads = 1});
  Simulation sim(physics, 1);
  const Buffer torque(Precision::float32, 1, 12);
  double way = 0;
  const long steps = std::lround(seconds / 0.002);
  for (long k = 0; k < steps; k++) {
    const double t = sim.time();
    const ArrayRef q = sim.q(), v = sim.v();
    if (k % 10 == 0) {  // a plan every 20 ms
      const RolloutArrays now{.q = q, .v = v};
      planner.command(predictor.state(planner, now, t, latency), t + latency);
    }
    double target[12];
    planner.control(t, target);
    for (int j = 0; j < 12; j++) {
      const double most = j % 3 == 2 ? 45.43 : 23.7;  // limits of the motors [N m]
      const double drive = kp * (target[j] - number(q, 7 + j)) - kd * number(v, 6 + j);
      torque.component<float>(j)[0] = static_cast<float>(std::fmin(std::fmax(drive, -most), most));
    }
    sim.step(torque.ref());
    if (k >= steps - 500) way += 0.002 * number(sim.v(), 0);
  }
  return number(sim.q(), 2) > 0.2 ? way : 0;  // 0: it has fallen
}
// [loop end]

int main() {
  const double speed = walk(0.8, 4, 0.02);
  std::printf("the quadruped trots at %.2f m/s\n", speed);
  return std::abs(speed - 0.8) < 0.15 ? 0 : 1;
}
