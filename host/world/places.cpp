#include "host/world/places.h"

#include "core/trace/expr.h"

namespace featherstorm {
namespace {

template <class T> Mat3<T> rotation(const std::vector<T>& q) {
  const T n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  const T w = q[0] / n, x = q[1] / n, y = q[2] / n, z = q[3] / n;
  const T one(1.0), two(2.0);
  return rows<T>(one - two * (y * y + z * z), two * (x * y - w * z), two * (x * z + w * y), two * (x * y + w * z),
                 one - two * (x * x + z * z), two * (y * z - w * x), two * (x * z - w * y), two * (y * z + w * x),
                 one - two * (x * x + y * y));
}

template <class T> Placement<T> placed(const WorldTables<T>& t, const std::string& of, int i) {
  const auto r = t.numbers(of + "_pos", i, 3);
  return {rotation(t.numbers(of + "_quat", i, 4)), {r[0], r[1], r[2]}};
}

}  // namespace

template <class T> Placement<T> place_of_body(const WorldTables<T>& tables, int body) {
  return placed(tables, "body", body);
}
template Placement<double> place_of_body(const WorldTables<double>&, int);
template Placement<Expr> place_of_body(const WorldTables<Expr>&, int);

template <class T>
Places<T>::Places(const Robot& robot, const WorldTables<T>& tables, const std::vector<std::string>& link_names,
                  const std::vector<std::string>& joint_names)
    : tables_(tables) {
  for (const std::string& name : link_names) {
    if (name.empty()) {
      links_.push_back({0, identity_placement<T>()});
      continue;
    }
    const int k = robot.frame(name);
    if (k < 0) throw Error("robot '" + robot.name + "' has no link '" + name + "'");
    links_.push_back(cast<T>(robot.model.frame[static_cast<std::size_t>(k)]));
  }
  if (tables.is_given("mocap_pos") || tables.is_given("body_pos") || tables.is_given("body_quat")) move_bodies();
  for (std::size_t j = 0; j < joint_names.size(); j++) {
    const int body = robot.joint(joint_names[j]);
    if (body < 1) throw Error("robot '" + robot.name + "' has no joint '" + joint_names[j] + "'");
    const Body<double>& b = robot.model.body[static_cast<std::size_t>(body)];
    const int i = static_cast<int>(j);
    if (b.q != tables.integer("jnt_qposadr", i) || b.v != tables.integer("jnt_dofadr", i))
      throw Error("robot '" + robot.name + "' has joint '" + joint_names[j] +
                  "' at other coordinates than the model, "
                  "expected the same order");
    joints_.push_back(body);
  }
}

// Moves bodies that are welded to others, and mocap bodies, to the placements in the inputs, with all bodies welded to
// them.
template <class T> void Places<T>::move_bodies() {
  const bool all = tables_.is_given("body_pos") || tables_.is_given("body_quat");
  std::vector<char> moved(links_.size());
  for (std::size_t b = 1; b < links_.size(); b++) {
    const int body = static_cast<int>(b), number = tables_.integer("body_mocapid", body);
    const auto parent = static_cast<std::size_t>(tables_.integer("body_parentid", body));
    const bool welded = tables_.integer("body_jntnum", body) == 0;
    if (number >= 0) {
      moved[b] = tables_.is_given("mocap_pos");
      if (moved[b]) links_[b].X = placed(tables_, "mocap", number);
    } else {
      moved[b] = welded && (all || moved[parent]);
      if (moved[b]) links_[b].X = links_[parent].X * place_of_body(tables_, body);
    }
  }
}

template <class T> Frame<T> Places<T>::in_link(int body, const std::vector<T>& position,
                                               const std::vector<T>& quaternion) const {
  const Frame<T>& l = link(body);
  const Vec3<T> r{position[0], position[1], position[2]};
  return {l.body, l.X * Placement<T>{rotation(quaternion), r}};
}
// A frame that agrees with that of its body, or of the body's inertia, up to a tolerance is replaced by it
// [mjtSameFrame].
template <class T> Frame<T> Places<T>::in_link(int body, int same, std::vector<T> position,
                                               std::vector<T> quaternion) const {
  enum { none, body_frame, inertia_frame, body_axes, inertia_axes };
  const T o(0.0);
  if (same == body_frame) position = {o, o, o};
  if (same == inertia_frame) position = tables_.numbers("body_ipos", body, 3);
  if (same == body_frame || same == body_axes) quaternion = {T(1.0), o, o, o};
  if (same == inertia_frame || same == inertia_axes) quaternion = tables_.numbers("body_iquat", body, 4);
  return in_link(body, position, quaternion);
}
template <class T> Frame<T> Places<T>::inertial(int body) const {
  return in_link(body, tables_.integer("body_sameframe", body), tables_.numbers("body_ipos", body, 3),
                 tables_.numbers("body_iquat", body, 4));
}
template <class T> Frame<T> Places<T>::site(int site) const {
  return in_link(tables_.integer("site_bodyid", site), tables_.integer("site_sameframe", site),
                 tables_.numbers("site_pos", site, 3), tables_.numbers("site_quat", site, 4));
}
template <class T> Frame<T> Places<T>::geom(int geom) const {
  return in_link(tables_.integer("geom_bodyid", geom), tables_.integer("geom_sameframe", geom),
                 tables_.numbers("geom_pos", geom, 3), tables_.numbers("geom_quat", geom, 4));
}

template class Places<double>;
template class Places<Expr>;

}  // namespace featherstorm
