// Rows of the table of operations (ops.h): contacts, for robots that carry some (core/model/contacts.h). RBDA
// chapter 11.
//
// Arrays of contacts lie contact by contact; those of 3 nc have the normal and two tangents of each. `sweeps` and
// `relax` belong to the robot's contacts, as a row's loops are traced.
#pragma once
#include "core/contact/contact_impulse.h"
#include "core/contact/contact_step.h"
#include "core/contact/soft_surface.h"
#include "host/table/ops/book_row.h"
#include "host/table/ops/stepping.h"

namespace featherstorm {

inline constexpr OpArray op_gap{"gap", {nc}}, op_margin{"margin", {nc}},
    op_gap_rate{"gap_rate", {nc}}, op_force{"force", {nc}}, op_impulse{"impulse", {nc, 3}},
    op_deformation{"deformation", {nc, 3}};

struct OpContactJacobian : ContactRow {
  static constexpr OpInfo<1, 0, 3> info{
      "contact_jacobian",
      "gaps, margins inside the edges of their surfaces, and G v, the velocity at contacts: normal, two tangents",
      {{op_q}},
      {},
      {{op_gap, op_margin, {"G", {3 * nc, nv}}}}};
  FEATHERSTORM_RUN { contact_rows(m, m.contacts, in[0], 3, out[0], out[1], out[2]); }
};
struct OpContactFrames : ContactRow {
  static constexpr OpInfo<1, 0, 1> info{"contact_frames",
                                        "of each contact the point, normal and two tangents in the world",
                                        {{op_q}},
                                        {},
                                        {{{"contact_frame", {nc, 12}}}}};
  FEATHERSTORM_RUN { contact_frames(m, m.contacts, in[0], out[0]); }
};
struct OpContactRates : ContactRow {
  static constexpr OpInfo<2, 0, 2> info{
      "contact_rates",
      "rates of gaps, and what of their second rates does not depend on accelerations",
      {{op_q, op_v}},
      {},
      {{op_gap_rate, {"gap_bias", {nc}}}}};
  FEATHERSTORM_RUN { contact_rates(m, m.contacts, in[0], in[1], out[0], out[1]); }
};
struct OpContactInertia : ContactRow {
  static constexpr OpInfo<1, 0, 1> info{"contact_inertia",
                                        "Delassus matrix G M^-1 G^T of normals and tangents, 3 nc x 3 nc",
                                        {{op_q}},
                                        {},
                                        {{{"A", {3 * nc, 3 * nc}}}}};
  FEATHERSTORM_RUN {
    using T = ScalarOf<In>;
    auto L = scratch<T>(m.nh);
    auto Z = scratch<T>(product(m.contacts.nr, m.nv));
    auto gap = scratch<T>(m.contacts.nc);
    auto margin = scratch<T>(m.contacts.nc);
    crba(m, in[0], L.data());
    ltdl(m, L.data());
    contact_rows(m, m.contacts, in[0], 3, gap.data(), margin.data(), Z.data());
    contact_inertia(m, m.contacts, L.data(), 3, Z.data(), out[0]);
  }
};
struct OpContactSystem : ContactRow {
  static constexpr OpInfo<4, 0, 5> info{
      "contact_system",
      "normals alone: gaps, their rates, second rates A lambda + d under contact forces lambda",
      {{op_q, op_v, op_tau, op_f_ext}},
      {},
      {{op_gap, op_margin, op_gap_rate, {"A", {nc, nc}}, {"d", {nc}}}}};
  FEATHERSTORM_RUN {
    using T = ScalarOf<In>;
    auto H = scratch<T>(m.nh);
    auto Z = scratch<T>(product(m.contacts.nc, m.nv));
    auto w = scratch<T>(m.nv);
    contact_system(m, m.contacts, in[0], in[1], in[2], in[3], out[0], out[1], out[2], out[3], out[4], H.data(),
                   Z.data(), w.data());
  }
};
struct OpFdContacts : ContactRow {
  static constexpr OpInfo<6, 0, 2> info{
      "fd_contacts",
      "forward dynamics with frictionless contacts; touching: 1 for contacts to be solved for; force: a first guess",
      {{op_q, op_v, op_tau, op_f_ext, {"touching", {nc}}, op_force}},
      {},
      {{op_a, op_force}}};
  FEATHERSTORM_RUN {
    for (int k = 0; k < m.contacts.nc; k++) out[1][k] = in[5][k];
    fd_contacts(m, m.contacts, in[0], in[1], in[2], in[3], in[4], m.contacts.sweeps, out[1], out[0]);
  }
};
struct OpContactImpulse : ContactRow {
  static constexpr OpInfo<4, 0, 2> info{
      "contact_impulse",
      "impact at contacts with restitution and friction; active: 1 for closed contacts; impulse: a first guess",
      {{op_q, op_v, {"active", {nc}}, op_impulse}},
      {},
      {{op_v_next, op_impulse}}};
  FEATHERSTORM_RUN {
    for (int k = 0; k < m.contacts.nr; k++) out[1][k] = in[3][k];
    contact_impulse(m, m.contacts, in[0], in[1], in[2], m.contacts.sweeps, out[1], out[0]);
  }
};
struct OpContactStep : ContactRow {
  static constexpr OpInfo<5, 11, 3> info{
      "contact_step",
      "semi-implicit Euler steps with contacts; impulse: those of the last step, 0 where there is none",
      {{op_q, op_v, op_impulse, op_tau, op_target}},
      step_uniforms_and(std::to_array<OpArray>({{"erp", {1}},
                                                {"slop", {1}},
                                                {"max_push", {1}},
                                                {"rebound", {1}},
                                                {"compliance", {1}}})),
      {{op_q_next, op_v_next, {"impulse_next", {nc, 3}}}},
      false,
      false,
      true};
  FEATHERSTORM_RUN {
    using T = ScalarOf<In>;
    const Drive drive{in[3], in[4], u[1], u[2]};
    const ContactParameters<T> c{u[6][0], u[7][0], u[8][0], u[9][0], u[10][0]};
    for (int k = 0; k < m.contacts.nr; k++) out[2][k] = in[2][k];
    contact_step(m, m.contacts, in[0], in[1], drive, FEATHERSTORM_NONE, step_parameters<T>(u), c, m.contacts.sweeps,
                 m.contacts.relax, out[2], out[0], out[1]);
  }
};

inline constexpr std::array<OpArray, 5> soft_uniforms{{{"K_n", {nc}},
                                                       {"D_n", {nc}},
                                                       {"K_t", {nc}},
                                                       {"D_t", {nc}},
                                                       {"rolling", {nc}}}};
// The surfaces of soft contacts from these.
template <class T, class U>
struct SoftUniforms {
  const U* u;
  FS_HD SoftSurface<T> operator[](int k) const { return {u[0][k], u[1][k], u[2][k], u[3][k], u[4][k]}; }
};

struct OpSoftContactForces : ContactRow {
  static constexpr OpInfo<4, 5, 3> info{
      "soft_contact_forces",
      "f_ext with the forces of soft contacts; deformation of their surfaces, axes of the bodies that carry them",
      {{op_q, op_v, op_deformation, op_f_ext}},
      soft_uniforms,
      {{op_f_ext, {"contact_force", {nc, 3}}, {"deformation_rate", {nc, 3}}}}};
  FEATHERSTORM_RUN {
    for (int k = 0; k < 6 * m.nb; k++) out[0][k] = in[3][k];
    const SoftUniforms<ScalarOf<In>, U> soft{u};
    soft_contact_forces(m, m.contacts, soft, in[0], in[1], in[2], out[0], out[1], out[2]);
  }
};
struct OpSoftContactStep : ContactRow {
  static constexpr OpInfo<5, 11, 3> info{
      "soft_contact_step",
      "semi-implicit Euler steps with soft contacts; deformation of their surfaces, 0 where relaxed",
      {{op_q, op_v, op_deformation, op_tau, op_target}},
      step_uniforms_and(soft_uniforms),
      {{op_q_next, op_v_next, {"deformation_next", {nc, 3}}}},
      false,
      false,
      true};
  FEATHERSTORM_RUN {
    using T = ScalarOf<In>;
    const Drive drive{in[3], in[4], u[1], u[2]};
    const SoftUniforms<T, U> soft{u + 6};
    auto force = scratch<T>(m.contacts.nr);
    for (int k = 0; k < m.contacts.nr; k++) out[2][k] = in[2][k];
    soft_contact_step(m, m.contacts, soft, in[0], in[1], drive, FEATHERSTORM_NONE, step_parameters<T>(u), out[2],
                      force.data(), out[0], out[1]);
  }
};

using ContactOps = std::tuple<OpContactJacobian, OpContactFrames, OpContactRates, OpContactInertia, OpContactSystem,
                              OpFdContacts, OpContactImpulse, OpContactStep, OpSoftContactForces, OpSoftContactStep>;

}  // namespace featherstorm
