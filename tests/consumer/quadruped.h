// The robot of trot.cpp, simulated by featherstorm, and a record of how it goes.
#pragma once
#include <array>
#include <cmath>

#include <featherstorm/featherstorm.h>

using State = std::array<double, 37>;         // q, then v
constexpr double timestep = 0.002;            // [s]
constexpr double stance[3] = {0, 0.8, -1.6};  // hip, thigh, calf [rad]

struct Quadruped {
  virtual ~Quadruped() = default;
  virtual State state() const = 0;
  virtual void step(const double* torque) = 0;  // 12 [N m]
};

// The first pose: the trunk 0.32 m above the ground.
inline State standing() {
  State x{};
  x[2] = 0.32, x[3] = 1;
  for (int k = 0; k < 12; k++) x[7 + k] = stance[k % 3];
  return x;
}

class Simulated : public Quadruped {
 public:
  State state() const override {
    State x;
    const featherstorm::ArrayRef q = sim_.q(), v = sim_.v();
    for (int k = 0; k < 19; k++) x[k] = static_cast<const float*>(q.data)[k * q.component_stride];
    for (int k = 0; k < 18; k++) x[19 + k] = static_cast<const float*>(v.data)[k * v.component_stride];
    return x;
  }
  void step(const double* torque) override {
    for (int k = 0; k < 12; k++) *torque_.component<float>(k) = static_cast<float>(torque[k]);
    sim_.step(torque_.ref());
  }

 private:
  static featherstorm::Robot standing_robot() {
    using namespace featherstorm;
    Robot robot = load("go2", {.world = UrdfWorld{.ground = true, .motors = true, .timestep = timestep}});
    const State x = standing();
    std::copy_n(x.begin(), 19, robot.q0.begin());
    return robot;
  }
  featherstorm::Robot robot_ = standing_robot();
  featherstorm::Evaluator physics_{robot_, {.threads = 1}};
  featherstorm::Simulation sim_{physics_, 1};
  featherstorm::Buffer torque_{featherstorm::Precision::float32, 1, 12};
};

// A record of a run: whether the robot has fallen, and its mean speed forward from 2 s on [m/s].
struct Record {
  bool fell = false;
  double sum = 0;
  long count = 0;

  void add(double t, const State& x) {
    const double w = x[3], i = x[4], j = x[5], k = x[6], upright = 1 - 2 * (i * i + j * j);
    fell = !(x[2] > 0.15 && upright > 0.5);
    if (t < 2) return;
    const double ahead = 1 - 2 * (j * j + k * k), aside = 2 * (i * j + w * k);  // of the trunk's x axis
    sum += (ahead * x[19] + aside * x[20]) / std::hypot(ahead, aside), count++;
  }
  double speed() const { return count > 0 ? sum / static_cast<double>(count) : 0; }
};
