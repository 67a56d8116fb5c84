#include "core/model/coupling.h"

#include <cmath>

#include "core/model/builder.h"

namespace featherstorm {

Coupling<double> couple(const Robot& robot, const std::vector<CouplingSpec>& specs) {
  const Model<double>& m = robot.model;
  std::vector<const CouplingSpec*> spec(m.nv, nullptr);
  const auto dof = [&](const CouplingSpec& s, const std::string& name) {
    const int i = robot.joint(name);
    if (i < 0) throw ModelError("coupling", s.joint, "joint '" + name + "' does not exist");
    const int k = m.body[i].v;
    if ((i < m.nb ? m.body[i + 1].v : m.nv) != k + 1 || m.dof_q[k] < 0)
      throw ModelError("coupling", s.joint, "joint '" + name + "' has more than one freedom");
    return k;
  };
  for (const CouplingSpec& s : specs) {
    const int k = dof(s, s.joint);
    if (spec[k]) throw ModelError("coupling", s.joint, "is coupled twice");
    if (!std::isfinite(s.offset)) throw ModelError("coupling", s.joint, "offset is not finite");
    if (s.terms.empty()) throw ModelError("coupling", s.joint, "has no driver");
    spec[k] = &s;
  }
  Coupling<double> c;
  std::vector<int> number(m.nv, -1);
  for (int k = 0; k < m.nv; k++)
    if (!spec[k]) number[k] = c.nu++, c.driver.push_back(k);
  c.offset.assign(m.nv, 0);
  c.start.push_back(0);
  for (int k = 0; k < m.nv; k++) {
    if (!spec[k]) {
      c.column.push_back(number[k]), c.value.push_back(1);
    } else {
      c.offset[k] = spec[k]->offset;
      for (const CouplingSpec::Term& t : spec[k]->terms) {
        const int driver = dof(*spec[k], t.driver);
        if (number[driver] < 0)
          throw ModelError("coupling", spec[k]->joint, "driver '" + t.driver + "' is coupled itself");
        if (!std::isfinite(t.ratio)) throw ModelError("coupling", spec[k]->joint, "ratio is not finite");
        c.column.push_back(number[driver]), c.value.push_back(t.ratio);
      }
    }
    c.start.push_back(static_cast<int>(c.column.size()));
  }
  return c;
}

}  // namespace featherstorm
