#include <cmath>

#include "host/system/error.h"
#include "host/urdf/urdf.h"
#include "host/urdf/urdf_text.h"

namespace featherstorm {

namespace {

using urdf::quote;

// Finds each link's joint and the root; throws unless the joints make one tree.
void check_links(Urdf& urdf, std::string_view name) {
  std::vector<std::vector<int>> children(urdf.links.size());
  for (int i = 0; i < static_cast<int>(urdf.joints.size()); ++i) {
    const UrdfJoint& joint = urdf.joints[i];
    UrdfLink& child = urdf.links[joint.child];
    if (child.joint >= 0)
      urdf::fail(name, joint.line,
                 "link " + quote(child.name) + " has two parents, by the joints " +
                     quote(urdf.joints[child.joint].name) + " and " + quote(joint.name));
    child.joint = i;
    children[joint.parent].push_back(joint.child);
  }
  std::vector<int> roots;
  for (int i = 0; i < static_cast<int>(urdf.links.size()); ++i)
    if (urdf.links[i].joint < 0) roots.push_back(i);
  if (roots.empty()) urdf::fail(name, urdf.links[0].line, "no link is the root: the joints form a loop");
  if (roots.size() > 1)
    urdf::fail(name, urdf.links[roots[1]].line,
               "two links have no parent, " + quote(urdf.links[roots[0]].name) + " and " +
                   quote(urdf.links[roots[1]].name) + "; a robot has one root");
  urdf.root = roots[0];
  // With one root and one parent per link, links that cannot be reached from the root form a loop.
  std::vector<bool> reached(urdf.links.size());
  std::vector<int> open = roots;
  while (!open.empty()) {
    const int link = open.back();
    open.pop_back();
    reached[link] = true;
    open.insert(open.end(), children[link].begin(), children[link].end());
  }
  for (std::size_t i = 0; i < reached.size(); ++i)
    if (!reached[i])
      urdf::fail(name, urdf.links[i].line,
                 "link " + quote(urdf.links[i].name) + " is in a loop of joints that the root does not reach");
}

// Gives notices for inertias that no physical body has, which occur in many published files: the largest principal
// moment is above the sum of the others. They are harmless on a link that is fixed to a valid one; the builder checks
// whole bodies.
void note_inertias(Urdf& urdf) {
  for (const UrdfLink& link : urdf.links)
    if (link.triangle_excess > 0)
      urdf.notices.push_back(
          "link " + quote(link.name) +
          " has an inertia that no body has: its largest principal moment is above the sum of the others by " +
          std::to_string(std::lround(100 * link.triangle_excess)) + " %");
}

}  // namespace

void check_urdf_tree(Urdf& urdf, std::string_view name) {
  check_links(urdf, name);
  note_inertias(urdf);
}

}  // namespace featherstorm
