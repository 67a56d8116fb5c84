// Arrays that several operations have as inputs or outputs.
#pragma once
#include "core/step/step.h"
#include "host/table/row/operation.h"

namespace featherstorm::table {

inline constexpr OpArray q{"q", {nq}, "rad | m", "positions of the joints", Sample::position};
inline constexpr OpArray v{"v", {nv}, "rad/s | m/s", "velocities of the joints"};
inline constexpr OpArray a{"a", {nv}, "rad/s^2 | m/s^2", "accelerations of the joints"};
inline constexpr OpArray tau{"tau", {nv}, "N m | N", "forces at the joints", Sample::joint_force};
inline constexpr OpArray f_ext{"f_ext",
                               {nb, 6},
                               "N m, N",
                               "external forces on the bodies: moment about the body's origin and force, world axes",
                               Sample::body_force,
                               optional};
inline constexpr OpArray M{"M", {nh}, "kg m^2 | kg m | kg", "packed inertia matrix", Sample::inertia};
inline constexpr OpArray L{
    "L",
    {nh},
    "",
    "factor of the packed inertia matrix: 1/D (ltdl) or the diagonal (ltl) in the diagonal's place",
    Sample::ltdl};
inline constexpr OpArray b{"b", {nv}, "N m | N", "right-hand side", Sample::joint_force};
inline constexpr OpArray x{"x", {nv}, "", "vector of the velocity space"};
inline constexpr OpArray y{"y", {nv}, "", "vector of the velocity space"};
inline constexpr OpArray pose{
    "pose", {nf, 12}, "m, 1", "position and rotation, by rows, of every named frame in the world"};
inline constexpr OpArray acceleration{
    "acceleration", {6}, "rad/s^2, m/s^2", "angular acceleration and acceleration of the frame's origin, world axes"};
inline constexpr OpArray wrench{
    "wrench",
    {nb, 6},
    "N m, N",
    "wrench of each joint on its child link: moment about the link's origin, force; world axes"};
inline constexpr OpArray velocities{
    "velocities", {nb, 6}, "rad/s, m/s", "angular velocity of each body and velocity of its mass centre, world axes"};
inline constexpr OpArray forces{
    "forces", {nb, 6}, "N m, N", "moment about each body's mass centre and force, world axes"};
inline constexpr OpArray residual{"residual", {nb, 6}, "rad/s, m/s", "what the joints do not admit of the velocities"};
inline constexpr OpArray q_next{"q_next", {nq}, "rad | m", "positions at the end"};
inline constexpr OpArray v_next{"v_next", {nv}, "rad/s | m/s", "velocities at the end"};
inline constexpr OpArray target{"target", {nv}, "rad | m", "positions that the drives aim at"};
inline constexpr OpArray dt{"dt", {1}, "s", "time", constant(0.002)};
inline constexpr OpArray kp{"kp", {nv}, "N m/rad | N/m", "stiffness of the drives", Sample::joint_gain};
inline constexpr OpArray kd{"kd", {nv}, "N m s/rad | N s/m", "damping of the drives, implicit", Sample::joint_gain};
inline constexpr OpArray limit_stiffness{
    "limit_stiffness", {1}, "N m/rad | N/m", "stiffness of the stops", Sample::positive};
inline constexpr OpArray limit_damping{
    "limit_damping", {1}, "N m s/rad | N s/m", "damping of the stops", Sample::positive};
inline constexpr OpArray friction_velocity{"friction_velocity",
                                           {1},
                                           "rad/s | m/s",
                                           "velocity at which dry friction has 71 % of its force, not 0",
                                           constant(0.05)};
inline constexpr OpArray t{"t", {1}, "s", "time"};
inline constexpr OpArray q_direction{"q_direction", {nv}, "rad | m", "direction in q, on the tangent space"};
inline constexpr OpArray v_direction{"v_direction", {nv}, "rad/s | m/s", "direction in v"};
inline constexpr OpArray jerk{"jerk", {nv}, "rad/s^3 | m/s^3", "da/dt"};
inline constexpr OpArray snap{"snap", {nv}, "rad/s^4 | m/s^4", "d^2a/dt^2"};
inline constexpr OpArray C{"C", {nv, nv}, "kg m^2/s", "Coriolis matrix: C v is the bias force without gravity"};
inline constexpr OpArray C_rate{"C_rate", {nv, nv}, "", "derivative of the Coriolis matrix along the direction"};
inline constexpr OpArray tau_rate{"tau_rate", {nv}, "N m/s | N/s", "rate of the joint forces"};
inline constexpr OpArray tau_second_rate{"tau_second_rate", {nv}, "N m/s^2 | N/s^2", "second rate of the joint forces"};
inline constexpr OpArray Y{
    "Y", {nv, 10 * nb}, "", "regressor by the parameters m, m c, Ixx Iyy Izz Ixy Ixz Iyz of each body, its axes"};
inline constexpr OpArray v_r{"v_r", {nv}, "rad/s | m/s", "reference velocities"};
inline constexpr OpArray a_r{"a_r", {nv}, "rad/s^2 | m/s^2", "reference accelerations"};
inline constexpr OpArray Phi{
    "Phi", {6, 6}, "1/(kg m^2), 1/kg", "inverse operational-space inertia J M^-1 J^T, world axes, angular first"};
inline constexpr OpArray prescribed{"prescribed", {nv}, "", "1 for coordinates with given a, else 0", Sample::odd};
inline constexpr OpArray independent{
    "independent", {nv}, "", "1 for the coordinates chosen as independent, else 0", Sample::all_but_two};
inline constexpr OpArray actuated{"actuated", {nv}, "", "1 for coordinates with a motor, else 0", Sample::even};
inline constexpr OpArray rate{"rate", {1}, "1/s", "Baumgarte's 1 / T_stab; 0: no stabilisation", constant(10)};
inline constexpr OpArray tolerance{
    "tolerance", {1}, "", "of pivots beside the largest: below it a row depends on others", constant(1e-6)};
inline constexpr OpArray lambda{"lambda", {n_constraints}, "N m | N", "constraint forces"};
inline constexpr OpArray rank{"rank", {1}, "", "rank of the constraints"};
inline constexpr OpArray u{"u", {nu}, "rad/s | m/s", "velocities of the joints that are not coupled"};
inline constexpr OpArray u_rate{"u_rate", {nu}, "rad/s^2 | m/s^2", "du/dt"};
inline constexpr OpArray tau_u{"tau_u", {nu}, "N m | N", "forces at the independent joints"};
inline constexpr OpArray gap{"gap", {nc}, "m", "distance of each contact's surfaces, negative where they penetrate"};
inline constexpr OpArray margin{"margin", {nc}, "m", "distance inside the edge of the surface, negative beyond it"};
inline constexpr OpArray gap_rate{"gap_rate", {nc}, "m/s", "rates of the gaps"};
inline constexpr OpArray impulse{"impulse", {nc, 3}, "N s", "impulse of each contact: normal, two tangents"};
inline constexpr OpArray deformation{
    "deformation", {nc, 3}, "m", "deformation of each contact's surface: normal, two tangents"};
inline constexpr OpArray K_n{"K_n", {nc}, "N/m", "normal stiffness", Sample::positive};
inline constexpr OpArray D_n{"D_n", {nc}, "N s/m", "normal damping", Sample::positive};
inline constexpr OpArray K_t{"K_t", {nc}, "N/m", "tangential stiffness", Sample::positive};
inline constexpr OpArray D_t{"D_t", {nc}, "N s/m", "tangential damping", Sample::positive};
inline constexpr OpArray rolling{
    "rolling", {nc}, "s/m", "resistance to the motion of the contact point by normal force", Sample::positive};
inline constexpr OpArray dtau_dq{"dtau_dq", {nv, nv}, "N m/rad", "d tau / d q on the tangent space"};
inline constexpr OpArray dtau_dv{"dtau_dv", {nv, nv}, "N m s/rad", "d tau / d v"};
inline constexpr OpArray da_dtau{"da_dtau", {nv, nv}, "1/(kg m^2)", "d a / d tau = M^-1"};
inline constexpr OpArray da_dq{"da_dq", {nv, nv}, "1/s^2", "d a / d q on the tangent space"};
inline constexpr OpArray da_dv{"da_dv", {nv, nv}, "1/s", "d a / d v"};
inline constexpr OpArray by_v{"by_v", {nv, nv}, "", "derivative, along the direction, of that by v"};
inline constexpr OpArray by_q{"by_q", {nv, nv}, "", "derivative, along the direction, of that by q"};

// Uniforms of time steps, after q, v, tau and target.
inline constexpr OpArrays step_uniforms{dt, kp, kd, limit_stiffness, limit_damping, friction_velocity};
template <class T>
FS_HD StepParameters<T> step_parameters(T dt, T limit_stiffness, T limit_damping, T friction_velocity) {
  return {dt, limit_stiffness, limit_damping, friction_velocity};
}
// Uniforms of soft contacts, one number for each contact.
inline constexpr OpArrays soft_uniforms{K_n, D_n, K_t, D_t, rolling};

}  // namespace featherstorm::table
