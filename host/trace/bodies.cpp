#include "host/trace/bodies.h"

namespace featherstorm {
namespace {

std::vector<int> bodies_of(const Program::Array& a, const Model<double>& m) {
  std::vector<int> body(a.size, 0);
  if (a.uniform || a.size == 0) return body;
  if (a.size == m.nv) return m.dof_body;
  if (a.size == m.nq) {
    for (int i = 1; i <= m.nb; i++)
      for (int k = m.body[i].q; k < (i < m.nb ? m.body[i + 1].q : m.nq); k++) body[k] = i;
    return body;
  }
  if (a.size == m.nh) {
    for (int i = 0; i < m.nv; i++)
      for (int k = m.row_start[i]; k < m.row_start[i + 1]; k++) body[k] = m.dof_body[i];
    return body;
  }
  for (int each : {1, 3, 6, 10})
    if (a.size == each * m.nb)
      for (int k = 0; k < a.size; k++) body[k] = 1 + k / each;
  return body;
}

}  // namespace

Bodies bodies_of(const Program& p, const Model<double>& m) {
  Bodies b;
  for (const auto& body : m.body) b.parent.push_back(body.parent);
  for (const auto& a : p.inputs) b.input.push_back(bodies_of(a, m));
  for (const auto& a : p.outputs) b.output.push_back(bodies_of(a, m));
  return b;
}

}  // namespace featherstorm
