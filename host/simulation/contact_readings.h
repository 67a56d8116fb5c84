// Arrays of a step that are read from its contacts, by name. A solver that finds contacts fills the arrays that a
// sequence requests.
//
//   contact_count (4)         numbers: contacts; their rows, as MuJoCo counts them; contacts with rows; contacts with
//                             a force
//   contact_link (n_links, 9) force and moment of contacts on each link, world axes, and the point of the moment; zeros
//                             for the world
//   contact_sensor            touch and contact sensors, in the order of the file, without cutoff
//   contact_on_geom3          force of the contacts of one geom, world axes, and their number (4)
//   contact_on_body2_geom5    the same for contacts of the geoms of one body with geom 5 only (4)
#pragma once
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/model/builder.h"
#include "core/trace/program.h"
#include "core/world/contact_readings.h"

namespace featherstorm {

struct AskedReadings {
  ContactReadings<double> readings;
  std::vector<std::pair<std::string, int>> arrays;  // requested arrays, with their components
  std::vector<std::string> selections;              // those for contacts between sets of geoms

  bool any() const { return !arrays.empty(); }
  std::vector<int> zones() const;  // sensors of the world whose frames the solver needs
};

// Return whether a sequence can provide an array of this name.
bool is_contact_reading(const std::string& name);

// Return the readings of these arrays. Throws Error for another name, and for a geom or body that does not exist.
AskedReadings asked_readings(const Robot& robot, const std::set<std::string>& names);

// Split contact_selection of a solver into an array for each selection.
Program split_selections(const AskedReadings& asked);
}  // namespace featherstorm
