// The joint-space inertia matrix, its sparse factors, and products and solutions with them. RBDA chapter 6.
#pragma once
#include "core/dynamics/crba.h"
#include "core/linear/ltdl.h"
#include "host/table/ops/quantities.h"
#include "host/table/row/form.h"

namespace featherstorm::table {

struct OpCrba {
  static constexpr OpInfo info{
      .name = "crba",
      .summary = "joint-space inertia matrix, packed",
      .equation = "M_ij = S_i^T I^c_i X_ij S_j",
      .source = "RBDA Table 6.2, section 6.4",
      .in = {q},
      .out = {M},
      .cost = Cost::quadratic,
      .common = true,
      .inlined = true,
  };
  FS_HD static void run(const auto& m, auto q, auto M) { crba(m, q, M); }
};

struct OpLtdl {
  static constexpr OpInfo info{
      .name = "ltdl",
      .summary = "factorisation M = L^T D L of a packed matrix",
      .equation = "M = L^T D L",
      .source = "RBDA Table 6.3",
      .in = {M},
      .out = {L},
      .cost = Cost::cubic,
      .condition = Condition::solves,
      .common = true,
  };
  FS_HD static void run(const auto& m, auto M, auto L) {
    for (int k = 0; k < m.nh; k++) L[k] = M[k];
    ltdl(m, L);
  }
};

struct OpLtl {
  static constexpr OpInfo info{
      .name = "ltl",
      .summary = "factorisation M = L^T L of a packed matrix",
      .equation = "M = L^T L",
      .source = "RBDA Table 6.3",
      .in = {M},
      .out = {L},
      .cost = Cost::cubic,
      .condition = Condition::solves,
      .common = true,
  };
  FS_HD static void run(const auto& m, auto M, auto L) {
    for (int k = 0; k < m.nh; k++) L[k] = M[k];
    ltl(m, L);
  }
};

struct OpSolve {
  static constexpr OpInfo info{
      .name = "solve",
      .summary = "x = M^-1 b with the factor of ltdl",
      .equation = "x = M^-1 b",
      .source = "RBDA Table 6.5",
      .in = {L, b},
      .out = {x},
      .cost = Cost::quadratic,
      .condition = Condition::solves,
      .common = true,
  };
  FS_HD static void run(const auto& m, auto L, auto b, auto x) {
    for (int k = 0; k < m.nv; k++) x[k] = b[k];
    solve<Factor::LTDL>(m, L, x);
  }
};

struct OpMul {
  static constexpr OpInfo info{
      .name = "mul",
      .summary = "y = M x with the packed matrix",
      .equation = "y = M x",
      .source = "RBDA Table 6.5",
      .in = {M, x},
      .out = {y},
      .cost = Cost::quadratic,
      .common = true,
  };
  FS_HD static void run(const auto& m, auto M, auto x, auto y) { mul_h(m, M, x, y); }
};

struct OpSolveLtl {
  static constexpr OpInfo info{
      .name = "solve_ltl",
      .summary = "x = M^-1 b with the factor of ltl",
      .equation = "x = M^-1 b",
      .source = "RBDA Table 6.5",
      .in = {{"L_ltl", {nh}, "", "factor of the packed inertia matrix by ltl", Sample::ltl}, b},
      .out = {x},
      .cost = Cost::quadratic,
      .condition = Condition::solves,
  };
  FS_HD static void run(const auto& m, auto L_ltl, auto b, auto x) {
    for (int k = 0; k < m.nv; k++) x[k] = b[k];
    solve<Factor::LTL>(m, L_ltl, x);
  }
};

struct OpSolveL {
  static constexpr OpInfo info{
      .name = "solve_l",
      .summary = "x = L^-1 b with the factor of ltdl",
      .equation = "x = L^-1 b",
      .source = "RBDA Table 6.5",
      .in = {L, b},
      .out = {x},
      .cost = Cost::quadratic,
      .condition = Condition::solves,
  };
  FS_HD static void run(const auto& m, auto L, auto b, auto x) {
    for (int k = 0; k < m.nv; k++) x[k] = b[k];
    solve_l<Factor::LTDL>(m, L, x);
  }
};

struct OpSolveLt {
  static constexpr OpInfo info{
      .name = "solve_lt",
      .summary = "x = L^-T b with the factor of ltdl",
      .equation = "x = L^-T b",
      .source = "RBDA Table 6.5",
      .in = {L, b},
      .out = {x},
      .cost = Cost::quadratic,
      .condition = Condition::solves,
  };
  FS_HD static void run(const auto& m, auto L, auto b, auto x) {
    for (int k = 0; k < m.nv; k++) x[k] = b[k];
    solve_lt<Factor::LTDL>(m, L, x);
  }
};

struct OpMulL {
  static constexpr OpInfo info{
      .name = "mul_l",
      .summary = "y = L x with the factor of ltdl",
      .equation = "y = L x",
      .source = "RBDA Table 6.5",
      .in = {L, x},
      .out = {y},
      .cost = Cost::quadratic,
  };
  FS_HD static void run(const auto& m, auto L, auto x, auto y) {
    for (int k = 0; k < m.nv; k++) y[k] = x[k];
    mul_l<Factor::LTDL>(m, L, y);
  }
};

struct OpMulLt {
  static constexpr OpInfo info{
      .name = "mul_lt",
      .summary = "y = L^T x with the factor of ltdl",
      .equation = "y = L^T x",
      .source = "RBDA Table 6.5",
      .in = {L, x},
      .out = {y},
      .cost = Cost::quadratic,
  };
  FS_HD static void run(const auto& m, auto L, auto x, auto y) { mul_lt<Factor::LTDL>(m, L, x, y); }
};

struct Inertia {
  static constexpr std::string_view title = "Inertia matrix and its factors";
  using Rows = List<OpCrba, OpLtdl, OpLtl, OpSolve, OpMul, OpSolveLtl, OpSolveL, OpSolveLt, OpMulL, OpMulLt>;
};

}  // namespace featherstorm::table
