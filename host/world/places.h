// Where the elements of a MuJoCo model are on the tree of a robot that was made of it.
#pragma once
#include <string>
#include <vector>

#include "core/model/builder.h"
#include "host/world/mujoco_tables.h"

namespace featherstorm {

class Places {
 public:
  // link_names: the frame of each of MuJoCo's bodies, "" for the world; joint_names: the joint of the robot for each of its
  // joints. Throws Error for a name that the robot does not have, and where coordinates are not in the same order.
  Places(const Robot& robot, const MujocoTables& tables, const std::vector<std::string>& link_names,
         const std::vector<std::string>& joint_names);

  const Frame<double>& link(int body) const { return links_.at(static_cast<std::size_t>(body)); }
  // A place in the axes of one of MuJoCo's bodies; quaternion w first.
  Frame<double> in_link(int body, std::span<const double> position, std::span<const double> quaternion) const;
  Frame<double> inertial(int body) const;
  Frame<double> site(int site) const;
  Frame<double> geom(int geom) const;
  // The tree's body that a joint moves.
  int joint(int joint) const { return joints_.at(static_cast<std::size_t>(joint)); }

 private:
  Frame<double> in_link(int body, int same, std::span<const double> position, std::span<const double> quaternion) const;

  const MujocoTables& tables_;
  std::vector<Frame<double>> links_;
  std::vector<int> joints_;
};

}  // namespace featherstorm
