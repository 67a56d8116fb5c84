#pragma once
// Computations templated on their scalar, to run with double and to trace with Expr.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "core/trace/evaluate.h"

namespace featherstorm::examples {

// The same functions for plain numbers; argument-dependent lookup finds those of Expr.
template <class T>
  requires std::is_floating_point_v<T>
T select(bool c, T x, T y) {
  return c ? x : y;
}
template <class T>
  requires std::is_floating_point_v<T>
T rcp(T x) {
  return 1 / x;
}
template <class T>
  requires std::is_floating_point_v<T>
void sincos(T x, T& s, T& c) {
  s = std::sin(x), c = std::cos(x);
}
using std::abs, std::acos, std::asin, std::atan2, std::cos, std::exp, std::floor, std::log, std::max, std::min,
    std::sin, std::sqrt;

// Inverse dynamics of a planar double pendulum in vertical gravity, rods of length l and point masses m at their ends:
//   tau = M(q) a + C(q, v) + G(q)   (Featherstone, RBDA, ex. 1 in other letters)
template <class T>
void pendulum(const std::vector<T>& q, const std::vector<T>& v, const std::vector<T>& a, std::vector<T>& tau) {
  const double m1 = 1.5, m2 = 0.5, l1 = 0.7, l2 = 0.4, g = 9.81;
  T s1, c1, s2, c2;
  sincos(q[0], s1, c1);
  sincos(q[1], s2, c2);
  T s12 = s1 * c2 + c1 * s2;
  T k = m2 * l1 * l2 * c2, h = m2 * l1 * l2 * s2;
  T m11 = (m1 + m2) * l1 * l1 + m2 * l2 * l2 + 2 * k, m12 = m2 * l2 * l2 + k;
  T m22 = m2 * l2 * l2;
  tau[0] = m11 * a[0] + m12 * a[1] - h * v[1] * (2 * v[0] + v[1]) + g * ((m1 + m2) * l1 * s1 + m2 * l2 * s12);
  tau[1] = m12 * a[0] + m22 * a[1] + h * v[0] * v[0] + g * m2 * l2 * s12;
}

// One semi-implicit Euler step of a pendulum with friction and a limited torque.
template <class T>
void pendulum_step(T& q, T& v, T u, T dt) {
  T torque = max(T(-2), min(T(2), u));
  T friction = select(v < T(0), T(0.1), T(-0.1));
  v = v + dt * (torque + friction - 9.81 * sin(q));
  q = q + dt * v;
}

// A random program: a random operation makes each value from earlier ones, and values stay between -4 and 4. Without
// `jumps` it is continuous, so that it can be compared in float.
template <class T>
std::vector<T> random_values(std::uint32_t seed, int length, const std::vector<T>& inputs, bool jumps) {
  std::mt19937 random(seed);
  std::vector<T> values = inputs;
  auto any = [&] {
    T x = values[random() % values.size()];
    return random() % 4 == 0 ? -x : x;
  };
  const double numbers[] = {0, 1, -1, 2, 0.5, -0.75, 3};
  auto number = [&] { return T(numbers[random() % 7]); };
  for (int i = 0; i < length; ++i) {
    T x = any(), y = any(), z = random() % 3 == 0 ? number() : any(), r(0), s(0), c(0);
    switch (random() % (jumps ? 22 : 19)) {
      case 0: r = x + y; break;
      case 1: r = x - y; break;
      case 2: r = x + z; break;
      case 3: r = z - x; break;
      case 4:
      case 5: r = x * y; break;
      case 6: r = x * z; break;
      case 7: r = x / (y * y + 1); break;
      case 8: r = rcp(abs(x) + 0.5); break;
      case 9: r = sqrt(abs(x * z) + 0.25); break;
      case 10:
        sincos(x + z, s, c);
        r = s * y + c;
        break;
      case 11: r = exp(min(x, T(1))); break;
      case 12: r = log(abs(x) + 0.5); break;
      case 13: r = atan2(x, abs(y) + 0.5); break;
      case 14: r = min(x, z) - max(x, y); break;
      case 15: r = abs(x - y); break;
      case 16: r = select(x < y, y - x, x - y); break;
      case 17: r = asin(sin(x) * 0.5) + acos(cos(y) * 0.5); break;
      case 18: r = select(x > y && x >= z, (x - y) * (x - z), T(0)); break;
      case 19: r = x - floor(x); break;
      case 20: r = select(!(x < y) || x <= z, x, y); break;
      case 21: r = select(x < z && !(y < x || z < y), y, z); break;
    }
    values.push_back(max(T(-4), min(T(4), r)));
  }
  return values;
}

// A random program with two input arrays x(3), y(2), and the last five values as output "out".
inline Program random_program(std::uint32_t seed, int length, bool jumps) {
  Program p;
  std::vector<Expr> inputs = p.input("x", 3), y = p.input("y", 2);
  inputs.insert(inputs.end(), y.begin(), y.end());
  Tracing scope(p.graph);
  std::vector<Expr> values = random_values(seed, length, inputs, jumps);
  p.output("out", std::vector<Expr>(values.end() - 5, values.end()));
  return p;
}

// The double pendulum with inputs q, v, a and output tau.
inline Program pendulum_program() {
  Program p;
  auto q = p.input("q", 2), v = p.input("v", 2), a = p.input("a", 2);
  std::vector<Expr> tau(2);
  Tracing scope(p.graph);
  mark("double pendulum");
  pendulum(q, v, a, tau);
  p.output("tau", tau);
  return p;
}

// pendulum_step as the body of a loop: state q, v carried, u an input, dt uniform, energy an output.
inline Program step_program() {
  Program p;
  Expr q = p.input("q", 1)[0], v = p.input("v", 1)[0];
  Expr u = p.input("u", 1)[0], dt = p.input("dt", 1, true)[0];
  Tracing scope(p.graph);
  pendulum_step(q, v, u, dt);
  p.output("q_next", {q});
  p.output("v_next", {v});
  p.output("energy", {0.5 * v * v - 9.81 * cos(q)});
  p.carry("q_next", "q");
  p.carry("v_next", "v");
  return p;
}

// Random numbers between -range and range for the inputs of a program.
inline Arrays<double> random_inputs(const Program& p, std::mt19937& random, double range = 1) {
  std::uniform_real_distribution<double> number(-range, range);
  Arrays<double> inputs;
  for (const auto& array : p.inputs) {
    for (double& x : inputs.emplace_back(array.size)) x = number(random);
  }
  return inputs;
}

}  // namespace featherstorm::examples
