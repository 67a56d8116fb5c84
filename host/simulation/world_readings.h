// What can be read off a world by the names of its file: sensors, places of sites, forces of contacts. An instance at a time, by the
// texts of core/sensor, in the precision of the state.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "host/memory/buffer.h"
#include "host/world/world_of.h"

namespace featherstorm {

// A moment of a batch in a world; arrays (B, n) on the host. What a reading does not ask for may be left out.
struct WorldMoment {
  ArrayRef q{}, v{}, act{}, ctrl{};
  ArrayRef qacc{}, contact_link{}, contact_sensor{};  // of the solver
  double time = 0;                                    // [s]
};

// The arrays of a step that a moment has, and how many numbers (host/simulation/world_sequence.h).
// selections: further arrays of contact_readings.h, which follow the others
std::vector<std::pair<std::string, int>> moment_arrays(const Robot& robot, const std::set<std::string>& selections);

// Measure the distances between geoms that are found by loops (Sensor::by_loops), for `n` instances.
//
// in   position (n, geoms, 3) [m], rotation (n, geoms, 3, 3)  placements of the file's geoms in the world
// in   size (n, geoms, 3)  their sizes; null: those of the robot
// out  data (n, n_sensordata)  the numbers of these sensors; all other numbers stay
void measure_distances(const Robot& robot, long n, const double* position, const double* rotation, const double* size,
                       double* data);

class WorldReadings {
 public:
  explicit WorldReadings(const Robot& robot);  // which must stay

  // Numbers of elements. Throws Error for a name that there is not, for a robot whose world was not read from a file, and, of a
  // sensor, where it is not measured here, with the reason.
  int sensor(const std::string& name) const;
  int site(const std::string& name) const;
  // A geom's, or where none has the name a body's: whose geoms are meant.
  struct Touched {
    bool body;
    int number;
  };
  Touched touched(const std::string& name) const;

  // Whether a sensor measures forces or accelerations, for which the solver's arrays are needed.
  bool is_felt(int sensor) const;

  Buffer measure(int sensor, const WorldMoment& moment) const;  // (B, dim)
  Buffer place(int site, const WorldMoment& moment) const;      // (B, 3) [m], world axes

  // The array of a step whose first three numbers are the force of contacts on a geom or a body (contact_readings.h).
  static std::string array_of(Touched what);

 private:
  int number_of(const std::string& kind, const std::string& count, const std::string& addresses,
                const std::string& name, bool required = true) const;
  const MujocoTables& tables() const;

  const Robot& robot_;
};

}  // namespace featherstorm
