#include "host/load/load_urdf.h"

#include "core/model/joints.h"
#include "host/load/joint_inertia.h"
#include "host/urdf/urdf.h"
#include "host/urdf/urdf_mass.h"
#include "host/urdf/urdf_text.h"

namespace featherstorm {

namespace {

using urdf::quote;

constexpr int kMaxDofs = 10000;  // the inertia matrix of a chain with this many has 200 MB of indices

JointType joint_type(UrdfJointType type) {
  switch (type) {
    case UrdfJointType::kFixed: return JointType::Fixed;
    case UrdfJointType::kRevolute:
    case UrdfJointType::kContinuous: return JointType::Revolute;
    case UrdfJointType::kPrismatic: return JointType::Prismatic;
    case UrdfJointType::kPlanar: return JointType::Planar;
    case UrdfJointType::kFloating: return JointType::Free;
  }
  return JointType::Fixed;
}

JointSpec joint_spec(const Urdf& urdf, const UrdfJoint& joint, double armature) {
  JointSpec spec;
  spec.name = joint.name;
  spec.type = joint_type(joint.type);
  spec.parent = urdf.links[joint.parent].name;
  spec.child = urdf.links[joint.child].name;
  spec.X = {joint.rotation, joint.translation};
  spec.axis = joint.axis;
  if (spec.type != JointType::Revolute && spec.type != JointType::Prismatic) return spec;
  spec.lower = {joint.lower};
  spec.upper = {joint.upper};
  spec.max_velocity = {joint.velocity};
  spec.max_effort = {joint.effort};
  spec.damping = {joint.damping};
  spec.friction = {joint.friction};
  spec.armature = {joint.armature > 0 ? joint.armature : armature};
  return spec;
}

void check_size(const Urdf& urdf, std::string_view name) {
  int dofs = 0;
  for (const UrdfJoint& joint : urdf.joints)
    if (const JointType type = joint_type(joint.type); type != JointType::Fixed) dofs += joint_size(type).nv;
  if (dofs > kMaxDofs)
    urdf::fail(name, 0, "has " + std::to_string(dofs) + " degrees of freedom, expected at most 10000");
}

// Gives notices or errors for mimic joints that are not coupled.
void note_mimics(Urdf& urdf, const UrdfOptions& options, std::string_view name) {
  for (const UrdfJoint& joint : urdf.joints) {
    if (!joint.mimic || options.mimic == UrdfOptions::Mimic::kCouple) continue;
    const std::string mimic = "joint " + quote(joint.name) + " mimics " + quote(urdf.joints[joint.mimic->joint].name);
    if (options.mimic == UrdfOptions::Mimic::kRefuse) urdf::fail(name, joint.line, mimic + ", which is refused");
    if (!options.world) urdf.notices.push_back(mimic + "; taken as independent");
  }
}

// The mimic joints with their drivers. If a joint mimics a mimic joint, it has the same driver as that joint.
std::vector<CouplingSpec> couplings(const Urdf& urdf, std::string_view name) {
  std::vector<CouplingSpec> specs;
  for (const UrdfJoint& joint : urdf.joints) {
    if (!joint.mimic) continue;
    UrdfMimic m = *joint.mimic;
    for (std::size_t steps = 0; urdf.joints[m.joint].mimic; steps++) {
      if (steps == urdf.joints.size())
        urdf::fail(name, joint.line, "joint " + quote(joint.name) + " mimics itself by way of others");
      const UrdfMimic& next = *urdf.joints[m.joint].mimic;
      m = {next.joint, m.multiplier * next.multiplier, m.multiplier * next.offset + m.offset};
    }
    specs.push_back({joint.name, {{urdf.joints[m.joint].name, m.multiplier}}, m.offset});
  }
  return specs;
}

// The line of the element with this kind and name.
int line_of(const Urdf& urdf, const ModelError& error) {
  for (const UrdfLink& link : urdf.links)
    if (error.kind == "link" && link.name == error.name) return link.line;
  for (const UrdfJoint& joint : urdf.joints)
    if ((error.kind == "joint" || error.kind == "coupling") && joint.name == error.name) return joint.line;
  return 0;
}

Robot build(Urdf urdf, std::string_view name, const std::filesystem::path& file, const UrdfOptions& options) {
  check_size(urdf, name);
  const std::vector<UrdfBody> bodies = merge_fixed_links(urdf);
  if (options.strict) check_urdf_masses(urdf, bodies, options.floating_base, name);
  note_mimics(urdf, options, name);
  // The moving link gets the inertia of the whole body: single links of published files have impossible inertias.
  ModelBuilder builder(urdf.name);
  std::vector<LinkSpec> links;
  for (const UrdfLink& link : urdf.links) links.push_back({.name = link.name});
  for (const UrdfBody& body : bodies) {
    LinkSpec& link = links[body.link];
    link.mass = body.mass, link.com = body.com, link.inertia = body.inertia;
  }
  for (LinkSpec& link : links) builder.add_link(std::move(link));
  for (const UrdfJoint& joint : urdf.joints) builder.add_joint(joint_spec(urdf, joint, options.armature));
  if (options.floating_base) builder.float_root(urdf.links[urdf.root].name);
  try {
    Robot robot = builder.build(options.strict);
    check_joint_inertia(robot);
    if (options.mimic == UrdfOptions::Mimic::kCouple && !options.world)
      if (const auto specs = couplings(urdf, name); !specs.empty()) robot.model.coupling = couple(robot, specs);
    robot.notices.insert(robot.notices.begin(), urdf.notices.begin(), urdf.notices.end());
    robot.odd.insert(robot.odd.begin(), urdf.odd.begin(), urdf.odd.end());
    if (options.world)
      return with_urdf_world(robot, {urdf, bodies, file, std::string(name), options.strict}, *options.world);
    return robot;
  } catch (const ModelError& error) {
    urdf::fail(name, line_of(urdf, error), error.kind + " " + quote(error.name) + ": " + error.reason);
  }
}

}  // namespace

Robot load_urdf(const std::filesystem::path& path, const UrdfOptions& options) {
  const Urdf urdf = read_urdf_file(path, {options.strict, options.world.has_value()});
  return build(urdf, urdf::printable(path.string(), 500), path, options);
}

Robot load_urdf_text(std::string_view text, std::string_view name, const UrdfOptions& options) {
  return build(read_urdf(text, name, {options.strict, options.world.has_value()}), name, name, options);
}

}  // namespace featherstorm
