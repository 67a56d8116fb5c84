// Each algorithm is one text: instantiated for double, for float and for the tracing scalar it is the same map.
#include <gtest/gtest.h>

#include <cstdio>

#include "core/trace/evaluate.h"
#include "tests/support/oracles/cases.h"

namespace featherstorm::test_one_text {
namespace {

using namespace testing;

using dense::MatrixX;

// What a text makes of a model with parameters P and a state of scalar T.
struct Text {
  const char* op;
  std::vector<double> (*in_double)(const Model<double>&, const State&);
  std::vector<float> (*in_float)(const Model<float>&, const State&);
  std::vector<double> (*traced)(const Model<double>&, const State&);
  double (*error)(const Case&, const std::vector<double>& got, const std::vector<double>& expected);  // relative
};

template <class T> struct Arguments {
  std::vector<T> q, v, a, tau, f_ext;
  explicit Arguments(const State& s)
      : q(s.q.begin(), s.q.end()),
        v(s.v.begin(), s.v.end()),
        a(s.a.begin(), s.a.end()),
        tau(s.tau.begin(), s.tau.end()),
        f_ext(s.f_ext.begin(), s.f_ext.end()) {}
  Arguments() = default;
};

// The result of one algorithm, by its name: f(model, arguments) for any scalars.
struct RneaText {
  template <class P, class T> static std::vector<T> run(const Model<P>& m, const Arguments<T>& s) {
    return call_rnea(m, s.q, s.v, s.a, s.f_ext);
  }
};
struct NewtonEulerText {
  template <class P, class T> static std::vector<T> run(const Model<P>& m, const Arguments<T>& s) {
    return call_newton_euler(m, s.q, s.v, s.a, s.f_ext);
  }
};
struct CrbaText {
  template <class P, class T> static std::vector<T> run(const Model<P>& m, const Arguments<T>& s) {
    return call_crba(m, s.q);
  }
};
struct AbaText {
  template <class P, class T> static std::vector<T> run(const Model<P>& m, const Arguments<T>& s) {
    return call_articulated_bodies(m, s.q, s.v, s.tau, s.f_ext);
  }
};
template <Factor factor> struct SolveText {  // H^-1 tau by factorisation
  template <class P, class T> static std::vector<T> run(const Model<P>& m, const Arguments<T>& s) {
    std::vector<T> H = call_crba(m, s.q), x = s.tau;
    if constexpr (factor == Factor::LTDL) ltdl(m, H.data());
    else ltl(m, H.data());
    solve<factor>(m, H, x.data());
    return x;
  }
};

template <class Algorithm> std::vector<double> in_double(const Model<double>& m, const State& s) {
  return Algorithm::run(m, Arguments<double>(s));
}
template <class Algorithm> std::vector<float> in_float(const Model<float>& m, const State& s) {
  return Algorithm::run(m, Arguments<float>(s));
}
template <class Algorithm> std::vector<double> traced(const Model<double>& m, const State& s) {
  Program p;
  Arguments<Expr> e;
  e.q = p.input("q", m.nq), e.v = p.input("v", m.nv), e.a = p.input("a", m.nv), e.tau = p.input("tau", m.nv);
  e.f_ext = p.input("f_ext", 6 * m.nb);
  {
    Tracing scope(p.graph);
    p.output("result", Algorithm::run(m, e));
  }
  return evaluate<double>(p, {s.q, s.v, s.a, s.tau, s.f_ext})[0];
}

double of_forces(const Case& c, const std::vector<double>& got, const std::vector<double>& expected) {
  return relative_error(got, expected, force_scale(c, c.state.a));
}
double of_matrix(const Case&, const std::vector<double>& got, const std::vector<double>& expected) {
  return relative_error(got, expected, largest(expected));
}
double of_accelerations(const Case& c, const std::vector<double>& got, const std::vector<double>& expected) {
  return force_error(c, got, expected);
}

using Error = double (*)(const Case&, const std::vector<double>&, const std::vector<double>&);
template <class Algorithm> Text text(const char* op, Error error) {
  return {op, in_double<Algorithm>, in_float<Algorithm>, traced<Algorithm>, error};
}
const Text texts[] = {
    text<RneaText>("rnea", of_forces),
    text<NewtonEulerText>("newton_euler", of_forces),
    text<CrbaText>("crba", of_matrix),
    text<SolveText<Factor::LTDL>>("ltdl_solve", of_accelerations),
    text<SolveText<Factor::LTL>>("ltl_solve", of_accelerations),
    text<AbaText>("aba", of_accelerations),
};
double float_tolerance(const Text& t) {
  const std::string_view op = t.op;
  return tolerance<float>(op == "ltdl_solve" || op == "ltl_solve" ? "solve" : op);
}

class OneText : public ::testing::TestWithParam<Text> {};

TEST_P(OneText, TracedProgramEqualsDouble) {
  const Text& t = GetParam();
  double worst = 0;
  for_random_robots(
      [&](const Case& c) {
        const auto expected = t.in_double(c.model(), c.state);
        const double e = t.error(c, t.traced(c.model(), c.state), expected);
        EXPECT_LT(e, tolerance<double>("trace"));
        worst = std::max(worst, e);
      },
      15);
  std::printf("%s, traced against double: %.1e of its scale\n", t.op, worst);
}

TEST_P(OneText, FloatIsCloseToDouble) {
  const Text& t = GetParam();
  double worst = 0;
  for_random_robots([&](const Case& c) {
    // in float such a matrix may be indefinite, and this factor has square roots of the pivots
    if (t.op == std::string_view("ltl_solve") && condition(c.oracle.crba(c.state.q)) > 1e7) return;
    const auto expected = t.in_double(c.model(), c.state);
    const auto f = t.in_float(cast<float>(c.model()), c.state);
    const double e = t.error(c, std::vector<double>(f.begin(), f.end()), expected);
    EXPECT_LT(e, float_tolerance(t));
    worst = std::max(worst, e);
  });
  std::printf("%s, float against double: %.1e of its scale = %.0f epsilon\n", t.op, worst, worst / 1.19e-7);
}

INSTANTIATE_TEST_SUITE_P(All, OneText, ::testing::ValuesIn(texts), [](const auto& info) { return info.param.op; });

}  // namespace
}  // namespace featherstorm::test_one_text
