// Derivatives of a step of a model file's world as programs of one robot, beside those of the step (host/trace/world_programs.h).
//
// The acceleration a of a step solves
//
//   g(a, x) = ID(q, v, a) - tau(q, v, act, u) - J^T f(J a - aref) = 0
//
// with f the forces of rows, whose slope -W is that of Newton's last matrix H = M + J^T W J. So
//
//   reverse   H lambda = a_bar,                 x_bar = -(dg/dx)^T lambda
//   forward   H a_tan  = -(dg/dx) x_tan
//
// with a held: g is one traced text, its products are those of any program (core/program/differentiate.h), and no derivative goes
// through Newton's method, factors or M. Where the integrator takes slopes of forces along, (M + h D) a_h = M a is a second
// equation of that kind, with mu = (M + h D)^-T a_h_bar. Derivatives are those of the piece that each row is on.
//
//   residual      q, v, act, ctrl, qfrc_applied, xfrc_applied, qacc, qacc_next -> g, g_h (M a - (M + h D) a_h), act_dot,
//                 actuator_length, actuator_velocity
//   integration   q, v, act, act_dot, actuator_length, actuator_velocity, qacc_next -> q_next, v_next, act_next
//
// What comes out, with rows of all candidates of contacts:
//
//   vjp   q, v, act, ctrl, qfrc_applied, xfrc_applied, qacc, parameters, q_next_bar, v_next_bar, act_next_bar, qacc_next_bar ->
//         q_bar, v_bar, act_bar, ctrl_bar, qfrc_applied_bar, xfrc_applied_bar, parameters_bar
//   jvp   the same arrays, tangents q_tan, ... of the first in place of cotangents -> q_next_tan, v_next_tan, act_next_tan, qacc_next_tan
//
// Of Runge-Kutta's method one program for each stage, from the last to the first of vjp: bars of q_i, v_i, act_i, u_i and of the sums
// go from one to the next, those of all else are summed up. The last of its stages takes cotangents q_left_bar, v_left_bar, act_left_bar
// of the state that it is at, too, which is where mj_step leaves what it computes; of other integrators that is the step's own.
//
// Where contacts are found only (Candidates::None), each is two programs. Of vjp, with host/solver/contact_gradients.h between them for
// what contacts contribute:
//
//   before   the way on, pulled back -> qacc_bar (of the solution), mu, qacc_damped (a_h), way_* (of the way's other inputs)
//   after    lambda, mu, way_*, and from the contacts pose_bar, lambda_motion_bar, qacc_motion_bar, twist_bar, touch_bar -> as of vjp
//
// Of jvp, with host/solver/contact_tangents.h between them:
//
//   before   tangents with a held -> g_tan, g_h_tan, qacc_damped, act_dot_tan, ..., placement_tan, twist_tan, axis_tan, touch_tan
//   after    those, and qacc_tan -> as of jvp
//
// MuJoCo has none of these: its mjd_transitionFD differs states.
#pragma once
#include "host/trace/trace_op.h"
#include "host/trace/world_programs.h"

namespace featherstorm {

// Of each one, or one for each stage of Runge-Kutta's method, in the order of these.
struct WorldGradients {
  Program residual, integration;
  std::vector<Program> steps;          // vjp or jvp
  std::vector<Program> before, after;  // where contacts are found
};

// step: of world_programs with these candidates. Throws Error for the integrator discrete and for rows weighed where the robot is
// (diagexact), whose weights follow M; std::length_error beyond `most` nodes each.
WorldGradients world_gradients(const Model<double>& model, const WorldPrograms& step, Derivative derivative,
                               Candidates candidates, int most, const Parameters& parameters = {});

}  // namespace featherstorm
