// Propagation methods by assembling articulated bodies joint by joint. RBDA sections 7.1-7.5.
//
//   one handle     f = I^A a + p^A  or  a = Phi^A f + b^A
//   many handles   a = Phi f + b with 6h numbers each; a joint between two of them consumes both:
//     f_3 = T_a tau + T lambda = -f_2,   T^T (a_3 - a_2) = T^T c
//
// Reference only, in double: dense matrices whose sizes change during assembly. articulated_bodies.h is the method for
// trees. This file is its oracle. Here the order of assembly is free (divide and conquer), and loops are joints.
#pragma once
#include <Eigen/Dense>

#include "core/loops/loop_constraints.h"

namespace featherstorm {

using Matrix6d = Eigen::Matrix<double, 6, 6>;
using Vector6d = Eigen::Matrix<double, 6, 1>;

// A joint as a constraint: S, T with T^T S = 0, T_a with T_a^T S = 1, c = S' qd.
struct JointSpaces {
  Eigen::MatrixXd S, T, Ta;
  Vector6d c;
};
JointSpaces joint_spaces(const Eigen::MatrixXd& S, const Vector6d& c);

struct Handle {
  Matrix6d I;
  Vector6d p;
};
struct InverseHandle {
  Matrix6d Phi;
  Vector6d b;
};
InverseHandle inverse(const Handle& h);
// Attaches body 2 to body 1: the standard formulae, RBDA (7.18)-(7.24) and Table 7.2. Both handles need six freedoms.
Handle assemble(const Handle& h1, const Handle& h2, const JointSpaces& J, const Eigen::VectorXd& tau);
// Table 7.2, variant 1: inverse inertias, implicit joint. T^T (Phi_1 + Phi_2) T must be regular.
InverseHandle assemble_inverse(const InverseHandle& h1, const InverseHandle& h2, const JointSpaces& J,
                               const Eigen::VectorXd& tau);
// Table 7.2, variant 2: inertias, implicit joint.
Handle assemble_implicit(const Handle& h1, const Handle& h2, const JointSpaces& J, const Eigen::VectorXd& tau);

struct AssemblyResult {
  Eigen::VectorXd qdd;
  int rounds;  // number of rounds of pairwise assembly: about log2 of the length of a chain
};

// Forward dynamics by divide and conquer, (7.57)-(7.63). Every round assembles as many pairs as possible, then loops
// are closed one by one. World coordinates. Joints with a rotor (armature) are not supported: asserts.
//
// in   q (nq), qd (nv), tau (nv)
// Gravity enters as a_0 = -a_g. Loops have no stabilisation.
AssemblyResult fd_assembly(const Model<double>& m, const Loops<double>& loops, const double* q, const double* qd,
                           const double* tau);

// Forward dynamics of all bodies and joints at once: a sparse system of 6 nb + n^c equations. RBDA section 8.13,
// (8.64).
//
//   [I P T; T^T P^T 0] [a; -lambda] = [P T_a tau - v x* I v; T^T c]
//
// P has +1 where a joint acts on a body and -1 where it reacts. A rank-revealing factorisation permits redundant
// constraints. Arguments and limits as for fd_assembly.
Eigen::VectorXd fd_whole_system(const Model<double>& m, const Loops<double>& loops, const double* q, const double* qd,
                                const double* tau);

}  // namespace featherstorm
