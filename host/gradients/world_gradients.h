// Derivatives of one step of a model file's world, as programs for one robot. The step itself is in
// host/trace/world_programs.h.
//
// The acceleration a of a step solves
//
//   g(a, x) = ID(q, v, a) - tau(q, v, act, u) - J^T f(J a - aref) = 0
//
// f are the forces of the constraint rows. Their slope -W is that of Newton's last matrix H = M + J^T W J. Therefore,
// with a held in dg/dx,
//
//   reverse   H lambda = a_bar,                 x_bar = -(dg/dx)^T lambda
//   forward   H a_tan  = -(dg/dx) x_tan
//
// g is one traced program, and its products are those of any program (core/program/differentiate.h). No derivative goes
// through Newton's method, the factors or M. If the integrator includes slopes of forces, (M + h D) a_h = M a is a
// second equation of this kind, with mu = (M + h D)^-T a_h_bar. Each row is differentiated on the piece that is active.
//
//   residual      q, v, act, ctrl, qfrc_applied, xfrc_applied, qacc, qacc_next
//                 -> g, g_h (M a - (M + h D) a_h), act_dot, actuator_length, actuator_velocity
//   integration   q, v, act, act_dot, actuator_length, actuator_velocity, qacc_next -> q_next, v_next, act_next
//
// Programs with the rows of all contact candidates:
//
//   vjp   q, v, act, ctrl, qfrc_applied, xfrc_applied, qacc, parameters,
//         q_next_bar, v_next_bar, act_next_bar, qacc_next_bar
//         -> q_bar, v_bar, act_bar, ctrl_bar, qfrc_applied_bar, xfrc_applied_bar, parameters_bar
//   jvp   the same arrays with tangents q_tan, ... of the inputs in place of the cotangents
//         -> q_next_tan, v_next_tan, act_next_tan, qacc_next_tan
//
// Runge-Kutta's method has one program for each stage; vjp runs them from the last to the first. Cotangents of q_i,
// v_i, act_i, u_i and of the sums go from one program to the next; all other cotangents are summed. The last stage also
// takes cotangents q_left_bar, v_left_bar, act_left_bar of the state at which it is evaluated. MuJoCo's mj_step leaves
// its computed quantities at that state; with other integrators it is the step's own state.
//
// With found contacts only (Candidates::None) each derivative has two programs. Between those of vjp,
// host/solver/contact_gradients.h computes the share of the contacts:
//
//   before   cotangents through the integrator -> qacc_bar (of the solution), mu, qacc_damped (a_h), way_* (of the
//            integrator's other inputs)
//   after    lambda, mu, way_*, and from the contacts pose_bar, lambda_motion_bar, qacc_motion_bar, twist_bar,
//            touch_bar -> outputs of vjp
//
// Between those of jvp runs host/solver/contact_tangents.h:
//
//   before   tangents with a held
//            -> g_tan, g_h_tan, qacc_damped, act_dot_tan, ..., placement_tan, twist_tan, axis_tan, touch_tan
//   after    those, and qacc_tan -> outputs of jvp
//
// MuJoCo has no such derivatives: its mjd_transitionFD uses finite differences of states.
#pragma once
#include "host/trace/trace_op.h"
#include "host/trace/world_programs.h"

namespace featherstorm {

// Programs of one derivative: one of each kind, or one for each stage of Runge-Kutta's method, in the order of the
// stages.
struct WorldGradients {
  Program residual, integration;
  std::vector<Program> steps;          // vjp or jvp
  std::vector<Program> before, after;  // with found contacts only
};

// Return why a step has no derivatives: the integrator discrete, diagexact, whose row weights depend on M, noslip, and,
// with found contacts, moving surfaces (geom surfacevel). "": it has.
std::string no_derivatives(const World<double>& world, bool all_candidates);

// Trace the programs of one derivative. step: from world_programs with the same candidates.
//
// The step has derivatives (no_derivatives). Throws std::length_error if a program has more than `most` nodes.
WorldGradients world_gradients(const Model<double>& model, const WorldPrograms& step, Derivative derivative,
                               Candidates candidates, int most, const Parameters& parameters = {});

}  // namespace featherstorm
