// A batch of robots in time, with its state in the engine's memory, on the host or on a CUDA device.
//
//   Simulation sim(evaluator, 4096, {.dt = 2e-3, .substeps = 2, .numbers = {{"kp", {50}}, {"kd", {2}}}});
//   sim.step(tau.ref());                   // or sim.step({}, q_target.ref())
//   sim.q();                               // (4096, nq), valid until the next step
//
// Semi-implicit Euler steps, damping implicit, with the contacts, loops or coupled joints that the robot carries (stepping.h), or the
// steps of its model file's world. Impulses at contacts are kept from step to step; coupled joints follow their drivers.
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
  // All instances at robot.q0, at rest. A world alone needs no options. The evaluator must stay. On a device work is put on `stream` (a cudaStream_t), which must
  // outlive the simulation, and calls return before it is done. Throws Error as stepping_of, and for what Buffer throws.
  Simulation(Evaluator& evaluator, long instances, const StepOptions& options = {},
             Precision precision = Precision::float32, int device = on_host, void* stream = nullptr);

  // in   tau (B, nv) [N m | N], q_target (B, nv) [rad | m]; constant during the step. One row stands for all instances, no memory
  //      for zeros. Torques are tau + kp (q_target - q) - kd v, the gains among StepOptions::numbers.
  //      Of a world tau is ctrl (B, nu), controls of its actuators, and there is no q_target.
  // Throws Error naming the array, what came and what was expected; the state is that of before then.
  void step(const ArrayRef& tau = {}, const ArrayRef& q_target = {});

  // The state, to be read and written; valid until the next step.
  ArrayRef q() const { return now_[0].ref(); }
  ArrayRef v() const { return now_[1].ref(); }
  // Impulses of the last pass at contacts (B, 3 nc) [N s]: normal, two tangents. Throws Error where none count.
  ArrayRef impulse() const;

  // Activations of a world's actuators (B, na), and the accelerations of its last pass (B, nv), with which its solver begins. Throws
  // Error where no world counts.
  ArrayRef act() const { return of_world(2); }
  ArrayRef qacc() const { return of_world(3); }

  // Of a world, on the host: what a sensor of the file measures (B, dim), without noise; the position of a site (B, 3) [m]; the sum of
  // the forces (B, 3) [N] that contacts exert on a geom, or on the geoms of a body alone where no geom has the name. World axes.
  //
  // Sensors of positions and velocities measure the state as it is. Those of forces and accelerations, and forces of contacts, are of
  // the beginning of the last pass, as MuJoCo has them after a step, with Runge-Kutta's method of its first stage; zero before the
  // first step of an instance. The first call for one of these takes the last step again.
  // Throws Error for a name that there is not, and for sensors that are not measured here, with the reason.
  Buffer sensor(const std::string& name);
  Buffer site(const std::string& name) const;
  Buffer contact_force(const std::string& name);

  // Sets instances to q (nq) and v (nv), empty: q0 and zero. mask (B): which; empty: all. Impulses, act and qacc begin at zero.
  // Waits on a device.
  void reset(const std::vector<bool>& mask = {}, const std::vector<double>& q = {}, const std::vector<double>& v = {});

  // Whether all numbers of an instance's state are finite (B). Waits on a device.
  std::vector<bool> finite() const;

  // A number of the robot that was made an input (EvaluatorOptions::parameters): (B, n), or one row for all instances, which
  // must stay. Until it is set, the robot's own.
  void parameter(const std::string& name, const ArrayRef& values);

  double time() const { return time_; }  // [s]
  long instances() const { return instances_; }

 private:
  ArrayRef spread(const ArrayRef& a, const std::string& name, long components) const;
  void step_coupled(const ArrayRef& tau, const ArrayRef& target);
  void step_world(const ArrayRef& ctrl);
  void run_world(const std::vector<Buffer>& from, const std::vector<Buffer>* to, const ArrayRef& ctrl) const;
  ArrayRef of_world(int k) const;
  WorldReadings readings() const;
  WorldMoment now() const;
  WorldMoment felt(const std::string& selection = {});
  Buffer without_fresh(Buffer values) const;

  Evaluator& evaluator_;
  Stepping stepping_;
  long instances_;
  Precision precision_;
  int device_;
  void* stream_;
  RunOptions options_;
  double time_ = 0;
  std::vector<Buffer> now_, next_;  // q, v, impulses where contacts count; of a world q, v, act, qacc
  Buffer zero_;                     // (1, nv)
  std::map<std::string, ArrayRef> parameters_;
  std::vector<Buffer> own_;           // of parameters that were not set
  std::optional<Sequence> sequence_;  // a step of coupled joints or of a world
  Buffer driven_;                     // (B, nu) controls of a world's last step, on the host
  std::vector<bool> fresh_;           // (B) of a world: which have not been stepped yet
  // What was at the beginning of the last pass, by the names of moment_arrays, where something asked for it.
  std::map<std::string, Buffer> felt_;
  std::set<std::string> selections_;
};

}  // namespace featherstorm
