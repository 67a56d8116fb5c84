// A simulation of a batch of robots, with its state in the engine's memory, on the host or on a CUDA device.
//
//   Simulation sim(evaluator, 4096, {.dt = 2e-3, .substeps = 2, .numbers = {{"kp", {50}}, {"kd", {2}}}});
//   sim.step(tau.ref());                   // or sim.step({}, q_target.ref())
//   sim.q();                               // (4096, nq), valid until the next step
//
// Steps are semi-implicit Euler with implicit damping, and include the robot's contacts, loops or coupled joints
// (stepping.h); or they are the steps of its model file's world. Contact impulses are kept from step to step. Coupled
// joints follow their drivers.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/simulation/stepping.h"
#include "host/simulation/world_readings.h"

namespace featherstorm {

class Simulation {
 public:
  // Begin with all instances at robot.q0, at rest. Only a world needs no options. The evaluator must outlive the
  // simulation. On a device, work is put on `stream` (a cudaStream_t), which must outlive the simulation, and calls
  // return before it is done. Throws the errors of stepping_of and of Buffer.
  Simulation(Evaluator& evaluator, long instances, const StepOptions& options = {},
             Precision precision = Precision::float32, int device = on_host, void* stream = nullptr);

  // Drives of a step, constant while it lasts. One row stands for all instances. Arrays without data: zeros; `ctrl`:
  // those of the step before.
  //
  //   tau       (B, nv) [N m | N] forces at the joints; of a world those besides its actuators'
  //   q_target  (B, nv) [rad | m] joint torques are tau + kp (q_target - q) - kd v; not for a world
  //   ctrl      (B, nu) controls of a world's actuators
  //   numbers   replace StepOptions::numbers in this step: gains, for example
  struct Drive {
    ArrayRef tau{}, q_target{}, ctrl{};
    std::map<std::string, std::vector<double>> numbers{};
  };
  // Advance all instances by one step. Throws Error with the array, its value and the expected one; the state then
  // stays as it was.
  void step(const Drive& drive);
  // The same with tau, of a world with ctrl.
  void step(const ArrayRef& drive = {}, const ArrayRef& q_target = {});

  // The state, which may be read and written; valid until the next step.
  ArrayRef q() const { return now_[0].ref(); }
  ArrayRef v() const { return now_[1].ref(); }
  // Contact impulses of the last substep (B, 3 nc) [N s]: normal, two tangents. Throws Error if the steps include no
  // contacts.
  ArrayRef impulse() const;

  // Activations of a world's actuators (B, na), and the accelerations of its last substep (B, nv), which are the
  // solver's next initial guess. Throws Error if the steps include no world.
  ArrayRef act() const { return of_world(2); }
  ArrayRef qacc() const { return of_world(3); }
  // Controls of a world's actuators (B, nu), which may be read and written; they stay until changed.
  ArrayRef ctrl() const { return of_world(3), ctrl_.ref(); }
  // Forces at the joints of a world in the last step (B, nv); null: none.
  const Buffer* applied() const { return is_pushed_ ? &pushed_ : nullptr; }
  // The buffers of the state and, if `next`, of the one that the next step writes: q, v, and impulses if there are
  // contacts; of a world q, v, act, qacc.
  const std::vector<Buffer>& buffers(bool next = false) const { return next ? next_ : now_; }
  const Buffer& controls() const { return ctrl_; }

  // Readings of a world, in world axes, on the device of the state:
  //
  //   sensor         value of a sensor of the file (B, dim), without noise
  //   site           position of a site (B, 3) [m]
  //   contact_force  sum of the contact forces (B, 3) [N] on a geom or, if no geom has the name, on the geoms of a body
  //                  without its children
  //
  // Sensors of positions and velocities measure the current state. Sensors of forces and accelerations, and contact
  // forces, refer to the beginning of the last substep, as MuJoCo has them after a step; with Runge-Kutta's method to
  // its first stage. They are zero before the first step of an instance. The first call for one of these repeats the
  // last step. Range finders, and distances between shapes without a closed form, are measured on the host. Throws
  // Error for an unknown name, and for sensors that cannot be measured here, with the reason.
  Buffer sensor(const std::string& name);
  Buffer site(const std::string& name);
  Buffer contact_force(const std::string& name);
  // The numbers of a program of your own (world_readings.h).
  Buffer measure(const WorldReading& reading);

  // Values of a reset, on the host: (B, n), or one row for all. No data: q0, and zeros.
  struct State { ArrayRef q{}, v{}, act{}, ctrl{}; };
  // Set instances to a state. mask (B): instances to set; empty: all. Impulses and qacc are set to zero. Waits for a
  // device.
  void reset(const std::vector<bool>& mask, const State& state);
  void reset(const std::vector<bool>& mask = {}, const std::vector<double>& q = {}, const std::vector<double>& v = {});

  // Return whether all numbers of an instance's state are finite (B). Waits for a device.
  std::vector<bool> finite() const;

  // Set a parameter of the robot that is an input (EvaluatorOptions::parameters): (B, n), or one row for all instances.
  // The array must outlive its use. Before this call the robot's own numbers are used.
  void parameter(const std::string& name, const ArrayRef& values);
  // Go on with another evaluator of the same robot, which has further parameters, and must outlive the simulation.
  void continue_with(Evaluator& evaluator);

  double time() const { return time_; }  // [s]
  void set_time(double time) { time_ = time; }
  long instances() const { return instances_; }

 private:
  ArrayRef spread(const ArrayRef& a, const std::string& name, long components) const;
  void build();
  Sequence coupled_sequence() const;
  Sequence world_sequence(bool all_candidates) const;
  void use_own_parameters();
  void step_coupled(const ArrayRef& tau, const ArrayRef& target, const std::vector<UniformValues>& numbers);
  void step_world(const Drive& drive);
  void run_world(const std::vector<Buffer>& from, const std::vector<Buffer>* to) const;
  ArrayRef of_world(int k) const;
  const WorldReadings& readings();
  WorldMoment now() const;
  WorldMoment at_solve(const std::set<std::string>& contacts);
  Buffer without_fresh(Buffer values) const;
  Buffer reading(const std::string& name, const std::function<Program(const WorldReadings&)>& program, bool at_solve);

  Evaluator* evaluator_;
  StepOptions given_;
  Stepping stepping_;
  long instances_;
  Precision precision_;
  int device_;
  void* stream_;
  RunOptions options_;
  double time_ = 0;
  std::vector<Buffer> now_, next_;
  Buffer zero_;             // (B, nv)
  Buffer ctrl_, driven_;    // of a world (B, nu); those of the last step
  Buffer pushed_;           // (B, nv) forces at a world's joints, from the first step on that has some
  bool is_pushed_ = false;  // whether the last step had
  std::map<std::string, ArrayRef> parameters_;
  std::vector<Buffer> own_;                   // of parameters that were not set
  std::shared_ptr<const Sequence> sequence_;  // a step of coupled joints or of a world, kept with the evaluator
  std::vector<bool> fresh_;                   // (B) of a world: instances that have not been stepped yet
  // Arrays at the beginning of the last substep, by the names of moment_arrays; empty before the first request.
  std::map<std::string, Buffer> at_solve_;
  std::set<std::string> contacts_;      // arrays of contact_readings.h among them
  std::optional<WorldReadings> names_;  // made when first needed
  std::map<std::string, WorldReading> made_;
};

}  // namespace featherstorm
