// Readings of a world by the names in its file: sensors, positions of sites, contact forces, in the precision of the
// state. The operation `sensors` measures all sensors but range finders and distances that need loops.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/engine/evaluator.h"
#include "host/memory/buffer.h"
#include "host/world/ray_scene.h"
#include "host/world/world_of.h"

namespace featherstorm {

// A moment of a batch in a world; arrays (B, n) on the host. Arrays that a reading does not need may be empty.
struct WorldMoment {
  ArrayRef q{}, v{}, act{}, ctrl{};
  ArrayRef qacc{}, row_force{}, contact_link{}, contact_sensor{};  // of the solver
  double time = 0;                                                 // [s]
  std::map<std::string, ArrayRef> parameters{};                    // of the evaluator, by name
};

// Return the arrays of a step that a moment contains, with their components (host/simulation/world_sequence.h).
// selections: further arrays of contact_readings.h, which follow the others
std::vector<std::pair<std::string, int>> moment_arrays(const Robot& robot, const std::set<std::string>& selections);

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

  Buffer measure(int sensor, const WorldMoment& moment) const;  // (B, dim)
  Buffer place(int site, const WorldMoment& moment) const;      // (B, 3) [m], world axes

  // Return the name of the array of a step whose first three numbers are the contact force on a geom or a body
  // (contact_readings.h).
  static std::string array_of(Touched what);

 private:
  int number_of(const std::string& kind, const std::string& count, const std::string& addresses,
                const std::string& name, bool required = true) const;
  const MujocoTables& tables() const;
  Buffer by_operation(const Sensor<double>& sensor, const WorldMoment& moment) const;

  Evaluator& evaluator_;
  const Robot& robot_;
  std::vector<RangeFinder> finders_;
  std::optional<RayScene> scene_;  // if there are range finders
};

}  // namespace featherstorm
