// Which rows of the table of operations solve equations, so that rounding is multiplied by a condition number.
#pragma once
#include <set>
#include <string_view>

namespace featherstorm::testing {

// Solutions with the inertia matrix or the like.
inline bool solves(std::string_view op) {
  static const std::set<std::string_view> rows = {
      "aba",         "aba_forces",     "fd",               "solve",             "step",
      "ltdl",        "ltl",            "difference",       "fd_derivatives",    "fd_linearization",
      "floating_id", "rk4_step",       "hybrid_dynamics",  "operational_space", "operational_inertia",
      "solve_ltl",   "solve_l",        "solve_lt",         "floating_jacobian",
      "fd_loops",    "hybrid_loops",   "independent_map",  "id_loops",          "id_loops_least_constraint",
      "loop_step",   "fd_coupled",     "coupled_step",     "contact_inertia",   "contact_system",
      "fd_contacts", "contact_impulse", "contact_step",    "soft_contact_step",
      "fd_second_derivatives", "fd_parameter_derivatives", "hybrid_derivatives", "inverse_inertia_rate",
      "generalised_velocity", "generalised_velocity_inertia", "maximal_force", "maximal_force_inertia",
      "joint_velocities", "joint_wrenches_of", "operational_inertia_column", "dormand_prince", "fd_timed",
      "fd_timed_derivatives", "rk4_step_timed"};
  return rows.count(op);
}
// By normal equations, near dead centres too: the square of the condition number.
inline bool solves_squares(std::string_view op) {
  return op == "independent_map" || op == "id_loops" || op == "id_loops_least_constraint";
}
// M^-1 twice, or the difference of two results that agree.
inline bool solves_twice(std::string_view op) {
  return op == "fd_second_derivatives" || op == "inverse_inertia_rate" || op == "dormand_prince";
}
// Sums of larger terms that cancel at the base.
inline bool cancels(std::string_view op) {
  static const std::set<std::string_view> rows = {
      "coriolis_matrix_rate_mass_centre", "crba_second_rate", "gravity_torques_second_rate", "coriolis_matrix_second_rate",
      "rnea_rate", "rnea_second_rate", "elastic_feedforward", "rnea_timed_derivatives"};
  return rows.count(op);
}

}  // namespace featherstorm::testing
