// Rows between joints and bodies: velocities and forces of all bodies (Liu and Jain sections 6 and 7), a moving base
// (Lynch and Park section 9.4), the operational-space inertia of several frames.
#pragma once
#include "core/dynamics/id_mass_centres.h"
#include "core/dynamics/moving_base.h"
#include "core/dynamics/operational_inertia.h"
#include "core/kinematics/joint_conversions.h"
#include "core/kinematics/maximal.h"
#include "host/table/ops/book_row.h"

namespace featherstorm {

// of each body, world axes: angular velocity and that of the mass centre; moment about the mass centre and force
inline constexpr OpArray op_V{"velocities", {nb, 6}}, op_F{"forces", {nb, 6}},
    op_residual{"residual", {nb, 6}};

struct OpIdMassCentres : BookRow {
  static constexpr OpInfo<4, 0, 1> info{"id_mass_centres",
                                        "inverse dynamics in 3-vectors at the mass centres; the map of rnea_forces",
                                        {{op_q, op_v, op_a, op_f_ext}},
                                        {},
                                        {{op_tau}},
                                        false,
                                        true};
  FEATHERSTORM_RUN { id_mass_centres(m, in[0], in[1], in[2], in[3], out[0]); }
};
struct OpRneaMovingBase : BookRow {
  static constexpr OpInfo<6, 0, 2> info{
      "rnea_moving_base",
      "inverse dynamics on a base that moves: its velocity, rates of those components, gravity, and the force it "
      "bears, "
      "all in base axes, angular first",
      {{op_q, op_v, op_a, {"v_base", {6}}, {"a_base", {6}}, {"gravity_base", {3}}}},
      {},
      {{op_tau, {"f_base", {6}}}},
      false,
      true};
  FEATHERSTORM_RUN { rnea_moving_base(m, in[3], in[4], in[5], in[0], in[1], in[2], out[0], out[1]); }
};
struct OpMaximalVelocity : BookRow {
  static constexpr OpInfo<2, 0, 1> info{
      "maximal_velocity",
      "angular velocity of each body and velocity of its mass centre, world axes, 6 nb",
      {{op_q, op_v}},
      {},
      {{op_V}},
      false,
      true};
  FEATHERSTORM_RUN { maximal_velocity(m, in[0], in[1], out[0]); }
};
struct OpGeneralisedVelocity : BookRow {
  static constexpr OpInfo<2, 0, 2> info{
      "generalised_velocity",
      "v that comes nearest to velocities as of maximal_velocity, by sums of squares, and these less those of v",
      {{op_q, op_V}},
      {},
      {{op_v, op_residual}},
      false,
      true};
  FEATHERSTORM_RUN { generalised_velocity(m, in[0], in[1], out[0], out[1]); }
};
struct OpGeneralisedVelocityInertia : BookRow {
  static constexpr OpInfo<2, 0, 2> info{
      "generalised_velocity_inertia",
      "generalised_velocity in the metric of the bodies' inertia: the v with the generalised momentum of all bodies",
      {{op_q, op_V}},
      {},
      {{op_v, op_residual}},
      false,
      true};
  FEATHERSTORM_RUN { generalised_velocity<Metric::Inertia>(m, in[0], in[1], out[0], out[1]); }
};
struct OpGeneralisedForce : BookRow {
  static constexpr OpInfo<2, 0, 1> info{"generalised_force",
                                        "tau = J^T F of a moment about each body's mass centre and a force, world axes",
                                        {{op_q, op_F}},
                                        {},
                                        {{op_tau}},
                                        false,
                                        true};
  FEATHERSTORM_RUN { generalised_force(m, in[0], in[1], out[0]); }
};
struct OpMaximalForce : BookRow {
  static constexpr OpInfo<2, 0, 1> info{"maximal_force",
                                        "the shortest forces whose generalised_force is tau, by sums of squares",
                                        {{op_q, op_tau}},
                                        {},
                                        {{op_F}},
                                        false,
                                        true};
  FEATHERSTORM_RUN { maximal_force(m, in[0], in[1], out[0]); }
};
struct OpMaximalForceInertia : BookRow {
  static constexpr OpInfo<2, 0, 1> info{
      "maximal_force_inertia",
      "forces whose generalised_force is tau, in the metric of the inertia: M_bodies J M^-1 tau, rotors apart",
      {{op_q, op_tau}},
      {},
      {{op_F}},
      false,
      true};
  FEATHERSTORM_RUN { maximal_force<Metric::Inertia>(m, in[0], in[1], out[0]); }
};
struct OpForceAtMassCentres : BookRow {
  static constexpr OpInfo<3, 0, 1> info{
      "force_at_mass_centres",
      "forces as generalised_force takes them from a couple and a force at a point of each body (3 nb, world)",
      {{op_q, {"points", {nb, 3}}, {"forces_at_points", {nb, 6}}}},
      {},
      {{op_F}},
      false,
      true};
  FEATHERSTORM_RUN { force_at_mass_centres(m, in[0], in[1], in[2], out[0]); }
};
struct OpJointVelocities : BookRow {
  static constexpr OpInfo<2, 0, 2> info{
      "joint_velocities",
      "v from the velocities of neighbouring bodies, joint by joint, and what the joints do not admit",
      {{op_q, op_V}},
      {},
      {{op_v, op_residual}},
      false,
      true};
  FEATHERSTORM_RUN { joint_velocities(m, in[0], in[1], out[0], out[1]); }
};
struct OpForcesOfJoints : BookRow {
  static constexpr OpInfo<2, 0, 2> info{
      "forces_of_joints",
      "forces on each body and tau from wrenches that joints exert, world axes about the body's origin",
      {{op_q, {"wrench", {nb, 6}}}},
      {},
      {{op_F, op_tau}},
      false,
      true};
  FEATHERSTORM_RUN { forces_of_joints(m, in[0], in[1], out[0], out[1]); }
};
struct OpJointWrenchesOf : BookRow {
  static constexpr OpInfo<2, 0, 1> info{
      "joint_wrenches_of",
      "the shortest wrench of each joint that has tau; the inverse of forces_of_joints",
      {{op_q, op_tau}},
      {},
      {{{"wrench", {nb, 6}}}}};
  FEATHERSTORM_RUN { joint_wrenches_of(m, in[0], in[1], out[0]); }
};
struct OpOperationalInertiaColumn : BookRow {
  static constexpr OpInfo<1, 0, 1> info{
      "operational_inertia_column",
      "J_f M^-1 J^T for every named frame f (6 x 6 each) and one frame; its calls give that of any set of frames",
      {{op_q}},
      {},
      {{{"Phi", {nf, 6, 6}}}},
      true};
  FEATHERSTORM_RUN { operational_inertia_column(m, in[0], frame, out[0]); }
};

using MaximalOps = std::tuple<OpIdMassCentres, OpRneaMovingBase, OpMaximalVelocity, OpGeneralisedVelocity,
                              OpGeneralisedVelocityInertia, OpGeneralisedForce, OpMaximalForce, OpMaximalForceInertia,
                              OpForceAtMassCentres, OpJointVelocities, OpForcesOfJoints, OpJointWrenchesOf,
                              OpOperationalInertiaColumn>;

}  // namespace featherstorm
