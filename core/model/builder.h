// Builds a Model from links and joints given in any order, as files give them. RBDA chapter 4.
//
//   ModelBuilder b("arm");
//   b.add_link({"upper", 1.2, com, inertia});  b.add_link({"lower", ...});
//   JointSpec j{"elbow", JointType::Revolute, "upper", "lower"};  j.X = placement;  j.axis = {0, 1, 0};
//   b.add_joint(j);
//   Robot robot = b.build();
//
// build() checks the description, numbers the bodies depth first, merges fixed joints (their links stay as frames),
// turns every joint axis into z and derives all index tables. Links with no joint to a parent are roots: they are fixed
// to the world, or float where float_root names them. A forest of several robots has several roots.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/model/model.h"

namespace featherstorm {

using Vec3d = Vec3<double>;
using Mat3d = Mat3<double>;

// A fault in a description: the element's kind and name, and the reason.
class ModelError : public std::runtime_error {
 public:
  ModelError(const std::string& kind, const std::string& name, const std::string& reason)
      : std::runtime_error(kind + " '" + name + "': " + reason), kind(kind), name(name), reason(reason) {}
  std::string kind, name, reason;
};

struct LinkSpec {
  std::string name;
  double mass = 0;                // [kg]; a link without inertia has 0
  Vec3d com = Vec3d::Zero();      // centre of mass, link axes [m]
  Mat3d inertia = Mat3d::Zero();  // about the centre of mass, link axes [kg m^2]
};

// Per coordinate of the joint, in the order of v; an empty vector means the default for all.
struct JointSpec {
  std::string name;
  JointType type = JointType::Revolute;
  std::string parent, child;                              // link names; parent "" is the world
  Placement<double> X = identity_placement<double>();     // joint frame in the parent link; the child's at q = 0
  Vec3d axis = {0, 0, 1};                                 // of joints with one axis, joint frame
  double parameter = 0;                                   // pitch [m/rad], radius [m]
  bool reversed = false;                                  // polarity: the joint's predecessor is `child`
  UserJoint user{};                                       // for UserDefined
  std::vector<double> lower{}, upper{};                   // [rad | m], default -+infinity
  std::vector<double> max_velocity{}, max_effort{};       // default infinity
  std::vector<double> damping{}, friction{}, armature{};  // default 0
};

struct FrameSpec {
  std::string name, link;
  Placement<double> X = identity_placement<double>();
};

struct WorldSource;

// A model with its names.
struct Robot {
  std::string name;
  Model<double> model;
  std::vector<std::string> body_names;   // (nb + 1) link each body's frame belongs to; "world" first
  std::vector<std::string> joint_names;  // (nb) joint i + 1 moves body i + 1
  std::vector<std::string> frame_names;  // (nf) all links in the order added, then the added frames
  std::vector<std::string> q_names, v_names;
  std::vector<double> q0;            // (nq) neutral configuration
  std::vector<int> joint_order;      // joint_order[k] = body moved by the k-th moving joint that was added
  std::vector<std::string> notices;  // elements that a loader ignored, and:
  std::vector<std::string> odd;      // properties that no real robot has, kept as given
  // The source of its world (host/world/world_of.h); null without a world.
  std::shared_ptr<const WorldSource> source{};

  int frame(const std::string& name) const;  // index, or -1
  int joint(const std::string& name) const;  // body index, or -1
};

class ModelBuilder {
 public:
  explicit ModelBuilder(std::string name = "robot") : name_(std::move(name)) {}
  void add_link(LinkSpec link);
  void add_joint(JointSpec joint);
  void add_frame(FrameSpec frame);
  void float_root(const std::string& link);  // gives this root link a free joint named "root"
  void set_gravity(const Vec3d& g) { gravity_ = g; }
  // Throws ModelError. An inertia that no mass distribution has is kept as given, with a notice; `strict` refuses it.
  Robot build(bool strict = false) const;

  // the parts in the order they were added; edit.h makes other robots of them
  const std::string& name() const { return name_; }
  const std::vector<LinkSpec>& links() const { return links_; }
  const std::vector<JointSpec>& joints() const { return joints_; }
  const std::vector<FrameSpec>& frames() const { return frames_; }
  const std::vector<std::string>& floating() const { return floating_; }
  const Vec3d& gravity() const { return gravity_; }

 private:
  std::string name_;
  std::vector<LinkSpec> links_;
  std::vector<JointSpec> joints_;
  std::vector<FrameSpec> frames_;
  std::vector<std::string> floating_;
  Vec3d gravity_ = {0, 0, -9.81};
};

// The joint's axes in its joint frame, as columns: z is `axis` for joints with one, else the axes of the frame.
Mat3d axes_of(const JointSpec& joint);

// The neutral configuration: zeros and unit quaternions.
std::vector<double> neutral(const Model<double>& m);

// The reason why a body cannot have these numbers, "" if it can: not finite, negative mass, asymmetric inertia.
std::string inertia_error(double mass, const Vec3d& com, const Mat3d& inertia);
// The property of these numbers that no mass distribution has, "" if there is none. Computation is possible in any
// case.
std::string inertia_fault(double mass, const Vec3d& com, const Mat3d& inertia);

}  // namespace featherstorm
