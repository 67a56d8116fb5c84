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

  // Advance all instances by one step.
  //
  // in   tau (B, nv) [N m | N], q_target (B, nv) [rad | m]; constant during the step
  //
  // One row stands for all instances, an array without data for zeros. Torques are tau + kp (q_target - q) - kd v, with
  // the gains in StepOptions::numbers. For a world, tau is ctrl (B, nu), the controls of its actuators, and q_target
  // must be absent. Throws Error with the array, its value and the expected one; the state then stays as it was.
  void step(const ArrayRef& tau = {}, const ArrayRef& q_target = {});

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

  // Readings of a world, on the host, in world axes:
  //
  //   sensor         value of a sensor of the file (B, dim), without noise
  //   site           position of a site (B, 3) [m]
  //   contact_force  sum of the contact forces (B, 3) [N] on a geom or, if no geom has the name, on the geoms of a body
  //                  without its children
  //
  // Sensors of positions and velocities measure the current state. Sensors of forces and accelerations, and contact
  // forces, refer to the beginning of the last substep, as MuJoCo has them after a step; with Runge-Kutta's method to
  // its first stage. They are zero before the first step of an instance. The first call for one of these repeats the
  // last step. Throws Error for an unknown name, and for sensors that cannot be measured here, with the reason.
  Buffer sensor(const std::string& name);
  Buffer site(const std::string& name) const;
  Buffer contact_force(const std::string& name);

  // Set instances to q (nq) and v (nv); empty: q0 and zero. mask (B): instances to set; empty: all. Impulses, act and
  // qacc are set to zero. Waits for a device.
  void reset(const std::vector<bool>& mask = {}, const std::vector<double>& q = {}, const std::vector<double>& v = {});

  // Return whether all numbers of an instance's state are finite (B). Waits for a device.
  std::vector<bool> finite() const;

  // Set a parameter of the robot that is an input (EvaluatorOptions::parameters): (B, n), or one row for all instances.
  // The array must outlive its use. Before this call the robot's own numbers are used.
  void parameter(const std::string& name, const ArrayRef& values);

  double time() const { return time_; }  // [s]
  long instances() const { return instances_; }

 private:
  ArrayRef spread(const ArrayRef& a, const std::string& name, long components) const;
  void step_coupled(const ArrayRef& tau, const ArrayRef& target);
  void step_world(const ArrayRef& ctrl);
  void run_world(const std::vector<Buffer>& from, const std::vector<Buffer>* to, const ArrayRef& ctrl) const;
  ArrayRef of_world(int k) const;
  const WorldReadings& readings() const;
  WorldMoment now() const;
  WorldMoment at_solve(const std::string& selection = {});
  Buffer without_fresh(Buffer values) const;

  Evaluator& evaluator_;
  Stepping stepping_;
  long instances_;
  Precision precision_;
  int device_;
  void* stream_;
  RunOptions options_;
  double time_ = 0;
  std::vector<Buffer> now_, next_;  // q, v, and impulses if there are contacts; of a world q, v, act, qacc
  Buffer zero_;                     // (1, nv)
  std::map<std::string, ArrayRef> parameters_;
  std::vector<Buffer> own_;           // of parameters that were not set
  std::optional<Sequence> sequence_;  // a step of coupled joints or of a world
  Buffer driven_;                     // (B, nu) controls of a world's last step, on the host
  std::vector<bool> fresh_;           // (B) of a world: instances that have not been stepped yet
  // Arrays at the beginning of the last substep, by the names of moment_arrays; empty before the first request.
  std::map<std::string, Buffer> at_solve_;
  std::set<std::string> selections_;
  mutable std::optional<WorldReadings> readings_;  // made when first needed
};

}  // namespace featherstorm
