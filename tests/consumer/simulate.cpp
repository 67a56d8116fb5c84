// docs/cpp.md: quadrupeds that stand, on four points and with all that they have, and a search for controls by samples.
#include <cstdio>

#include <featherstorm/featherstorm.h>

using namespace featherstorm;

// [simulation]
// 1024 quadrupeds on their feet, held by PD drives for half a second.
double stand() {
  Robot robot = load("go2");
  std::vector<ContactSpec> feet;
  for (const char* foot : {"FL_foot", "FR_foot", "RL_foot", "RR_foot"})
    feet.push_back(on_ground(foot, {0, 0, 0}, 0.022, 0.8));
  robot.model.contacts = contacts_of(robot, feet);
  robot.q0[2] = 0.32;  // the trunk's height [m]; then its quaternion and the joints
  for (int leg = 0; leg < 4; leg++) robot.q0[8 + 3 * leg] = 0.8, robot.q0[9 + 3 * leg] = -1.5;

  Evaluator dynamics(robot);
  const int nv = robot.model.nv;
  Simulation sim(dynamics, 1024, {.dt = 4e-3, .substeps = 2, .numbers = {{"kp", {60}}, {"kd", {3}}}});
  Buffer target(Precision::float32, 1, nv);  // one row for all
  for (int c = 6; c < nv; c++) target.component<float>(c)[0] = static_cast<float>(robot.q0[c + 1]);
  for (int t = 0; t < 125; t++) sim.step({}, target.ref());
  const ArrayRef q = sim.q();
  return static_cast<const float*>(q.data)[2 * q.component_stride];
}
// [simulation end]

// [world]
// The same robot on the ground with all that it has, by its collision elements, held by the motors of its joints; the part of its
// weight that the ground carries.
double carry() {
  Robot robot = load("go2", {.world = UrdfWorld{.ground = true, .motors = true}});
  robot.q0[2] = 0.33;
  for (int leg = 0; leg < 4; leg++) robot.q0[8 + 3 * leg] = 0.8, robot.q0[9 + 3 * leg] = -1.6;
  Evaluator dynamics(robot);
  Simulation sim(dynamics, 16, {}, Precision::float64);
  const int n = robot.model.world.nu;  // controls are torques [N m]
  const Buffer torques(Precision::float64, 16, n);
  for (int t = 0; t < 1000; t++) {  // 2 s of the world's timestep
    const ArrayRef q = sim.q(), v = sim.v();
    for (int c = 0; c < n; c++)
      for (int i = 0; i < 16; i++)
        torques.component<double>(c)[i] =
            60 * (robot.q0[7 + c] - static_cast<const double*>(q.data)[(7 + c) * q.component_stride + i]) -
            3 * static_cast<const double*>(v.data)[(6 + c) * v.component_stride + i];
    sim.step(torques.ref());
  }
  double mass = 0;
  for (const Body<double>& body : robot.model.body) mass += body.I.m;
  return -sim.contact_force("ground").component<double>(2)[0] / (9.81 * mass);
}
// [world end]

// [rollout]
// Controls of a cart with a pole by MPPI: ten iterations of 4096 control sequences.
double plan() {
  const Robot robot = load("cartpole");
  Evaluator dynamics(robot);
  RolloutOptions options;
  options.stepping = {.dt = 0.02, .substeps = 2};
  options.controls = 1;
  options.control = [](const TracedState&, const Traced& u, Expr, const Traced&) -> RolloutOptions::Drive {
    return {{u[0], 0.0}};  // the pole's joint has no motor
  };
  options.cost = [](const TracedState& x, const Traced& u, Expr, const Traced&) {
    return x.q[0] * x.q[0] + 10.0 * (1.0 + cos(x.q[1])) + 1e-3 * u[0] * u[0];
  };
  const Rollout roll(dynamics, options);

  Planner planner(roll, {.horizon = 40, .samples = 4096, .sigma = {5}, .iterations = 10});

  const Buffer q(Precision::float32, 1, 2), v(Precision::float32, 1, 2);  // the pole hangs
  planner.command({.q = q.ref(), .v = v.ref()});                          // the control of this step: pushes the cart
  return planner.cost();
}
// [rollout end]

int main() {
  const double height = stand();
  std::printf("the trunk is %.3f m above the ground\n", height);
  const double cost = plan();
  std::printf("the best of the last samples costs %.1f\n", cost);
  const double carried = carry();
  std::printf("the ground carries %.3f of the weight\n", carried);
  return height > 0.2 && height < 0.4 && cost < 800 && carried > 0.99 && carried < 1.01 ? 0 : 1;
}
