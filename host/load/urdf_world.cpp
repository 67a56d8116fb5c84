#include "host/load/urdf_world.h"

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/model/joints.h"
#include "host/load/inverse_inertia.h"
#include "host/load/table_writer.h"
#include "host/load/urdf_meshes.h"
#include "host/system/interruption.h"
#include "host/urdf/urdf.h"
#include "host/urdf/urdf_mass.h"
#include "host/urdf/urdf_text.h"
#include "host/world/world_of.h"

namespace featherstorm {

namespace {

using urdf::quote;

enum MujocoJoint { kFreeJoint = 0, kSlide = 2, kHinge = 3 };                                            // mjtJoint
enum MujocoGeom { kPlane = 0, kSphere = 2, kCapsule = 3, kCylinder = 5, kBoxGeom = 6, kMeshGeom = 7 };  // mjtGeom
const TableWriter::Numbers kSolref = {0.02, 1}, kSolimp = {0.9, 0.95, 0.001, 0.5, 2};

TableWriter::Numbers list(const Vec3d& r) { return {r[0], r[1], r[2]}; }
TableWriter::Numbers quaternion(const Mat3d& R) {
  const Eigen::Quaterniond q(R);
  return {q.w(), q.x(), q.y(), q.z()};
}

// Principal moments in descending order, and their axes as columns.
struct Principal {
  Vec3d moment;
  Mat3d axes;
};
Principal principal(const Mat3d& inertia) {
  if (inertia.isDiagonal(0) && inertia(0, 0) >= inertia(1, 1) && inertia(1, 1) >= inertia(2, 2))
    return {inertia.diagonal(), Mat3d::Identity()};
  const Eigen::SelfAdjointEigenSolver<Mat3d> solver(inertia);
  Principal p{solver.eigenvalues().reverse(), solver.eigenvectors().rowwise().reverse()};
  if (p.axes.determinant() < 0) p.axes.col(2) *= -1;
  return p;
}

// The placement of a geom: its body in the world, and the frame in its link.
struct Place {
  int body;
  Placement<double> X;
};

class WorldWriter {
 public:
  WorldWriter(const Robot& robot, const UrdfWorldSource& source, const UrdfWorld& world)
      : robot_(robot),
        m_(robot.model),
        source_(source),
        urdf_(source.urdf),
        world_(world),
        weight_(robot),
        meshes_(source, world, t_) {}

  Robot robot_with_world() {
    for (std::size_t i = 0; i < urdf_.links.size(); i++) number_[urdf_.links[i].name] = static_cast<int>(i);
    for (std::size_t i = 0; i < robot_.frame_names.size(); i++) frame_[robot_.frame_names[i]] = i;
    for (const UrdfBody& body : source_.bodies) given_body_[body.link] = &body;
    for (int b = 1; b <= m_.nb; b++) carries_.insert(m_.body[static_cast<std::size_t>(b)].parent);
    for (const UrdfJoint& joint : urdf_.joints) {
      if (joint.mimic) mimics_.insert(joint.name);
      if (joint.type == UrdfJointType::kPlanar)
        fail(joint.line, "joint " + quote(joint.name) + ": a world has no planar joints");
    }
    t_.name(urdf_.name);
    write_options();
    write_world_body();
    for (int b = 1; b <= m_.nb; b++) write_body(b);
    write_shapes();
    if (world_.motors) write_motors();
    write_couplings();
    t_.count({"nbody", "njnt", "nv", "ngeom", "nmesh", "nu", "nout", "nactuator", "neq"},
             {m_.nb + 1, m_.nb, m_.nv, geoms_, meshes_.count(), motors_, motors_, motors_, couplings_});
    auto made = std::make_shared<WorldSource>();
    made->tables = t_.tables();
    made->link_names = links_, made->joint_names = robot_.joint_names;
    const std::vector<std::string>& odd = meshes_.notices();
    std::vector<std::string> notices = odd;
    Robot r = with_world(robot_, made, notices);
    if (source_.strict && !notices.empty()) fail(0, notices[0]);
    r.notices.insert(r.notices.end(), notices.begin(), notices.end());
    r.odd.insert(r.odd.end(), odd.begin(), odd.end());
    return r;
  }

 private:
  [[noreturn]] void fail(int line, const std::string& reason) const { urdf::fail(source_.name, line, reason); }

  void write_options() {
    t_.add("opt.timestep", {world_.timestep});
    t_.add("opt.gravity", list(m_.gravity));
    t_.add("opt.impratio", {1});
    t_.add("opt.magnetic", {0, -0.5, 0});
    t_.add("opt.wind", {0, 0, 0});
    t_.count({"opt.integrator", "opt.cone", "opt.density", "opt.viscosity", "opt.disableflags", "opt.enableflags",
              "opt.disableactuator", "opt.noslip_iterations"},
             {});
    t_.count({"opt.solver"}, {2});  // Newton
    t_.count({"opt.iterations"}, {200});
    t_.count({"na", "ntendon", "nsensor", "nsensordata", "nsite", "ncam", "npair", "nexclude"}, {});
  }

  // ---- bodies and joints

  void write_world_body() {
    links_.push_back("");
    write_inertia(0, Vec3d::Zero(), Mat3d::Zero());
    write_place(0, identity_placement<double>(), 0);
    t_.add("body_jntadr", {-1}), t_.add("body_jntnum", {0});
    t_.add("body_invweight0", {0, 0});
    t_.name("body", "world");
  }

  void write_inertia(double mass, const Vec3d& com, const Mat3d& inertia) {
    const Principal p = principal(inertia);
    t_.add("body_mass", {mass});
    t_.add("body_inertia", list(p.moment));
    t_.add("body_ipos", list(com));
    t_.add("body_iquat", quaternion(p.axes));
  }
  void write_place(int parent, const Placement<double>& X, int weld) {
    t_.add("body_parentid", {static_cast<double>(parent)});
    t_.add("body_weldid", {static_cast<double>(weld)});
    t_.add("body_pos", list(X.r)), t_.add("body_quat", quaternion(X.R));
    t_.add("body_mocapid", {-1});
    t_.add("body_gravcomp", {0}), t_.add("body_sameframe", {0});
  }

  const Frame<double>& frame(const std::string& link) const { return m_.frame[frame_.at(link)]; }
  // The frame of the link that a body of the tree moves; for the world, the world frame.
  Placement<double> own_frame(int body) const {
    return body == 0 ? identity_placement<double>() : frame(robot_.body_names[static_cast<std::size_t>(body)]).X;
  }

  void write_body(int b) {
    end_if_interrupted();
    const auto k = static_cast<std::size_t>(b);
    const std::string& link = robot_.body_names[k];
    links_.push_back(link);
    t_.name("body", link);
    const UrdfBody* body = given_body_.at(number_.at(link));
    write_inertia(body->mass, body->com, body->inertia);
    // X_PB of the links' frames at q0; the placement of a free body is in its coordinates
    const int parent = m_.body[k].parent;
    Placement<double> X = identity_placement<double>();
    if (m_.body[k].type != JointType::Free)
      X = inverse(weight_.placement(parent) * own_frame(parent)) * (weight_.placement(b) * own_frame(b));
    write_place(parent, X, b);
    t_.add("body_jntadr", {b - 1.0}), t_.add("body_jntnum", {1});
    write_joint(b, body->com, body->inertia);
  }

  void write_joint(int b, const Vec3d& com, const Mat3d& inertia) {
    const Body<double>& body = m_.body[static_cast<std::size_t>(b)];
    const bool free = body.type == JointType::Free;
    const int n = free ? 6 : 1;
    const Mat3d axes = own_frame(b).R.transpose();
    const auto v = static_cast<std::size_t>(body.v);
    t_.name("jnt", robot_.joint_names[static_cast<std::size_t>(b) - 1]);
    t_.add("jnt_type", {double(free ? kFreeJoint : body.type == JointType::Prismatic ? kSlide : kHinge)});
    t_.add("jnt_qposadr", {double(body.q)}), t_.add("jnt_dofadr", {double(body.v)}), t_.add("jnt_bodyid", {double(b)});
    t_.add("jnt_pos", {0, 0, 0});
    t_.add("jnt_axis", free ? TableWriter::Numbers{0, 0, 1} : list(axes.col(2)));
    t_.add("jnt_stiffness", {0}), t_.add("jnt_stiffnesspoly", {0, 0}), t_.add("jnt_plasticadr", {-1});
    // files without a known range often write a range of one point
    const bool limited = !free && std::isfinite(m_.lower[v]) && std::isfinite(m_.upper[v]) && m_.lower[v] < m_.upper[v];
    t_.add("jnt_limited", {double(limited)});
    t_.add("jnt_range", {limited ? m_.lower[v] : 0, limited ? m_.upper[v] : 0});
    t_.add("jnt_margin", {0}), t_.add("jnt_solref", kSolref), t_.add("jnt_solimp", kSolimp);
    const double effort = free ? 0 : m_.max_effort[v];
    const bool has_effort = std::isfinite(effort) && effort > 0;
    t_.add("jnt_actfrclimited", {double(has_effort)}), t_.add("jnt_actgravcomp", {0});
    t_.add("jnt_actfrcrange", {has_effort ? -effort : 0, has_effort ? effort : 0});
    for (int k = body.v; k < body.v + n; k++) {
      const auto i = static_cast<std::size_t>(k);
      t_.add("dof_damping", {m_.damping[i]}), t_.add("dof_dampingpoly", {0, 0});
      t_.add("dof_armature", {m_.armature[i]}), t_.add("dof_frictionloss", {m_.friction[i]});
      t_.add("dof_solref", kSolref), t_.add("dof_solimp", kSolimp);
    }
    const TableWriter::Numbers q0(robot_.q0.begin() + body.q, robot_.q0.begin() + body.q + (free ? 7 : 1));
    t_.add("qpos0", q0), t_.add("qpos_spring", q0);
    write_weights(b, com, inertia, n);
  }

  void write_weights(int b, const Vec3d& com, const Mat3d& inertia, int n) {
    const Body<double>& body = m_.body[static_cast<std::size_t>(b)];
    if (slides_alone(b, com, inertia)) {
      // MuJoCo treats a body that slides along its axes as a point
      const double inverse = 1 / body.I.m;
      t_.add("body_invweight0", {inverse, 0}), t_.add("dof_invweight0", {inverse});
      return;
    }
    const Placement<double> X = own_frame(b);
    const InverseInertia::OfBody w = weight_.of_body(b, X.r + X.R * com);
    t_.add("body_invweight0", {w.translation, w.rotation});
    for (int first = body.v; first < body.v + n; first += 3) {
      const double each = weight_.of_coordinates(first, std::min(n, 3));
      for (int k = 0; k < std::min(n, 3); k++) t_.add("dof_invweight0", {each});
    }
  }
  // True if a body without children slides on the world along one of its axes, and its centre of mass and principal
  // axes agree with its link's frame [mjModel.body_simple].
  bool slides_alone(int b, const Vec3d& com, const Mat3d& inertia) const {
    const Body<double>& body = m_.body[static_cast<std::size_t>(b)];
    if (body.type != JointType::Prismatic || body.parent != 0 || !com.isZero(0)) return false;
    if (!principal(inertia).axes.isIdentity(0)) return false;
    if (carries_.count(b)) return false;
    return (own_frame(b).R.transpose().col(2).array().abs() > 1e-14).count() == 1;
  }

  // ---- geoms

  void write_shapes() {
    for (const UrdfLink& link : urdf_.links)
      for (const UrdfShape& shape : link.collisions) given_.insert(shape.name);
    std::vector<std::vector<int>> children(urdf_.links.size());
    for (std::size_t j = 0; j < urdf_.joints.size(); j++)
      if (urdf_.joints[j].type == UrdfJointType::kFixed)
        children[static_cast<std::size_t>(urdf_.joints[j].parent)].push_back(urdf_.joints[j].child);
    for (int b = 0; b <= m_.nb; b++) {
      const int first = geoms_;
      if (b == 0 && world_.ground) write_geom("ground", {0, identity_placement<double>()}, kPlane, {0, 0, 1});
      const bool has_link = b > 0 || frame(urdf_.links[static_cast<std::size_t>(urdf_.root)].name).body == 0;
      const int link = b == 0 ? urdf_.root : number_.at(robot_.body_names[static_cast<std::size_t>(b)]);
      if (has_link) write_shapes_of(link, b, children);
      t_.add("body_geomadr", {geoms_ > first ? double(first) : -1}), t_.add("body_geomnum", {double(geoms_ - first)});
      t_.add("body_bvhadr", {geoms_ > first ? 0.0 : -1.0});
    }
  }
  // Writes the shapes of a link and of the links fixed to it.
  void write_shapes_of(int i, int b, const std::vector<std::vector<int>>& children) {
    const UrdfLink& link = urdf_.links[static_cast<std::size_t>(i)];
    const Placement<double> in_body = inverse(own_frame(b)) * frame(link.name).X;
    int count = 0;
    for (const UrdfShape& shape : link.collisions) {
      std::string name = shape.name.empty() ? link.name : shape.name;
      if (shape.name.empty() && ++count > 1) name += "_" + std::to_string(count);
      while (shape.name.empty() && given_.count(name)) name += '_';
      write_shape(link, shape, unique(std::move(name)),
                  {b, in_body * Placement<double>{shape.rotation, shape.translation}});
    }
    for (const int child : children[static_cast<std::size_t>(i)]) write_shapes_of(child, b, children);
  }
  std::string unique(std::string name) {
    while (name == "ground" || !taken_.insert(name).second) name += '_';
    return name;
  }

  void write_shape(const UrdfLink& link, const UrdfShape& shape, const std::string& name, const Place& place) {
    switch (shape.kind) {
      case UrdfShape::Kind::kBox: return write_geom(name, place, kBoxGeom, list(shape.size));
      case UrdfShape::Kind::kSphere: return write_geom(name, place, kSphere, list(shape.size));
      case UrdfShape::Kind::kCylinder: return write_geom(name, place, kCylinder, list(shape.size));
      case UrdfShape::Kind::kCapsule: return write_geom(name, place, kCapsule, list(shape.size));
      case UrdfShape::Kind::kMesh: break;
    }
    const UrdfMeshes::Mesh* mesh = meshes_.of(link, shape);
    if (mesh) write_geom(name, {place.body, place.X * mesh->X}, kMeshGeom, list(mesh->reach), mesh->number);
  }

  void write_geom(const std::string& name, const Place& place, MujocoGeom type, const TableWriter::Numbers& size,
                  int mesh = -1) {
    geoms_++;
    t_.name("geom", name);
    t_.add("geom_type", {double(type)}), t_.add("geom_bodyid", {double(place.body)});
    t_.add("geom_dataid", {double(mesh)}), t_.add("geom_size", size);
    t_.add("geom_pos", list(place.X.r)), t_.add("geom_quat", quaternion(place.X.R));
    t_.add("geom_contype", {1}), t_.add("geom_conaffinity", {1}), t_.add("geom_condim", {3});
    t_.add("geom_priority", {0}), t_.add("geom_solmix", {1}), t_.add("geom_sameframe", {0});
    t_.add("geom_solref", kSolref), t_.add("geom_solimp", kSolimp), t_.add("geom_friction", {1, 0.005, 0.0001});
    t_.add("geom_margin", {0}), t_.add("geom_gap", {0}), t_.add("geom_adhesion", {0});
    t_.add("geom_fluid", TableWriter::Numbers(12)), t_.add("geom_surfacevel", TableWriter::Numbers(6));
  }

  // ---- drives and couplings

  void write_motors() {
    for (int j = 0; j < m_.nb; j++) {
      const std::string& name = robot_.joint_names[static_cast<std::size_t>(j)];
      const Body<double>& body = m_.body[static_cast<std::size_t>(j) + 1];
      if (body.type == JointType::Free || mimics_.count(name)) continue;
      const double effort = m_.max_effort[static_cast<std::size_t>(body.v)];
      const bool limited = std::isfinite(effort) && effort > 0;
      const double i = motors_++;
      t_.name("actuator", name);
      t_.add("actuator_trnid", {double(j), -1}), t_.add("actuator_gear", {1, 0, 0, 0, 0, 0});
      t_.add("actuator_ctrladr", {i}), t_.add("actuator_ctrlnum", {1}), t_.add("actuator_outadr", {i});
      t_.add("actuator_outnum", {1}), t_.add("actuator_actadr", {-1}), t_.add("actuator_plugin", {-1});
      t_.add("actuator_ctrllimited", {double(limited)});
      t_.add("actuator_ctrlrange", {limited ? -effort : 0, limited ? effort : 0});
      t_.add("actuator_acc0", {weight_.acceleration(body.v)});
      t_.add("actuator_dynprm", {1, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
          t_.add("actuator_gainprm", {1, 0, 0, 0, 0, 0, 0, 0, 0, 0});
      t_.add("actuator_biasprm", TableWriter::Numbers(10));
      for (const char* two : {"actuator_forcerange", "actuator_actrange", "actuator_lengthrange", "actuator_history",
                              "actuator_dampingpoly"})
        t_.add(two, {0, 0});
      for (const char* one :
           {"actuator_trntype", "actuator_dyntype", "actuator_gaintype", "actuator_biastype", "actuator_ctrlspec",
            "actuator_actnum", "actuator_actlimited", "actuator_actearly", "actuator_forcelimited", "actuator_group",
            "actuator_delay", "actuator_damping", "actuator_armature", "actuator_cranklength"})
        t_.add(one, {0});
    }
  }

  // q = multiplier q_driver + offset
  void write_couplings() {
    constexpr double kJointEquality = 2, kJointObject = 3;  // mjtEq, mjtObj
    for (const UrdfJoint& joint : urdf_.joints) {
      if (!joint.mimic) continue;
      couplings_++;
      const UrdfJoint& driver = urdf_.joints[static_cast<std::size_t>(joint.mimic->joint)];
      t_.add("eq_type", {kJointEquality}), t_.add("eq_objtype", {kJointObject}), t_.add("eq_active0", {1});
      t_.add("eq_active", {1});
      t_.add("eq_obj1id", {robot_.joint(joint.name) - 1.0}), t_.add("eq_obj2id", {robot_.joint(driver.name) - 1.0});
      TableWriter::Numbers data(12);
      data[0] = joint.mimic->offset, data[1] = joint.mimic->multiplier, data[10] = 1;
      t_.add("eq_data", data), t_.add("eq_solref", kSolref), t_.add("eq_solimp", kSolimp);
    }
  }

  const Robot& robot_;
  const Model<double>& m_;
  const UrdfWorldSource& source_;
  const Urdf& urdf_;
  const UrdfWorld& world_;
  InverseInertia weight_;
  TableWriter t_;
  UrdfMeshes meshes_;
  std::vector<std::string> links_;
  std::map<std::string, int> number_;          // of links
  std::map<std::string, std::size_t> frame_;   // number of the frame of a link
  std::map<int, const UrdfBody*> given_body_;  // by its moving link
  std::set<int> carries_;                      // bodies with children
  std::set<std::string> mimics_;               // joints
  std::set<std::string> taken_;                // names of geoms in use
  std::set<std::string> given_;                // names given by the file
  int geoms_ = 0, motors_ = 0, couplings_ = 0;
};

}  // namespace

Robot with_urdf_world(const Robot& robot, const UrdfWorldSource& source, const UrdfWorld& world) {
  if (!(world.timestep > 0) || !std::isfinite(world.timestep))
    throw Error("timestep is " + std::to_string(world.timestep) + ", expected a positive number of seconds");
  return WorldWriter(robot, source, world).robot_with_world();
}

}  // namespace featherstorm
