// Readings of a world by the names in its file: sensors, positions of sites, contact forces, in the precision of the
// state. All but range finders and distances that need loops are traced programs with kernels of their own.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/engine/evaluator.h"
#include "host/memory/buffer.h"
#include "host/rollout/sequence.h"
#include "host/world/ray_scene.h"
#include "host/world/world_of.h"

namespace featherstorm {

// A moment of a batch in a world: arrays (B, n) by the names of a step (host/simulation/world_sequence.h) and of the
// evaluator's parameters.
struct WorldMoment {
  std::map<std::string, ArrayRef> arrays;
  double time = 0;  // [s]
};

// Return the arrays of a step that the moment of a solution contains, with their components.
// contacts: further arrays of contact_readings.h, which follow the others
std::vector<std::pair<std::string, int>> moment_arrays(const Robot& robot, const std::set<std::string>& contacts);

// Numbers that a traced program computes from a moment of a world.
class WorldReading {
 public:
  // program: its one output are the numbers. Its inputs are q, v, act, ctrl, parameters of the evaluator and the uniform
  // t [s]; with at_solve, these are of the beginning of the last substep, and there are qacc, row_force and the arrays
  // of contact_readings.h. The evaluator must outlive this object. Throws Error for other outputs and uniforms.
  WorldReading(const Evaluator& evaluator, Precision precision, const Program& program, bool at_solve);

  bool at_solve() const { return at_solve_; }
  // The arrays of contact_readings.h among its inputs.
  const std::set<std::string>& contacts() const { return contacts_; }
  // Return the numbers (B, n), on the device of the moment's arrays. Throws Error for an input that the moment does not
  // have.
  Buffer measure(const WorldMoment& at, long instances, int device, void* stream) const;

 private:
  Sequence sequence_;
  Precision precision_;
  std::vector<std::string> in_;
  std::string out_;
  int size_ = 0;
  bool at_solve_, timed_ = false;
  std::set<std::string> contacts_;
};

// Measure the distances between geoms that need iterative algorithms (Sensor::by_loops), for `n` instances.
//
// in   position (n, geoms, 3) [m], rotation (n, geoms, 3, 3)  placements of the file's geoms in the world
// in   size (n, geoms, 3)  sizes of the geoms; null: those of the robot
// out  data (n, n_sensordata)  the numbers of these sensors; all other numbers stay
void measure_distances(const Robot& robot, long n, const double* position, const double* rotation, const double* size,
                       double* data);

class WorldReadings {
 public:
  explicit WorldReadings(Evaluator& evaluator);  // must outlive this object

  // Return the number of an element. Throws Error for an unknown name, for a robot whose world was not read from a
  // file, and for a sensor that cannot be measured here, with the reason.
  int sensor(const std::string& name) const;
  int site(const std::string& name) const;
  // A geom or, if no geom has the name, a body, which stands for its geoms.
  struct Touched {
    bool body;
    int number;
  };
  Touched touched(const std::string& name) const;

  // Return whether a sensor measures forces or accelerations, which need the solver's arrays.
  bool is_at_solve(int sensor) const;
  // Return whether no program measures a sensor: range finders, and distances that need loops.
  bool is_apart(int sensor) const;
  // Measure such a sensor, on the host (B, dim).
  Buffer measure_apart(int sensor, const ArrayRef& q) const;

  // Return the programs of readings: a sensor (dim), the position of a site (3) [m], the contact force on a geom or a
  // body (3) [N], world axes.
  Program sensor_program(int sensor) const;
  Program site_program(int site) const;
  Program force_program(Touched what) const;

 private:
  int number_of(const std::string& kind, const std::string& count, const std::string& addresses,
                const std::string& name, bool required = true) const;
  const MujocoTables& tables() const;
  void refuse_parameters() const;

  Evaluator& evaluator_;
  const Robot& robot_;
  std::vector<RangeFinder> finders_;
  std::optional<RayScene> scene_;  // if there are range finders
};

}  // namespace featherstorm
