#include "host/urdf/urdf.h"

#include <tinyxml2.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "host/system/error.h"
#include "host/system/interruption.h"
#include "host/urdf/element_reader.h"

namespace featherstorm {

namespace {

using tinyxml2::XMLElement;
using urdf::printable;
using urdf::quote;

constexpr std::size_t kMaxTag =
    64u << 10;  // largest distance between tags in bytes; the XML library is quadratic in attributes
constexpr std::size_t kMaxParts = 10000;  // largest number of links, and of joints
constexpr std::size_t kMaxKinds = 30;     // kinds of ignored elements that are counted separately
constexpr double kIndefinite = 1e-6;  // a principal moment may be negative by this fraction of the largest: rounding

// Reads one text. Every error names it and the line.
class Reader : urdf::ElementReader {
 public:
  Reader(std::string_view name, const UrdfReading& reading)
      : ElementReader(name, reading.strict), with_collisions_(reading.collisions) {}

  Urdf read(std::string_view text);

 private:
  void check_text(std::string_view text) const;
  void ignore_others(const XMLElement& e, std::initializer_list<std::string_view> known);

  UrdfLink read_link(const XMLElement& e);
  void read_inertial(const XMLElement& e, UrdfLink& link);
  UrdfJoint read_joint(const XMLElement& e);
  void read_limit(const XMLElement& e, UrdfJoint& joint);
  int read_link_reference(const XMLElement& e, const char* tag) const;
  void read_mimics(const XMLElement& robot);

  bool with_collisions_;
  std::unordered_map<std::string, int> links_, joints_;
  std::map<std::string, int> ignored_;
};

// ---- text and XML

void Reader::check_text(std::string_view text) const {
  if (text.size() > kMaxUrdfBytes) fail(0, "has more than 64 MiB, the largest size accepted");
  if (text.find_first_not_of(" \t\r\n") == text.npos) fail(0, "is empty");
  if (text.find('\0') != text.npos) fail(0, "holds a zero byte; it is not XML text in UTF-8");
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('<', begin), text.size());
    if (end - begin > kMaxTag) fail(0, "has more than 64 KiB in one tag, comment or text");
    begin = end + 1;
  }
}

// Counts the children of `e` that are not in `known`; read() reports the ignored kinds once.
void Reader::ignore_others(const XMLElement& e, std::initializer_list<std::string_view> known) {
  for (const XMLElement* child = e.FirstChildElement(); child; child = child->NextSiblingElement()) {
    const std::string_view tag = child->Name();
    if (tag.starts_with("xacro:")) fail(*child, "is a xacro macro; run xacro on the file first");
    if (std::find(known.begin(), known.end(), tag) != known.end()) continue;
    const std::string kind = ignored_.size() < kMaxKinds ? printable(tag) : "...";
    ++ignored_[kind];
  }
}

// ---- links

UrdfLink Reader::read_link(const XMLElement& e) {
  UrdfLink link{.name = text_attribute(e, "name"), .line = e.GetLineNum()};
  owner_ = "link " + quote(link.name) + ": ";
  if (!links_.emplace(link.name, static_cast<int>(urdf_.links.size())).second) fail(e, "has the name of another link");
  if (const XMLElement* inertial = e.FirstChildElement("inertial")) {
    if (const XMLElement* second = inertial->NextSiblingElement("inertial"))
      odd(*second, "occurs twice", "the first one is used");
    read_inertial(*inertial, link);
  }
  if (with_collisions_) link.collisions = read_collisions(e);
  ignore_others(e, {"inertial", with_collisions_ ? "collision" : ""});
  return link;
}

void Reader::read_inertial(const XMLElement& e, UrdfLink& link) {
  if (const XMLElement* mass = only_child(e, "mass")) {
    link.mass = number(*mass, "value");
    if (link.mass < 0) fail(*mass, "is negative");
  } else {
    odd(e, "has no <mass>", "taken as 0");
  }
  Eigen::Matrix3d R;
  read_origin(e, R, link.com);
  const XMLElement* inertia = only_child(e, "inertia");
  if (!inertia && link.mass > 0) odd(e, "has a mass and no <inertia>", "taken as a point mass");
  if (!inertia) return;
  const double xx = number(*inertia, "ixx"), xy = number(*inertia, "ixy"), xz = number(*inertia, "ixz");
  const double yy = number(*inertia, "iyy"), yz = number(*inertia, "iyz"), zz = number(*inertia, "izz");
  Eigen::Matrix3d I;
  I << xx, xy, xz, xy, yy, yz, xz, yz, zz;
  if (link.mass == 0) {
    link.com.setZero();
    if (I.isZero(0)) return;
    if (strict_) {
      urdf_.notices.push_back("link " + quote(link.name) + " has an inertia but no mass; taken as a frame");
      return;
    }
    odd(*inertia, "has no mass", "kept, although no physical body has it");
  }
  // Principal moments in ascending order. All are 0 for a point mass, one is 0 for a thin rod.
  const Eigen::Vector3d moments =
      Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(I, Eigen::EigenvaluesOnly).eigenvalues();
  const double largest = moments[2];
  if (moments[0] < -kIndefinite * std::abs(largest) || largest < 0)
    odd(*inertia, "is not positive definite", "kept, although no physical body has it");
  // no physical body has I_3 > I_1 + I_2
  else if (moments[0] + moments[1] < (1 - kIndefinite) * largest)
    link.triangle_excess = 1 - (moments[0] + moments[1]) / largest;
  link.inertia = R * I * R.transpose();  // in link axes
}

// ---- joints

bool has_one_dof(const UrdfJoint& joint) {
  return joint.type == UrdfJointType::kRevolute || joint.type == UrdfJointType::kContinuous ||
         joint.type == UrdfJointType::kPrismatic;
}

int Reader::read_link_reference(const XMLElement& e, const char* tag) const {
  const XMLElement& reference = needed_child(e, tag);
  const std::string name = text_attribute(reference, "link");
  const auto found = links_.find(name);
  if (found == links_.end()) fail(reference, "names the link " + quote(name) + ", which does not exist");
  return found->second;
}

UrdfJoint Reader::read_joint(const XMLElement& e) {
  static constexpr std::pair<std::string_view, UrdfJointType> kTypes[] = {
      {"fixed", UrdfJointType::kFixed},           {"revolute", UrdfJointType::kRevolute},
      {"continuous", UrdfJointType::kContinuous}, {"prismatic", UrdfJointType::kPrismatic},
      {"planar", UrdfJointType::kPlanar},         {"floating", UrdfJointType::kFloating}};
  UrdfJoint joint{.name = text_attribute(e, "name"), .line = e.GetLineNum()};
  owner_ = "joint " + quote(joint.name) + ": ";
  if (!joints_.emplace(joint.name, static_cast<int>(urdf_.joints.size())).second)
    fail(e, "has the name of another joint");
  const std::string type = text_attribute(e, "type");
  const auto* row = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& r) { return r.first == type; });
  if (row == std::end(kTypes))
    fail(e, "has the type " + quote(type) + ", expected fixed, revolute, continuous, prismatic, planar or floating");
  joint.type = row->second;
  joint.parent = read_link_reference(e, "parent");
  joint.child = read_link_reference(e, "child");
  read_origin(e, joint.rotation, joint.translation);
  const bool moves = joint.type != UrdfJointType::kFixed, has_axis = moves && joint.type != UrdfJointType::kFloating;
  if (const XMLElement* axis = only_child(e, "axis"); axis && has_axis) {
    numbers(*axis, "xyz", 3, joint.axis.data());
    if (!(joint.axis.norm() > kSnap)) fail(*axis, "has length zero");
    joint.axis.normalize();
  }
  if (has_one_dof(joint)) read_limit(e, joint);
  if (moves && !has_one_dof(joint) && (e.FirstChildElement("limit") || e.FirstChildElement("dynamics")))
    urdf_.notices.push_back("joint " + quote(joint.name) + " is " + type + "; its <limit> and <dynamics> are ignored");
  if (const XMLElement* dynamics = only_child(e, "dynamics"); dynamics && has_one_dof(joint)) {
    joint.damping = not_negative_or(*dynamics, "damping", 0);
    joint.friction = not_negative_or(*dynamics, "friction", 0);
    joint.armature = not_negative_or(*dynamics, "armature", 0);
  }
  ignore_others(e, {"parent", "child", "origin", "axis", "limit", "dynamics", "mimic"});
  return joint;
}

// <limit lower upper effort velocity>. A revolute or prismatic joint without a range moves freely, with a notice.
void Reader::read_limit(const XMLElement& e, UrdfJoint& joint) {
  const bool ranged = joint.type == UrdfJointType::kRevolute || joint.type == UrdfJointType::kPrismatic;
  const XMLElement* limit = only_child(e, "limit");
  if (limit) {
    joint.effort = not_negative_or(*limit, "effort", joint.effort);
    joint.velocity = not_negative_or(*limit, "velocity", joint.velocity);
    if (joint.velocity == 0) joint.velocity = UrdfJoint::kUnlimited;  // files without a known limit often write 0
  }
  if (!ranged) return;
  if (!limit || (!limit->Attribute("lower") && !limit->Attribute("upper"))) {
    urdf_.notices.push_back("joint " + quote(joint.name) + " has no range; taken as unlimited");
    return;
  }
  joint.lower = limit_or(*limit, "lower", 0);
  joint.upper = limit_or(*limit, "upper", 0);
  if (joint.lower > joint.upper) {
    odd(*limit, "has lower above upper", "taken as unlimited");
    joint.lower = -UrdfJoint::kUnlimited, joint.upper = UrdfJoint::kUnlimited;
  }
  if (joint.lower == joint.upper) urdf_.notices.push_back("joint " + quote(joint.name) + " has a range of one point");
}

// After all joints are known: <mimic joint multiplier offset>.
void Reader::read_mimics(const XMLElement& robot) {
  std::size_t i = 0;
  for (const XMLElement* e = robot.FirstChildElement("joint"); e; e = e->NextSiblingElement("joint"), ++i) {
    owner_ = "joint " + quote(urdf_.joints[i].name) + ": ";
    const XMLElement* mimic = only_child(*e, "mimic");
    if (!mimic || urdf_.joints[i].type == UrdfJointType::kFixed) continue;
    const std::string name = text_attribute(*mimic, "joint");
    const auto found = joints_.find(name);
    if (found == joints_.end()) {
      odd(*mimic, "names the joint " + quote(name) + ", which does not exist", "the joint is independent");
      continue;
    }
    if (found->second == static_cast<int>(i)) fail(*mimic, "names its own joint");
    if (!has_one_dof(urdf_.joints[i]) || !has_one_dof(urdf_.joints[found->second]))
      fail(*mimic, "couples joints of which one has not one degree of freedom");
    urdf_.joints[i].mimic =
        UrdfMimic{found->second, number_or(*mimic, "multiplier", 1), number_or(*mimic, "offset", 0)};
  }
}

// ---- the file

Urdf Reader::read(std::string_view text) {
  check_text(text);
  tinyxml2::XMLDocument document;
  if (document.Parse(text.data(), text.size()) != tinyxml2::XML_SUCCESS)
    fail(document.ErrorLineNum(), std::string("is not well-formed XML (") + document.ErrorName() + ")");
  const XMLElement* robot = document.RootElement();
  if (!robot) fail(0, "holds no XML element");
  const std::string_view tag = robot->Name();
  if (tag == "mujoco") fail(*robot, "is the root element: this is MJCF, which load_mjcf reads; expected <robot>");
  if (tag != "robot") fail(*robot, "is the root element, expected <robot>");
  if (const XMLElement* second = robot->NextSiblingElement()) fail(*second, "follows the root element");
  const char* name = robot->Attribute("name");
  if (name && !*name) odd(*robot, "has an empty name", "taken as 'robot'");
  urdf_.name = name && *name ? text_attribute(*robot, "name") : "robot";

  ignore_others(*robot, {"link", "joint"});
  for (const XMLElement* e = robot->FirstChildElement("link"); e; e = e->NextSiblingElement("link")) {
    owner_.clear();
    end_if_interrupted();
    if (urdf_.links.size() == kMaxParts) fail(*e, "is one of more than 10000 links");
    urdf_.links.push_back(read_link(*e));
  }
  owner_.clear();
  if (urdf_.links.empty()) fail(*robot, "has no <link>");
  for (const XMLElement* e = robot->FirstChildElement("joint"); e; e = e->NextSiblingElement("joint")) {
    owner_.clear();
    end_if_interrupted();
    if (urdf_.joints.size() == kMaxParts) fail(*e, "is one of more than 10000 joints");
    urdf_.joints.push_back(read_joint(*e));
  }
  read_mimics(*robot);
  check_urdf_tree(urdf_, name_);
  for (const auto& [tag, count] : ignored_)
    urdf_.notices.push_back("ignored " + std::to_string(count) + " <" + tag + ">");
  return std::move(urdf_);
}

}  // namespace

Urdf read_urdf(std::string_view text, std::string_view name, const UrdfReading& reading) {
  return Reader(name, reading).read(text);
}

}  // namespace featherstorm
