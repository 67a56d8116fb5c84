// docs/tutorials/your_own_joint.md: a parallelogram linkage as one joint. It moves its body along a circle, never turning it.
#include <cmath>
#include <cstdio>

#include <featherstorm/featherstorm.h>

using namespace featherstorm;

// [joint]
// r = l (sin q, 0, -cos q), E = 1;   S = [0; l cos q, 0, l sin q];   c_J = dS/dt qd
struct Parallelogram {
  static constexpr int nq = 1, nv = 1;
  template <class T, class B, class Q> static Placement<T> placement(const B& b, const Q& q) {
    T s, c;
    sincos(T(q[0]), s, c);
    Placement<T> X = identity_placement<T>();
    X.r = {s * b.parameter, T(0.0), -(c * b.parameter)};
    return X;
  }
  template <class T, class B, class Q> static void subspace(const B& b, const Q& q, Motion<T>* S) {
    T s, c;
    sincos(T(q[0]), s, c);
    S[0] = {zero3<T>(), {c * b.parameter, T(0.0), s * b.parameter}};
  }
  template <class T, class B, class Q, class V> static Motion<T> bias(const B& b, const Q& q, const V& v) {
    T s, c;
    sincos(T(q[0]), s, c);
    const T k = v[0] * v[0] * b.parameter;
    return {zero3<T>(), {-(s * k), T(0.0), c * k}};
  }
  // the step q (+) u, and what leads from one position to another
  template <class T, class B, class Q, class U, class Out> static void integrate(const B&, const Q& q, const U& u,
                                                                                 Out q_next) {
    q_next[0] = q[0] + u[0];
  }
  template <class T, class B, class Q, class Q1, class Out> static void difference(const B&, const Q& q0, const Q1& q1,
                                                                                   Out u) {
    u[0] = q1[0] - q0[0];
  }
};
// [joint end]

// [robot]
Robot swing(double mass, double length) {
  ModelBuilder b("swing");
  b.add_link({"seat", mass});
  JointSpec j{"linkage", JointType::UserDefined, "", "seat"};
  j.user = make_user_joint<Parallelogram>();
  j.parameter = length;
  b.add_joint(j);
  return b.build();
}
// [robot end]

// [use]
int main() {
  const double m = 3, l = 0.7;
  Evaluator dynamics(swing(m, l));
  const long B = 5;
  Buffer q(Precision::float64, B, 1), v(Precision::float64, B, 1), tau(Precision::float64, B, 1),
      a(Precision::float64, B, 1);
  for (long i = 0; i < B; i++) {
    q.component<double>(0)[i] = 0.3 * static_cast<double>(i);
    v.component<double>(0)[i] = 1;
    tau.component<double>(0)[i] = 2;
  }
  dynamics.run("fd", {q.ref(), v.ref(), tau.ref()}, {a.ref()});
  // m l^2 a = tau - m g l sin q
  double error = 0;
  for (long i = 0; i < B; i++) {
    const double expected = (2 - m * 9.81 * l * std::sin(q.component<double>(0)[i])) / (m * l * l);
    error = std::fmax(error, std::fabs(a.component<double>(0)[i] - expected));
  }
  std::printf("swing: error %.1e rad/s^2\n", error);
  return error < 1e-12 ? 0 : 1;
}
// [use end]
