// Contacts, for robots with contacts in the model (core/model/contacts.h). RBDA chapter 11.
//
// Arrays of contacts are ordered by contact; arrays of 3 nc have the normal and two tangents of each. `sweeps` and
// `relax` are properties of the robot's contacts, because the loops of an operation are traced.
#pragma once
#include "core/contact/contact_impulse.h"
#include "core/contact/contact_step.h"
#include "core/contact/soft_surface.h"
#include "host/table/ops/quantities.h"
#include "host/table/row/form.h"

namespace featherstorm::table {

// The surface of contact k, made from the uniforms of soft contacts.
template <class U>
struct SoftSurfaces {
  U K_n, D_n, K_t, D_t, rolling;
  FS_HD SoftSurface<ScalarOf<U>> operator[](int k) const { return {K_n[k], D_n[k], K_t[k], D_t[k], rolling[k]}; }
};
template <class U>
SoftSurfaces(U, U, U, U, U) -> SoftSurfaces<U>;

struct OpContactJacobian {
  static constexpr OpInfo info{
      .name = "contact_jacobian",
      .summary =
          "gaps, margins inside the edges of their surfaces, and G v, the velocity at contacts: normal, two tangents",
      .equation = "gap rates and slips = G v",
      .source = "RBDA (11.25)-(11.31)",
      .in = {q},
      .out = {gap, margin, {"G", {3 * nc, nv}, "1 | m", "Jacobian of the contacts: normal, two tangents of each"}},
      .needs = Needs::contacts,
  };
  FS_HD static void run(const auto& m, auto q, auto gap, auto margin, auto G) {
    contact_rows(m, m.contacts, q, 3, gap, margin, G);
  }
};

struct OpContactFrames {
  static constexpr OpInfo info{
      .name = "contact_frames",
      .summary = "of each contact the point, normal and two tangents in the world",
      .equation = "normal from the surface to the sphere",
      .source = "RBDA (11.25)-(11.31)",
      .in = {q},
      .out = {{"contact_frame", {nc, 12}, "m, 1", "point, normal, two tangents of each contact, world axes"}},
      .needs = Needs::contacts,
  };
  FS_HD static void run(const auto& m, auto q, auto contact_frame) { contact_frames(m, m.contacts, q, contact_frame); }
};

struct OpContactRates {
  static constexpr OpInfo info{
      .name = "contact_rates",
      .summary = "rates of gaps, and what of their second rates does not depend on accelerations",
      .equation = "d^2 gap/dt^2 = G_n a + gap_bias",
      .source = "RBDA (11.37)-(11.40)",
      .in = {q, v},
      .out = {gap_rate, {"gap_bias", {nc}, "m/s^2", "second rates of the gaps at a = 0"}},
      .needs = Needs::contacts,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto gap_rate, auto gap_bias) {
    contact_rates(m, m.contacts, q, v, gap_rate, gap_bias);
  }
};

struct OpContactInertia {
  static constexpr OpInfo info{
      .name = "contact_inertia",
      .summary = "Delassus matrix G M^-1 G^T of normals and tangents, 3 nc x 3 nc",
      .equation = "A = G M^-1 G^T",
      .source = "RBDA (11.57)",
      .in = {q},
      .out = {{"A", {3 * nc, 3 * nc}, "1/kg", "Delassus matrix of normals and tangents"}},
      .needs = Needs::contacts,
      .cost = Cost::cubic,
      .condition = Condition::solves,
  };
  FS_HD static void run(const auto& m, auto q, auto A) {
    using T = ScalarOf<decltype(q)>;
    auto L = scratch<T>(m.nh);
    auto Z = scratch<T>(product(m.contacts.nr, m.nv));
    auto gap = scratch<T>(m.contacts.nc);
    auto margin = scratch<T>(m.contacts.nc);
    crba(m, q, L.data());
    ltdl(m, L.data());
    contact_rows(m, m.contacts, q, 3, gap.data(), margin.data(), Z.data());
    contact_inertia(m, m.contacts, L.data(), 3, Z.data(), A);
  }
};

struct OpContactSystem {
  static constexpr OpInfo info{
      .name = "contact_system",
      .summary = "normals alone: gaps, their rates, second rates A lambda + d under contact forces lambda",
      .equation = "d^2 gap/dt^2 = A lambda + d",
      .source = "RBDA (11.34)-(11.36)",
      .in = {q, v, tau, f_ext},
      .out = {gap,
              margin,
              gap_rate,
              {"A", {nc, nc}, "1/kg", "Delassus matrix of normals"},
              {"d", {nc}, "m/s^2", "second rates of the gaps without contact forces"}},
      .needs = Needs::contacts,
      .cost = Cost::cubic,
      .condition = Condition::solves,
  };
  template <class In, class Out>
  FS_HD static void run(const auto& m, In q, In v, In tau, In f_ext, Out gap, Out margin, Out gap_rate, Out A, Out d) {
    using T = ScalarOf<decltype(q)>;
    auto H = scratch<T>(m.nh);
    auto Z = scratch<T>(product(m.contacts.nc, m.nv));
    auto w = scratch<T>(m.nv);
    contact_system(m, m.contacts, q, v, tau, f_ext, gap, margin, gap_rate, A, d, H.data(), Z.data(), w.data());
  }
};

struct OpFdContacts {
  static constexpr OpInfo info{
      .name = "fd_contacts",
      .summary =
          "forward dynamics with frictionless contacts; touching: 1 for contacts to be solved for; force: a first "
          "guess",
      .equation = "M a = tau - C + G_n^T force,  gaps' second rates >= 0, force >= 0, complementary",
      .source = "RBDA (11.34)-(11.36)",
      .in = {q,
             v,
             tau,
             f_ext,
             {"touching", {nc}, "", "1 for contacts to be solved for, else 0"},
             {"force", {nc}, "N", "normal forces"}},
      .out = {a, {"force", {nc}, "N", "normal forces"}},
      .needs = Needs::contacts,
      .cost = Cost::cubic,
      .condition = Condition::solves,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto tau, auto f_ext, auto touching, auto force, auto a,
                        auto force_out) {
    for (int k = 0; k < m.contacts.nc; k++) force_out[k] = force[k];
    fd_contacts(m, m.contacts, q, v, tau, f_ext, touching, m.contacts.sweeps, force_out, a);
  }
};

struct OpContactImpulse {
  static constexpr OpInfo info{
      .name = "contact_impulse",
      .summary =
          "impact at contacts with restitution and friction; active: 1 for closed contacts; impulse: a first guess",
      .equation = "M (v_next - v) = G^T impulse; restitution, Coulomb's law",
      .source = "RBDA (11.57)-(11.59), (11.64)",
      .in = {q, v, {"active", {nc}, "", "1 for closed contacts, else 0"}, impulse},
      .out = {v_next, impulse},
      .needs = Needs::contacts,
      .cost = Cost::cubic,
      .condition = Condition::solves,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto active, auto impulse, auto v_next, auto impulse_out) {
    for (int k = 0; k < m.contacts.nr; k++) impulse_out[k] = impulse[k];
    contact_impulse(m, m.contacts, q, v, active, m.contacts.sweeps, impulse_out, v_next);
  }
};

struct OpContactStep {
  static constexpr OpInfo info{
      .name = "contact_step",
      .summary = "semi-implicit Euler steps with contacts; impulse: those of the last step, 0 where there is none",
      .equation = "(M + dt D) (v_next - v) = dt (tau - C - D v) + G^T impulse",
      .source = "RBDA (11.57)-(11.64), (8.22)",
      .in = {q, v, impulse, tau, target},
      .uniform = step_uniforms +
                 OpArrays{{"erp", {1}, "", "share of the penetration that a step takes back", Sample::positive},
                          {"slop", {1}, "m", "penetration that is left", constant(1e-3)},
                          {"max_push", {1}, "m/s", "fastest way out of a penetration", Sample::positive},
                          {"rebound", {1}, "m/s", "approach below which nothing bounces", Sample::positive},
                          {"compliance",
                           {1},
                           "1/kg",
                           "added to the diagonal of the Delassus matrix along the normals",
                           constant(1e-2)}},
      .out = {q_next, v_next, {"impulse_next", {nc, 3}, "N s", "impulse of the step"}},
      .carried = true,
      .needs = Needs::contacts,
      .cost = Cost::cubic,
      .condition = Condition::solves,
  };
  template <class In, class U, class T, class Out>
  FS_HD static void run(const auto& m, In q, In v, In impulse, In tau, In target, T dt, U kp, U kd, T limit_stiffness,
                        T limit_damping, T friction_velocity, T erp, T slop, T max_push, T rebound, T compliance,
                        Out q_next, Out v_next, Out impulse_next) {
    const Drive drive{tau, target, kp, kd};
    const ContactParameters<T> c{erp, slop, max_push, rebound, compliance};
    for (int k = 0; k < m.contacts.nr; k++) impulse_next[k] = impulse[k];
    contact_step(m, m.contacts, q, v, drive, none(q),
                 step_parameters(dt, limit_stiffness, limit_damping, friction_velocity), c, m.contacts.sweeps,
                 m.contacts.relax, impulse_next, q_next, v_next);
  }
};

struct OpSoftContactForces {
  static constexpr OpInfo info{
      .name = "soft_contact_forces",
      .summary =
          "f_ext with the forces of soft contacts; deformation of their surfaces, axes of the bodies that carry them",
      .equation = "f_n = -K_n z - D_n z',  f_t = -K_t x - D_t x', within the friction disc",
      .source = "RBDA (11.73)-(11.79)",
      .in = {q, v, deformation, f_ext},
      .uniform = soft_uniforms,
      .out = {f_ext,
              {"contact_force", {nc, 3}, "N", "force of each contact: normal, two tangents"},
              {"deformation_rate", {nc, 3}, "m/s", "its rate"}},
      .needs = Needs::contacts,
  };
  template <class In, class U, class Out>
  FS_HD static void run(const auto& m, In q, In v, In deformation, In f_ext, U K_n, U D_n, U K_t, U D_t, U rolling,
                        Out f_ext_out, Out contact_force, Out deformation_rate) {
    for (int k = 0; k < 6 * m.nb; k++) f_ext_out[k] = f_ext[k];
    const SoftSurfaces soft{K_n, D_n, K_t, D_t, rolling};
    soft_contact_forces(m, m.contacts, soft, q, v, deformation, f_ext_out, contact_force, deformation_rate);
  }
};

struct OpSoftContactStep {
  static constexpr OpInfo info{
      .name = "soft_contact_step",
      .summary = "semi-implicit Euler steps with soft contacts; deformation of their surfaces, 0 where relaxed",
      .equation = "step with soft_contact_forces",
      .source = "RBDA section 11.8",
      .in = {q, v, deformation, tau, target},
      .uniform = step_uniforms + soft_uniforms,
      .out = {q_next, v_next, {"deformation_next", {nc, 3}, "m", "deformation at the end"}},
      .carried = true,
      .needs = Needs::contacts,
      .cost = Cost::cubic,
      .condition = Condition::solves,
  };
  template <class In, class U, class T, class Out>
  FS_HD static void run(const auto& m, In q, In v, In deformation, In tau, In target, T dt, U kp, U kd,
                        T limit_stiffness, T limit_damping, T friction_velocity, U K_n, U D_n, U K_t, U D_t, U rolling,
                        Out q_next, Out v_next, Out deformation_next) {
    const Drive drive{tau, target, kp, kd};
    const SoftSurfaces soft{K_n, D_n, K_t, D_t, rolling};
    auto force = scratch<T>(m.contacts.nr);
    for (int k = 0; k < m.contacts.nr; k++) deformation_next[k] = deformation[k];
    soft_contact_step(m, m.contacts, soft, q, v, drive, none(q),
                      step_parameters(dt, limit_stiffness, limit_damping, friction_velocity), deformation_next,
                      force.data(), q_next, v_next);
  }
};

struct Contacts {
  static constexpr std::string_view title = "Contacts";
  using Rows = List<OpContactJacobian, OpContactFrames, OpContactRates, OpContactInertia, OpContactSystem, OpFdContacts,
                    OpContactImpulse, OpContactStep, OpSoftContactForces, OpSoftContactStep>;
};

}  // namespace featherstorm::table
