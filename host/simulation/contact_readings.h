// The arrays of a step that are read off its contacts, by name. A solver that finds contacts fills those that a sequence asks for.
//
//   contact_count (4)            contacts; their rows as MuJoCo counts them; contacts with rows; contacts with a force
//   contact_link (n_links, 9)    force and moment of contacts on each link, world axes, and the point that the moment is about;
//                                zeros for the world
//   contact_sensor               touch and contact sensors, in the order of the file, without cutoff
//   contact_on_geom3             of one geom: force of its contacts, world axes, and how many there are (4)
//   contact_on_body2_geom5       of the geoms of one body, contacts with geom 5 alone (4)
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
  std::vector<std::pair<std::string, int>> arrays;  // that are asked for, with how many numbers
  std::vector<std::string> selections;              // of them those of contacts between sets of geoms

  bool any() const { return !arrays.empty(); }
  std::vector<int> zones() const;  // sensors of the world whose places the solver takes
};

// True if a sequence can provide an array of this name.
bool is_contact_reading(const std::string& name);

// Throws Error for a name that is none of the above, and for a geom or body that there is not.
AskedReadings asked_readings(const Robot& robot, const std::set<std::string>& names);

// contact_selection of a solver -> an array for each selection.
Program split_selections(const AskedReadings& asked);
}  // namespace featherstorm
