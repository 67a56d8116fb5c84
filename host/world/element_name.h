// Names of elements in messages: the name in the file if there is one, otherwise the number.
#pragma once
#include "host/world/mujoco_tables.h"

namespace featherstorm {

// kind: "joint", "sensor"; addresses: the table of its positions in `names`, such as "name_jntadr".
inline std::string element_name(const MujocoTables& tables, const char* kind, const char* addresses, int i) {
  std::string name;
  if (tables.has("names") && tables.has(addresses))
    for (int at = tables.integer(addresses, i); tables.integer("names", at) != 0; at++)
      name += static_cast<char>(tables.integer("names", at));
  if (name.empty()) return std::string(kind) + " " + std::to_string(i);
  return std::string(kind) + " '" + name + "'";
}

}  // namespace featherstorm
