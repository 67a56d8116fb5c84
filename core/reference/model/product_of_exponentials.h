// Robots as products of exponentials: home placements and screw axes in the world at q = 0.
// Lynch and Park (9.35)-(9.40).
//
//   T_f(q) = exp([S_1] q_1) ... exp([S_n] q_n) M_f   over the joints that carry frame f
//
// A screw S = (w; v) of pitch h through p: w the unit axis, v = -w × p + h w. For a slide, w = 0 and v is the unit
// direction. Reference only: it describes a model.
#pragma once
#include "core/kinematics/jacobian.h"
#include "core/model/builder.h"

namespace featherstorm {

// Input: a link of the chain or tree.
struct ScrewLink {
  LinkSpec link;                                       // mass, com, inertia in the frame M
  std::string parent;                                  // link name, "" for the world
  Placement<double> M = identity_placement<double>();  // in the world at q = 0
  Motion<double> S;                                    // axis of the joint to the parent, world
};

// Adds links, their joints ("joint_" + link) and their frames M ("home_" + link). Links come after their parents. Body
// frames lie on the axes, so the origin of a link's own frame is the foot of the perpendicular from M. Throws
// ModelError.
inline void add_screws(ModelBuilder& b, const std::vector<ScrewLink>& links) {
  std::map<std::string, Placement<double>> placed{{"", identity_placement<double>()}};
  for (const ScrewLink& l : links) {
    if (!placed.count(l.parent)) throw ModelError("link", l.link.name, "comes before its parent '" + l.parent + "'");
    const bool turns = l.S.w.norm() > 1e-9;
    const double length = turns ? l.S.w.norm() : l.S.v.norm();
    if (std::abs(length - 1) > 1e-6) throw ModelError("link", l.link.name, "screw axis is not normalised");
    JointSpec j;
    j.name = "joint_" + l.link.name, j.parent = l.parent, j.child = l.link.name;
    Placement<double> X = l.M;  // frame of the body, with the axes of M
    Vec3d axis = l.S.v;
    j.type = JointType::Prismatic;
    if (turns) {
      // pitch w . v; the axis passes through w × v; its point nearest to M's origin is w × v + w (w . r)
      axis = l.S.w;
      j.parameter = dot(axis, l.S.v);
      j.type = std::abs(j.parameter) > 1e-12 ? JointType::Helical : JointType::Revolute;
      X.r = cross(axis, l.S.v) + axis * dot(axis, l.M.r);
    }
    j.X = inverse(placed.at(l.parent)) * X;
    j.axis = transpose_times(X.R, axis);
    placed[l.link.name] = X;
    const Placement<double> home = inverse(X) * l.M;
    LinkSpec link = l.link;
    link.com = home.r + home.R * l.link.com;
    b.add_link(link), b.add_joint(j);
    b.add_frame({"home_" + l.link.name, l.link.name, home});
  }
}

// Output: screw axes of all coordinates and placements of all named frames at q = 0.
struct Screws {
  std::vector<Motion<double>> S;     // (nv) world
  std::vector<Placement<double>> M;  // (nf) world
};
// Throws ModelError if a joint has more than one freedom or is not a screw.
inline Screws screws(const Robot& robot) {
  const Model<double>& m = robot.model;
  for (int i = 1; i <= m.nb; i++) {
    const JointType t = m.body[i].type;
    if (t != JointType::Revolute && t != JointType::Prismatic && t != JointType::Helical)
      throw ModelError("joint", robot.joint_names[i - 1], "is no screw");
  }
  const std::vector<double> q(m.nq, 0.0);
  std::vector<double> pose(12 * m.nf), J(6 * m.nv);
  Screws s;
  forward_kinematics(m, q.data(), pose.data());
  for (int f = 0; f < m.nf; f++) {
    const double* p = &pose[12 * f];
    s.M.push_back({rows(p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11]), {p[0], p[1], p[2]}});
  }
  for (int k = 0; k < m.nv; k++) {
    // column of the Jacobian at the world's origin: that of the moved body, shifted
    const Placement<double> here = identity_placement<double>();
    jacobian_of_body(m, q.data(), m.dof_body[k], here, J.data());
    const auto column = [&](int r) { return J[r * m.nv + k]; };
    Scratch<double> x(m.nx);
    Scratch<Placement<double>> X(m.nb + 1);
    update_joints(m, q.data(), Zeros<double>{}, x);
    body_placements(m, x, X);
    const Vec3d w{column(0), column(1), column(2)}, v{column(3), column(4), column(5)};
    s.S.push_back({w, v - cross(w, X[m.dof_body[k]].r)});
  }
  return s;
}

// Returns exp([S] q): the placement after a motion along the screw.
inline Placement<double> screw_motion(const Motion<double>& S, double q) {
  const double w2 = dot(S.w, S.w);
  if (w2 < 1e-18) return {identity_placement<double>().R, S.v * q};
  const Mat3d R = matrix(quaternion_exp(Vec3d(S.w * q)));
  // a point of the axis stays fixed, apart from the slide along the axis
  const Vec3d p = cross(S.w, S.v) * (1 / w2);
  return {R, p - R * p + S.w * (q * dot(S.w, S.v) / w2)};
}

// T_f(q)
inline Placement<double> product_of_exponentials(const Model<double>& m, const Screws& s, const double* q, int frame) {
  Placement<double> T = identity_placement<double>();
  along_support(m, m.frame[frame].body, [&](int i) { T = T * screw_motion(s.S[m.body[i].v], q[m.body[i].q]); });
  return T * s.M[frame];
}

}  // namespace featherstorm
