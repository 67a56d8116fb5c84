#include "core/reference/contact/soft_array.h"

#include "core/model/builder.h"

namespace featherstorm {

void check_array(const Contacts<double>& contacts, const ArraySurface<double>& s) {
  auto fail = [](const std::string& name, const std::string& reason) { throw ModelError("contact", name, reason); };
  if (s.nx < 3 || s.ny < 3)
    fail("array", "has " + std::to_string(s.nx) + " x " + std::to_string(s.ny) + " nodes, expected 3 x 3 or more");
  for (int k = 0; k < contacts.nc; k++)
    if (!contacts.contact[k].bounded)
      fail(std::to_string(k), "has no edges, expected a plane with half_x and half_y for an array of springs");
}

}  // namespace featherstorm
