// Operations between joints and bodies: velocities and forces of all bodies (Liu and Jain sections 6 and 7), a moving
// base (Lynch and Park section 9.4), the operational-space inertia of several frames.
#pragma once
#include "core/dynamics/id_mass_centres.h"
#include "core/dynamics/moving_base.h"
#include "core/dynamics/operational_inertia.h"
#include "core/kinematics/joint_conversions.h"
#include "core/kinematics/maximal.h"
#include "host/table/ops/quantities.h"
#include "host/table/row/form.h"

namespace featherstorm::table {

struct OpIdMassCentres {
  static constexpr OpInfo info{
      .name = "id_mass_centres",
      .summary = "inverse dynamics in 3-vectors at the mass centres; the map of rnea",
      .equation = "tau = M(q) a + C(q, v) - sum J_i^T f_ext_i",
      .source = "Liu and Jain (72)-(84)",
      .in = {q, v, a, f_ext},
      .out = {tau},
      .per_body = true,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto a, auto f_ext, auto tau) {
    id_mass_centres(m, q, v, a, f_ext, tau);
  }
};

struct OpRneaMovingBase {
  static constexpr OpInfo info{
      .name = "rnea_moving_base",
      .summary =
          "inverse dynamics on a base that moves: its velocity, rates of those components, gravity, and the force it "
          "bears, all in base axes, angular first",
      .equation = "a_0 = a_base - gravity, then rnea; f_base = sum of forces on the base",
      .source = "Lynch and Park (9.49)-(9.57)",
      .in = {q,
             v,
             a,
             {"v_base", {6}, "rad/s, m/s", "velocity of the base, base axes"},
             {"a_base", {6}, "rad/s^2, m/s^2", "rates of the components of v_base"},
             {"gravity_base", {3}, "m/s^2", "gravity, base axes"}},
      .out = {tau, {"f_base", {6}, "N m, N", "force that the base bears, base axes"}},
      .per_body = true,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto a, auto v_base, auto a_base, auto gravity_base, auto tau,
                        auto f_base) {
    rnea_moving_base(m, v_base, a_base, gravity_base, q, v, a, tau, f_base);
  }
};

struct OpMaximalVelocity {
  static constexpr OpInfo info{
      .name = "maximal_velocity",
      .summary = "angular velocity of each body and velocity of its mass centre, world axes, 6 nb",
      .equation = "V = J v",
      .source = "Liu and Jain (60)",
      .in = {q, v},
      .out = {velocities},
      .per_body = true,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto velocities) { maximal_velocity(m, q, v, velocities); }
};

struct OpGeneralisedVelocity {
  static constexpr OpInfo info{
      .name = "generalised_velocity",
      .summary =
          "v that comes nearest to velocities as of maximal_velocity, by sums of squares, and these less those of v",
      .equation = "v = (J^T J)^-1 J^T V",
      .source = "Liu and Jain (61)",
      .in = {q, velocities},
      .out = {v, residual},
      .per_body = true,
      .cost = Cost::cubic,
      .condition = Condition::solves,
  };
  FS_HD static void run(const auto& m, auto q, auto velocities, auto v, auto residual) {
    generalised_velocity(m, q, velocities, v, residual);
  }
};

struct OpGeneralisedVelocityInertia {
  static constexpr OpInfo info{
      .name = "generalised_velocity_inertia",
      .summary =
          "generalised_velocity in the metric of the bodies' inertia: the v with the generalised momentum of all "
          "bodies",
      .equation = "v = (J^T W J)^-1 J^T W V",
      .source = "Liu and Jain (61)",
      .in = {q, velocities},
      .out = {v, residual},
      .per_body = true,
      .cost = Cost::cubic,
      .condition = Condition::solves,
  };
  FS_HD static void run(const auto& m, auto q, auto velocities, auto v, auto residual) {
    generalised_velocity<Metric::Inertia>(m, q, velocities, v, residual);
  }
};

struct OpGeneralisedForce {
  static constexpr OpInfo info{
      .name = "generalised_force",
      .summary = "tau = J^T F of a moment about each body's mass centre and a force, world axes",
      .equation = "tau = J^T F",
      .source = "Liu and Jain (67)",
      .in = {q, forces},
      .out = {tau},
      .per_body = true,
  };
  FS_HD static void run(const auto& m, auto q, auto forces, auto tau) { generalised_force(m, q, forces, tau); }
};

struct OpMaximalForce {
  static constexpr OpInfo info{
      .name = "maximal_force",
      .summary = "the shortest forces whose generalised_force is tau, by sums of squares",
      .equation = "F = J (J^T J)^-1 tau",
      .source = "Liu and Jain (70)",
      .in = {q, tau},
      .out = {forces},
      .per_body = true,
      .cost = Cost::cubic,
      .condition = Condition::solves,
  };
  FS_HD static void run(const auto& m, auto q, auto tau, auto forces) { maximal_force(m, q, tau, forces); }
};

struct OpMaximalForceInertia {
  static constexpr OpInfo info{
      .name = "maximal_force_inertia",
      .summary =
          "forces whose generalised_force is tau, in the metric of the inertia: M_bodies J M^-1 tau, rotors apart",
      .equation = "F = W J (J^T W J)^-1 tau",
      .source = "Liu and Jain (70)",
      .in = {q, tau},
      .out = {forces},
      .per_body = true,
      .cost = Cost::cubic,
      .condition = Condition::solves,
  };
  FS_HD static void run(const auto& m, auto q, auto tau, auto forces) {
    maximal_force<Metric::Inertia>(m, q, tau, forces);
  }
};

struct OpForceAtMassCentres {
  static constexpr OpInfo info{
      .name = "force_at_mass_centres",
      .summary =
          "forces as generalised_force takes them from a couple and a force at a point of each body (3 nb, world)",
      .equation = "n = couple + (point - c) x force",
      .source = "Liu and Jain section 6",
      .in = {q,
             {"points", {nb, 3}, "m", "a point of each body, in the world"},
             {"forces_at_points", {nb, 6}, "N m, N", "couple and force at the points, world axes"}},
      .out = {forces},
      .per_body = true,
  };
  FS_HD static void run(const auto& m, auto q, auto points, auto forces_at_points, auto forces) {
    force_at_mass_centres(m, q, points, forces_at_points, forces);
  }
};

struct OpJointVelocities {
  static constexpr OpInfo info{
      .name = "joint_velocities",
      .summary = "v from the velocities of neighbouring bodies, joint by joint, and what the joints do not admit",
      .equation = "v = (S^T S)^-1 S^T (v_i - X v_parent)",
      .source = "Liu and Jain (62)-(66)",
      .in = {q, velocities},
      .out = {v, residual},
      .per_body = true,
      .condition = Condition::solves,
  };
  FS_HD static void run(const auto& m, auto q, auto velocities, auto v, auto residual) {
    joint_velocities(m, q, velocities, v, residual);
  }
};

struct OpForcesOfJoints {
  static constexpr OpInfo info{
      .name = "forces_of_joints",
      .summary = "forces on each body and tau from wrenches that joints exert, world axes about the body's origin",
      .equation = "F_i = W_i - sum over children W_j,  tau = S^T W",
      .source = "Liu and Jain (68), (69)",
      .in = {q, wrench},
      .out = {forces, tau},
      .per_body = true,
  };
  FS_HD static void run(const auto& m, auto q, auto wrench, auto forces, auto tau) {
    forces_of_joints(m, q, wrench, forces, tau);
  }
};

struct OpJointWrenchesOf {
  static constexpr OpInfo info{
      .name = "joint_wrenches_of",
      .summary = "the shortest wrench of each joint that has tau; the inverse of forces_of_joints",
      .equation = "W = S (S^T S)^-1 tau",
      .source = "Liu and Jain (71)",
      .in = {q, tau},
      .out = {wrench},
      .condition = Condition::solves,
  };
  FS_HD static void run(const auto& m, auto q, auto tau, auto wrench) { joint_wrenches_of(m, q, tau, wrench); }
};

struct OpOperationalInertiaColumn {
  static constexpr OpInfo info{
      .name = "operational_inertia_column",
      .summary =
          "J_f M^-1 J^T for every named frame f (6 x 6 each) and one frame; its calls give that of any set of frames",
      .equation = "Phi_f = J_f M^-1 J^T",
      .source = "RBDA (7.4), section 7.1",
      .in = {q},
      .out =
          {{"Phi", {nf, 6, 6}, "1/(kg m^2), 1/kg", "J_f M^-1 J^T of every named frame f, world axes, angular first"}},
      .uses_frame = true,
      .condition = Condition::solves,
  };
  FS_HD static void run(const auto& m, int frame, auto q, auto Phi) { operational_inertia_column(m, q, frame, Phi); }
};

struct Maximal {
  static constexpr std::string_view title = "Between joints and bodies";
  using Rows =
      List<OpIdMassCentres, OpRneaMovingBase, OpMaximalVelocity, OpGeneralisedVelocity, OpGeneralisedVelocityInertia,
           OpGeneralisedForce, OpMaximalForce, OpMaximalForceInertia, OpForceAtMassCentres, OpJointVelocities,
           OpForcesOfJoints, OpJointWrenchesOf, OpOperationalInertiaColumn>;
};

}  // namespace featherstorm::table
