// The file MODEL of Pinocchio's programs: the joints, a line each: name, kind, parent, placement (R by rows, p), then mass, centre of mass,
// inertia about it (by rows) of the body, and the rotors (its nv numbers).
#pragma once
#include <fstream>
#include <pinocchio/multibody.hpp>
#include <string>

namespace peers {

namespace pin = pinocchio;

inline pin::Model read_model(const char* path) {
  std::ifstream file(path);
  pin::Model model;
  for (std::string name, kind; file >> name >> kind;) {
    pin::JointIndex parent;
    file >> parent;
    auto read = [&](long rows, long columns) {
      Eigen::MatrixXd x(rows, columns);
      for (long i = 0; i < rows; i++)
        for (long j = 0; j < columns; j++) file >> x(i, j);
      return x;
    };
    const Eigen::Matrix3d R = read(3, 3);
    const Eigen::Vector3d p = read(3, 1);
    auto add = [&](const auto& joint) { return model.addJoint(parent, joint, pin::SE3(R, p), name); };
    const pin::JointIndex i = kind == "JointModelRX"   ? add(pin::JointModelRX())
                              : kind == "JointModelRY" ? add(pin::JointModelRY())
                              : kind == "JointModelRZ" ? add(pin::JointModelRZ())
                              : kind == "JointModelPX" ? add(pin::JointModelPX())
                              : kind == "JointModelPY" ? add(pin::JointModelPY())
                              : kind == "JointModelPZ" ? add(pin::JointModelPZ())
                                                       : add(pin::JointModelFreeFlyer());
    const double mass = read(1, 1)(0);
    const Eigen::Vector3d com = read(3, 1);
    const Eigen::Matrix3d I = read(3, 3);
    model.appendBodyToJoint(i, pin::Inertia(mass, com, I), pin::SE3::Identity());
    const int nv = model.nvs[i];
    model.armature.segment(model.idx_vs[i], nv) = read(nv, 1);
  }
  return model;
}

}  // namespace peers
