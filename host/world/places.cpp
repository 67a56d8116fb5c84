#include "host/world/places.h"

#include <cmath>

namespace featherstorm {
namespace {

Mat3d rotation(std::span<const double> q) {
  const double n = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  const double w = q[0] / n, x = q[1] / n, y = q[2] / n, z = q[3] / n;
  return rows<double>(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z),
                      1 - 2 * (x * x + z * z), 2 * (y * z - w * x), 2 * (x * z - w * y), 2 * (y * z + w * x),
                      1 - 2 * (x * x + y * y));
}

}  // namespace

Places::Places(const Robot& robot, const MujocoTables& tables, const std::vector<std::string>& link_names,
               const std::vector<std::string>& joint_names)
    : tables_(tables) {
  for (const std::string& name : link_names) {
    if (name.empty()) {
      links_.push_back({0, identity_placement<double>()});
      continue;
    }
    const int k = robot.frame(name);
    if (k < 0) throw Error("robot '" + robot.name + "' has no link '" + name + "'");
    links_.push_back(robot.model.frame[static_cast<std::size_t>(k)]);
  }
  for (std::size_t j = 0; j < joint_names.size(); j++) {
    const int body = robot.joint(joint_names[j]);
    if (body < 1) throw Error("robot '" + robot.name + "' has no joint '" + joint_names[j] + "'");
    const Body<double>& b = robot.model.body[static_cast<std::size_t>(body)];
    const int i = static_cast<int>(j);
    if (b.q != tables.integer("jnt_qposadr", i) || b.v != tables.integer("jnt_dofadr", i))
      throw Error("robot '" + robot.name + "' does not have joint '" + joint_names[j] + "' where the model has it");
    joints_.push_back(body);
  }
}

Frame<double> Places::in_link(int body, std::span<const double> position, std::span<const double> quaternion) const {
  const Frame<double>& l = link(body);
  const Vec3d r{position[0], position[1], position[2]};
  return {l.body, l.X * Placement<double>{rotation(quaternion), r}};
}
// Where a frame is that of its body, or of the body's inertia, up to a little, MuJoCo takes those instead [mjtSameFrame].
Frame<double> Places::in_link(int body, int same, std::span<const double> position,
                              std::span<const double> quaternion) const {
  enum { none, body_frame, inertia_frame, body_axes, inertia_axes };
  static constexpr double origin[] = {0, 0, 0}, straight[] = {1, 0, 0, 0};
  if (same == body_frame) position = origin;
  if (same == inertia_frame) position = tables_.row("body_ipos", body, 3);
  if (same == body_frame || same == body_axes) quaternion = straight;
  if (same == inertia_frame || same == inertia_axes) quaternion = tables_.row("body_iquat", body, 4);
  return in_link(body, position, quaternion);
}
Frame<double> Places::inertial(int body) const {
  return in_link(body, tables_.integer("body_sameframe", body), tables_.row("body_ipos", body, 3),
                 tables_.row("body_iquat", body, 4));
}
Frame<double> Places::site(int site) const {
  return in_link(tables_.integer("site_bodyid", site), tables_.integer("site_sameframe", site),
                 tables_.row("site_pos", site, 3), tables_.row("site_quat", site, 4));
}
Frame<double> Places::geom(int geom) const {
  return in_link(tables_.integer("geom_bodyid", geom), tables_.integer("geom_sameframe", geom),
                 tables_.row("geom_pos", geom, 3), tables_.row("geom_quat", geom, 4));
}

}  // namespace featherstorm
