// A joint defined by the user (RBDA section 4.4, "user-supplied jcalc"): any structure with the members of the files in
// this folder, from which make_user_joint takes plain functions for the reference (double) and for tracing.
//
// A joint that depends on time has `static constexpr bool time_dependent = true` and members that take t [s] as well:
// placement(b, q, t), subspace(b, q, t, S), drift(b, q, t) = sigma, bias(b, q, v, t) = S° v + sigma° (timed.h).
//
// In a batch of packs the double function is called lane by lane; specialised kernels contain its traced text.
#pragma once
#include "core/scalar/dual.h"
#include "core/spatial/transform.h"
#include "core/trace/eigen_traits.h"

namespace featherstorm {

// Results of jcalc for a joint with nv <= 6: placement (child axes and origin in F_p), S and c_J in child axes.
template <class T> struct UserJointAt {
  Placement<T> X;
  Motion<T> S[6];
  Motion<T> c;
  Motion<T> sigma;  // of time-dependent joints
};
struct UserParameter { double parameter; };

// The functions of a user-defined joint for one scalar. For a time-dependent joint `at` reads t after the nq positions.
template <class T> struct UserJointText {
  void (*at)(double parameter, const T* q, const T* v, UserJointAt<T>&) = nullptr;
  void (*integrate)(double parameter, const T* q, const T* u, T* q_next) = nullptr;
};

struct UserJoint {
  int nq = 0, nv = 0;
  void (*at)(double parameter, const double* q, const double* v, UserJointAt<double>&) = nullptr;
  void (*trace)(double parameter, const Expr* q, const Expr* v, UserJointAt<Expr>&) = nullptr;
  void (*integrate)(double parameter, const double* q, const double* u, double* q_next) = nullptr;
  void (*trace_integrate)(double parameter, const Expr* q, const Expr* u, Expr* q_next) = nullptr;
  void (*difference)(double parameter, const double* q0, const double* q1, double* u) = nullptr;
  void (*trace_difference)(double parameter, const Expr* q0, const Expr* q1, Expr* u) = nullptr;
  // with first, second and third derivatives
  UserJointText<Dual<double>> dual;
  UserJointText<Dual<Expr>> trace_dual;
  UserJointText<Dual<Dual<double>>> dual2;
  UserJointText<Dual<Dual<Expr>>> trace_dual2;
  UserJointText<Dual<Dual<Dual<double>>>> dual3;
  UserJointText<Dual<Dual<Dual<Expr>>>> trace_dual3;
  bool time_dependent = false;

  template <class T> UserJointText<T> text() const {
    if constexpr (std::is_same_v<T, double>) return {at, integrate};
    else if constexpr (std::is_same_v<T, Expr>) return {trace, trace_integrate};
    else if constexpr (std::is_same_v<T, Dual<double>>) return dual;
    else if constexpr (std::is_same_v<T, Dual<Expr>>) return trace_dual;
    else if constexpr (std::is_same_v<T, Dual<Dual<double>>>) return dual2;
    else if constexpr (std::is_same_v<T, Dual<Dual<Expr>>>) return trace_dual2;
    else if constexpr (std::is_same_v<T, Dual<Dual<Dual<double>>>>) return dual3;
    else return trace_dual3;
  }
};

// The scalar that a user-defined joint's functions receive for one lane of T.
template <class T> struct UserScalar { using type = double; };
template <> struct UserScalar<Expr> { using type = Expr; };
template <class T> struct UserScalar<Dual<T>> { using type = Dual<typename UserScalar<T>::type>; };

template <class Joint> constexpr bool is_time_dependent() {
  if constexpr (requires { Joint::time_dependent; }) return Joint::time_dependent;
  else return false;
}
template <class Joint, class T>
void user_joint_at(double parameter, const T* q, const T* v, UserJointAt<T>& J) {
  const UserParameter b{parameter};
  if constexpr (is_time_dependent<Joint>()) {
    const T t = q[Joint::nq];
    J.X = Joint::template placement<T>(b, q, t);
    Joint::template subspace<T>(b, q, t, J.S);
    J.c = Joint::template bias<T>(b, q, v, t);
    J.sigma = Joint::template drift<T>(b, q, t);
  } else {
    J.X = Joint::template placement<T>(b, q);
    Joint::template subspace<T>(b, q, J.S);
    J.c = Joint::template bias<T>(b, q, v);
  }
}
template <class Joint, class T> void user_joint_integrate(double parameter, const T* q, const T* u, T* q_next) {
  Joint::template integrate<T>(UserParameter{parameter}, q, u, q_next);
}
template <class Joint, class T> void user_joint_difference(double parameter, const T* q0, const T* q1, T* u) {
  Joint::template difference<T>(UserParameter{parameter}, q0, q1, u);
}

template <class Joint, class T> UserJointText<T> user_joint_text() {
  return {user_joint_at<Joint, T>, user_joint_integrate<Joint, T>};
}

template <class Joint> UserJoint make_user_joint() {
  static_assert(Joint::nv >= 1 && Joint::nv <= 6 && Joint::nv != 4 && Joint::nv != 5);
  return {Joint::nq,
          Joint::nv,
          user_joint_at<Joint, double>,
          user_joint_at<Joint, Expr>,
          user_joint_integrate<Joint, double>,
          user_joint_integrate<Joint, Expr>,
          user_joint_difference<Joint, double>,
          user_joint_difference<Joint, Expr>,
          user_joint_text<Joint, Dual<double>>(),
          user_joint_text<Joint, Dual<Expr>>(),
          user_joint_text<Joint, Dual<Dual<double>>>(),
          user_joint_text<Joint, Dual<Dual<Expr>>>(),
          user_joint_text<Joint, Dual<Dual<Dual<double>>>>(),
          user_joint_text<Joint, Dual<Dual<Dual<Expr>>>>(),
          is_time_dependent<Joint>()};
}

}  // namespace featherstorm
