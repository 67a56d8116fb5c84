// Further derivatives: of forward and hybrid dynamics, along directions, with respect to parameters, and rates along a
// motion (Garofalo et al.; Kim section 4). No operation returns a tensor of nv^3 numbers. An operation returns its
// product with one direction; a unit vector gives a slice (state_tensors.h assembles slices).
#pragma once
#include "core/derivatives/fd_parameter_derivatives.h"
#include "core/derivatives/fd_second_derivatives.h"
#include "core/hybrid/hybrid_derivatives.h"
#include "core/rates/elastic_joints.h"
#include "core/rates/higher_rates.h"
#include "core/rates/state_tensors.h"
#include "host/table/ops/quantities.h"
#include "host/table/row/form.h"

namespace featherstorm::table {

struct OpFdSecondDerivatives {
  static constexpr OpInfo info{
      .name = "fd_second_derivatives",
      .summary =
          "derivatives of da/dq, da/dv, da/dtau of fd_derivatives along a direction of (q, v, tau), nv x nv by rows",
      .equation = "(da_dx)' = -M^-1 ((dtau_dx)' + M' da_dx)",
      .source = "Garofalo et al. (24)",
      .in = {q, v, tau, f_ext, q_direction, v_direction, {"tau_direction", {nv}, "N m | N", "direction in tau"}},
      .out = {by_q, by_v, {"by_tau", {nv, nv}, "", "derivative, along the direction, of M^-1"}},
      .cost = Cost::cubic,
      .condition = Condition::solves_twice,
      .cuda = false,  // 23 s of nvcc for one precision
  };
  template <class In, class Out>
  FS_HD static void run(const auto& m, In q, In v, In tau, In f_ext, In q_direction, In v_direction, In tau_direction,
                        Out by_q, Out by_v, Out by_tau) {
    fd_second_derivatives(m, q, v, tau, f_ext, q_direction, v_direction, tau_direction, by_q, by_v, by_tau);
  }
};

struct OpFdParameterDerivatives {
  static constexpr OpInfo info{
      .name = "fd_parameter_derivatives",
      .summary =
          "forward dynamics and its derivatives by the inertial parameters of all bodies (order of regressor), nv x 10 "
          "nb",
      .equation = "da_dpi = -M^-1 Y(q, v, a)",
      .source = "Garofalo et al. (13), (16)",
      .in = {q, v, tau, f_ext},
      .out = {a, {"da_dpi", {nv, 10 * nb}, "", "d a by the parameters of all bodies, order of regressor"}},
      .per_body = true,
      .cost = Cost::cubic,
      .condition = Condition::solves,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto tau, auto f_ext, auto a, auto da_dpi) {
    fd_parameter_derivatives(m, q, v, tau, f_ext, a, da_dpi);
  }
};

struct OpHybridDerivatives {
  static constexpr OpInfo info{
      .name = "hybrid_derivatives",
      .summary =
          "hybrid_dynamics and derivatives of its results y (tau where a is prescribed, else a) by q, v and what is "
          "given, nv x nv by rows",
      .equation = "H11 da1 = dtau1 - dID1 - H12 da2,  dtau2 = dID2 + H21 da1 + H22 da2",
      .source = "Kim section 4; Carpentier and Mansard 2018",
      .in = {q, v, a, tau, f_ext},
      .uniform = {prescribed},
      .out = {a,
              tau,
              {"y_q", {nv, nv}, "", "derivative of the results by q"},
              {"y_v", {nv, nv}, "", "derivative of the results by v"},
              {"y_x", {nv, nv}, "", "derivative of the results by what is given"}},
      .cost = Cost::cubic,
      .condition = Condition::solves,
  };
  template <class In, class U, class Out>
  FS_HD static void run(const auto& m, In q, In v, In a, In tau, In f_ext, U prescribed, Out a_out, Out tau_out,
                        Out y_q, Out y_v, Out y_x) {
    hybrid_derivatives_select(m, prescribed, q, v, a, tau, f_ext, a_out, tau_out, y_q, y_v, y_x);
  }
};

struct OpInverseInertiaRate {
  static constexpr OpInfo info{
      .name = "inverse_inertia_rate",
      .summary = "M^-1 and its derivative along a direction of q, nv x nv; unit vectors give the slices of dM^-1/dq",
      .equation = "(M^-1)' = -M^-1 M' M^-1",
      .source = "Garofalo et al. (24a)",
      .in = {q, q_direction},
      .out = {{"M_inverse", {nv, nv}, "1/(kg m^2)", "M^-1"},
              {"M_inverse_rate", {nv, nv}, "", "derivative of M^-1 along the direction"}},
      .cost = Cost::cubic,
      .condition = Condition::solves_twice,
  };
  FS_HD static void run(const auto& m, auto q, auto q_direction, auto M_inverse, auto M_inverse_rate) {
    inverse_inertia_rate(m, q, q_direction, M_inverse, M_inverse_rate);
  }
};

struct OpCoriolisMatrixRateBodyFixed {
  static constexpr OpInfo info{
      .name = "coriolis_matrix_rate_body_fixed",
      .summary = "derivative of coriolis_matrix_body_fixed along a direction of (q, v)",
      .equation = "d/de C(q (+) e u, v + e w)",
      .source = "Garofalo et al. (25b)",
      .in = {q, v, q_direction, v_direction},
      .out = {C_rate},
      .per_body = true,
      .cost = Cost::quadratic,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto q_direction, auto v_direction, auto C_rate) {
    coriolis_matrix_rate<Coriolis::BodyFixed>(m, q, v, q_direction, v_direction, C_rate);
  }
};

struct OpCoriolisMatrixRateMassCentre {
  static constexpr OpInfo info{
      .name = "coriolis_matrix_rate_mass_centre",
      .summary = "derivative of coriolis_matrix_mass_centre along a direction of (q, v)",
      .equation = "d/de C(q (+) e u, v + e w)",
      .source = "Liu and Jain (46)",
      .in = {q, v, q_direction, v_direction},
      .out = {C_rate},
      .per_body = true,
      .cost = Cost::quadratic,
      .condition = Condition::cancels,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto q_direction, auto v_direction, auto C_rate) {
    coriolis_matrix_rate<Coriolis::MassCentre>(m, q, v, q_direction, v_direction, C_rate);
  }
};

struct OpCrbaSecondRate {
  static constexpr OpInfo info{
      .name = "crba_second_rate",
      .summary = "d^2M/dt^2 along a motion, packed",
      .equation = "d^2M/dt^2",
      .source = "Garofalo et al. section V",
      .in = {q, v, a},
      .out = {{"M_second_rate", {nh}, "kg m^2/s^2", "d^2M/dt^2, packed"}},
      .cost = Cost::quadratic,
      .condition = Condition::cancels,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto a, auto M_second_rate) {
    crba_second_rate(m, q, v, a, M_second_rate);
  }
};

struct OpGravityTorquesSecondRate {
  static constexpr OpInfo info{
      .name = "gravity_torques_second_rate",
      .summary = "second rate of the gravity torques along a motion",
      .equation = "d^2g/dt^2",
      .source = "Garofalo et al. section V",
      .in = {q, v, a},
      .out = {tau_second_rate},
      .condition = Condition::cancels,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto a, auto tau_second_rate) {
    gravity_torques_second_rate(m, q, v, a, tau_second_rate);
  }
};

struct OpCoriolisMatrixSecondRate {
  static constexpr OpInfo info{
      .name = "coriolis_matrix_second_rate",
      .summary = "second rate of coriolis_matrix along a motion, nv x nv; jerk is da/dt",
      .equation = "d^2C/dt^2",
      .source = "Garofalo et al. section V",
      .in = {q, v, a, jerk},
      .out = {{"C_second_rate", {nv, nv}, "kg m^2/s^3", "d^2C/dt^2"}},
      .cost = Cost::quadratic,
      .condition = Condition::cancels,
      .cuda = false,  // 13 s of nvcc for one precision
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto a, auto jerk, auto C_second_rate) {
    coriolis_matrix_second_rate(m, q, v, a, jerk, C_second_rate);
  }
};

struct OpRneaRate {
  static constexpr OpInfo info{
      .name = "rnea_rate",
      .summary = "inverse dynamics and its rate along a motion; jerk is da/dt",
      .equation = "d tau/dt = M jerk + (dM/dt + C) a + dC/dt v + dg/dt",
      .source = "Garofalo et al. section V",
      .in = {q, v, a, jerk},
      .out = {tau, tau_rate},
      .condition = Condition::cancels,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto a, auto jerk, auto tau, auto tau_rate) {
    rnea_rate(m, q, v, a, jerk, tau, tau_rate);
  }
};

struct OpRneaSecondRate {
  static constexpr OpInfo info{
      .name = "rnea_second_rate",
      .summary = "inverse dynamics with two rates along a motion; snap is d^2a/dt^2",
      .equation = "tau, d tau/dt, d^2 tau/dt^2",
      .source = "Garofalo et al. section V",
      .in = {q, v, a, jerk, snap},
      .out = {tau, tau_rate, tau_second_rate},
      .condition = Condition::cancels,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto a, auto jerk, auto snap, auto tau, auto tau_rate,
                        auto tau_second_rate) {
    rnea_second_rate(m, q, v, a, jerk, snap, tau, tau_rate, tau_second_rate);
  }
};

struct OpElasticFeedforward {
  static constexpr OpInfo info{
      .name = "elastic_feedforward",
      .summary = "elastic joints: deflection, velocity and torque of motors that give the links a motion",
      .equation = "tau = K (theta - q),  B theta'' + tau = motor_tau",
      .source = "Garofalo et al. section I",
      .in = {q, v, a, jerk, snap},
      .uniform = {{"stiffness", {nv}, "N m/rad", "of the springs between motors and links", Sample::positive},
                  {"motor_inertia",
                   {nv},
                   "kg m^2",
                   "of the rotors before the springs, seen at the joint; not 0",
                   Sample::positive}},
      .out = {{"deflection", {nv}, "rad", "motor position less link position"},
              {"motor_velocity", {nv}, "rad/s", "of the motors, seen at the joint"},
              {"motor_tau", {nv}, "N m", "of the motors, seen at the joint"}},
      .condition = Condition::cancels,
  };
  template <class In, class U, class Out>
  FS_HD static void run(const auto& m, In q, In v, In a, In jerk, In snap, U stiffness, U motor_inertia, Out deflection,
                        Out motor_velocity, Out motor_tau) {
    elastic_feedforward(m, q, v, a, jerk, snap, stiffness, motor_inertia, deflection, motor_velocity, motor_tau);
  }
};

struct HigherDerivatives {
  static constexpr std::string_view title = "Further derivatives and rates";
  using Rows =
      List<OpFdSecondDerivatives, OpFdParameterDerivatives, OpHybridDerivatives, OpInverseInertiaRate,
           OpCoriolisMatrixRateBodyFixed, OpCoriolisMatrixRateMassCentre, OpCrbaSecondRate, OpGravityTorquesSecondRate,
           OpCoriolisMatrixSecondRate, OpRneaRate, OpRneaSecondRate, OpElasticFeedforward>;
};

}  // namespace featherstorm::table
