// Planners against updates in plain arithmetic, a cart that they drive, and what they refuse.
#include "host/planning/planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>

#include "host/simulation/simulation.h"
#include "host/trace/parameters.h"
#include "tests/support/robots/worlds.h"

namespace featherstorm::test_planner {
namespace {

using namespace testing;

struct Cart {
  Robot robot = load("cartpole");
  Evaluator evaluator;
  Rollout roll;
  explicit Cart(int threads = 1, Precision p = Precision::float64)
      : evaluator(robot, {.threads = threads}), roll(evaluator, pushed_cart(p)) {}
};

constexpr long T = 6, B = 50;

// The same numbers in double.
Buffer copied(const ArrayRef& a) {
  const std::vector<double> numbers = numbers_of(a);
  const Buffer b(Precision::float64, a.instances, a.components);
  for (long i = 0; i < a.instances; i++)
    for (long c = 0; c < a.components; c++) b.component<double>(c)[i] = numbers[i * a.components + c];
  return b;
}

double control_at(const Planner& planner, double t) {
  double u;
  planner.control(t, {&u, 1});
  return u;
}

// The samples (B, T) of the first iteration about a plan, and their costs.
struct Samples {
  std::vector<double> U, cost;
  // Their numbers, the cheapest first.
  std::vector<long> order() const {
    std::vector<long> all(cost.size());
    std::iota(all.begin(), all.end(), 0L);
    std::sort(all.begin(), all.end(), [&](long a, long b) { return cost[a] < cost[b]; });
    return all;
  }
};
Samples samples_of(const Rollout& roll, const RolloutArrays& state, const Controls& noise) {
  const Buffer costs(Precision::float64, B, 1), used(Precision::float64, B, T);
  RolloutArrays a{.q = state.q, .v = state.v, .made = &noise, .p = state.p};
  a.parameters = state.parameters;
  a.costs = costs.ref();
  ArrayRef step = used.ref();
  step.components = 1;
  a.used = {"u", step, true, used.stride()};
  roll.run(T, B, a);
  return {numbers_of(used.ref()), numbers_of(costs.ref())};
}

TEST(Planner, UpdatesItsPlanAsTheEquationsSay) {
  const Cart cart;
  const AtRest rest(2);
  const RolloutArrays state = rest.with({0.5});
  Controls noise;
  noise.name = "u", noise.mean.assign(T, 0.0), noise.sigma = {3}, noise.lower = {-2}, noise.upper = {4};
  noise.keep_mean = true, noise.key.seed = 7;
  const Samples s = samples_of(cart.roll, state, noise);
  const auto u = [&](long i, long t) { return s.U[i * T + t]; };
  const std::vector<long> order = s.order();
  for (const PlanUpdate update : {PlanUpdate::Best, PlanUpdate::SoftmaxMean, PlanUpdate::EliteMean}) {
    Planner planner(cart.roll, {.horizon = T,
                                .samples = B,
                                .update = {.kind = update, .temperature = 0.2, .elites = 8},
                                .sigma = {3},
                                .lower = {-2},
                                .upper = {4},
                                .seed = 7});
    const std::span<const double> control = planner.command(state);
    const std::vector<double>& plan = planner.plan();
    ASSERT_EQ(control.size(), 1u);
    EXPECT_EQ(control[0], plan[0]);
    EXPECT_EQ(planner.cost(), s.cost[order[0]]);
    for (long t = 0; t < T; t++) {
      double expected = 0, weights = 0;
      for (long i = 0; i < B; i++) {
        const long rank = std::find(order.begin(), order.end(), i) - order.begin();
        const double w = update == PlanUpdate::Best        ? rank == 0
                         : update == PlanUpdate::EliteMean ? rank < 8
                                                           : std::exp((s.cost[order[0]] - s.cost[i]) / 0.2);
        expected += w * u(i, t), weights += w;
      }
      EXPECT_NEAR(plan[t], expected / weights, 1e-12) << "step " << t;
    }
  }
}

TEST(Planner, DrawsTheNextIterationWithTheSpreadOfTheElites) {
  const Cart cart;
  const AtRest rest(2);
  const RolloutArrays state = rest.with({0.5});
  const long elites = 8;
  Controls noise;
  noise.name = "u", noise.mean.assign(T, 0.0), noise.sigma = {3}, noise.keep_mean = true;
  const Samples s = samples_of(cart.roll, state, noise);
  const std::vector<long> order = s.order();
  noise.sigma.assign(T, 0.0), noise.key.draw = 1;
  for (long t = 0; t < T; t++) {
    double square = 0;
    for (long i = 0; i < elites; i++) noise.mean[t] += s.U[order[i] * T + t] / elites;
    for (long i = 0; i < elites; i++) square += std::pow(s.U[order[i] * T + t] - noise.mean[t], 2) / elites;
    noise.sigma[t] = std::max(std::sqrt(square), 2.5);
  }
  EXPECT_GT(*std::max_element(noise.sigma.begin(), noise.sigma.end()), 2.5);  // both are there
  EXPECT_EQ(*std::min_element(noise.sigma.begin(), noise.sigma.end()), 2.5);
  const Samples next = samples_of(cart.roll, state, noise);
  Planner planner(cart.roll, {.horizon = T,
                              .samples = B,
                              .update = {.kind = PlanUpdate::EliteMean, .elites = elites},
                              .sigma = {3},
                              .iterations = 2,
                              .sigma_min = {2.5}});
  planner.improve(state);
  EXPECT_NEAR(planner.cost(), *std::min_element(next.cost.begin(), next.cost.end()), 1e-12);
}

TEST(Planner, PlansForSeveralModels) {
  const Robot robot = load("cartpole");
  Evaluator evaluator(robot, {.threads = 1, .parameters = {"mass"}});
  const Rollout roll(evaluator, pushed_cart());
  const Buffer q(Precision::float64, 1, 2), v(Precision::float64, 1, 2), mass(Precision::float64, 3, 2);
  const std::vector<double> own = parameter_values(robot, "mass");
  const double factors[] = {0.2, 1, 5};
  for (int m = 0; m < 3; m++)
    for (int k = 0; k < 2; k++) mass.component<double>(k)[m] = factors[m] * own[k];
  RolloutArrays state{.q = q.ref(), .v = v.ref(), .p = {0.5}};
  Controls noise;
  noise.name = "u", noise.mean.assign(T, 0.0), noise.sigma = {3}, noise.keep_mean = true;
  std::vector<double> U, cost[3];
  for (int m = 0; m < 3; m++) {
    ArrayRef row = mass.ref();
    row.data = mass.component<double>(0) + m, row.instances = 1;
    state.parameters["mass"] = row;
    Samples s = samples_of(roll, state, noise);
    U = s.U, cost[m] = s.cost;
  }
  state.parameters["mass"] = mass.ref();
  const double weights[][3] = {{1. / 3, 1. / 3, 1. / 3}, {1, 0, 0}, {2. / 3, 1. / 3, 0}}, worst[] = {1, 0, 0.5};
  for (int c = 0; c < 3; c++) {
    long best = 0;
    double least = HUGE_VAL;
    for (long i = 0; i < B; i++) {
      double all[] = {cost[0][i], cost[1][i], cost[2][i]}, sum = 0;
      std::sort(all, all + 3, std::greater());
      for (int k = 0; k < 3; k++) sum += weights[c][k] * all[k];
      if (sum < least) least = sum, best = i;
    }
    Planner planner(roll, {.horizon = T,
                           .samples = B,
                           .update = {.kind = PlanUpdate::Best},
                           .sigma = {3},
                           .models = 3,
                           .worst = worst[c]});
    const std::vector<double>& plan = planner.improve(state);
    EXPECT_NEAR(planner.cost(), least, 1e-12 * least) << "worst " << worst[c];
    for (long t = 0; t < T; t++) EXPECT_EQ(plan[t], U[best * T + t]) << "step " << t;
  }
  // predictions are those of the first model
  const Planner planner(roll, {.horizon = T, .samples = B, .models = 3}), one(roll, {.horizon = T, .samples = B});
  Predictor predictor(evaluator, pushed_cart());
  v.component<double>(1)[0] = 1;
  const std::vector<double> after = numbers_of(predictor.state(planner, state, 0, 0.2).v);
  ArrayRef row = mass.ref();
  row.instances = 1, state.parameters["mass"] = row;
  EXPECT_EQ(numbers_of(predictor.state(one, state, 0, 0.2).v), after);
}

// DIAL, with a plan that is carried over the time that it takes to make it.
TEST(Planner, DrivesACartByKnotsWithLatency) {
  Cart cart;
  const double latency = 0.025;
  Planner planner(cart.roll, {.horizon = 20,
                              .samples = 256,
                              .update = {.temperature = 0.1, .standardised = true},
                              .sigma = annealed_sigma({6}, 2, 5, 0.5, 0.9),
                              .lower = {-10},
                              .upper = {10},
                              .iterations = 2,
                              .knots = 5,
                              .interpolation = Interpolation::Cubic,
                              .first_iterations = 5});
  RolloutOptions options = pushed_cart();
  options.stepping.substeps = 4;
  Predictor predictor(cart.evaluator, options);
  Simulation s(cart.evaluator, 1, {.dt = latency, .substeps = 2});
  Buffer tau(Precision::float32, 1, 2);
  for (int k = 0; k < 160; k++) {
    const double t = s.time();
    tau.component<float>(0)[0] = static_cast<float>(control_at(planner, t));
    const Buffer q = copied(s.q()), v = copied(s.v());
    const RolloutArrays now{.q = q.ref(), .v = v.ref(), .p = {0.5}};
    planner.command(predictor.state(planner, now, t, latency), t + latency);
    s.step(tau.ref());
  }
  EXPECT_NEAR(numbers_of(s.q())[0], 0.5, 0.05);
}

// The plan of each robot is that of a planner for it alone with the robot's seed, bit for bit; one that fails disturbs no
// other.
TEST(Planner, PlansForSeveralRobots) {
  constexpr long R = 3;
  Cart cart;
  const PlannerOptions options{.horizon = 12,
                               .samples = 40,
                               .update = {.temperature = 0.1, .standardised = true},
                               .sigma = {6},
                               .lower = {-10},
                               .upper = {10},
                               .iterations = 2,
                               .knots = 4,
                               .interpolation = Interpolation::Cubic,
                               .seed = 5,
                               .adapt = 0.5};
  PlannerOptions of_all = options;
  of_all.robots = R;
  Planner planner(cart.roll, of_all);
  EXPECT_EQ(planner.robots(), R);
  std::deque<Planner> alone;
  for (std::uint64_t r = 0; r < R; r++) {
    PlannerOptions of_one = options;
    of_one.seed += r;
    alone.emplace_back(cart.roll, of_one);
  }
  Predictor predictor(cart.evaluator, pushed_cart()), one(cart.evaluator, pushed_cart());
  const Buffer q(Precision::float64, R, 2), v(Precision::float64, R, 2);
  const std::vector<double> goals{0.5, -0.3, 1.0};
  std::vector<double> u(R);
  for (int k = 0; k < 4; k++) {
    for (long r = 0; r < R; r++) q.component<double>(0)[r] = 0.1 * r + 0.02 * k, v.component<double>(1)[r] = 0.3 * r;
    if (k == 2) v.component<double>(0)[1] = NAN;
    const double t = 0.11 * k, latency = k == 1 ? 0.1 : 0;
    const RolloutArrays all{.q = q.ref(), .v = v.ref(), .p = goals};
    planner.command(predictor.state(planner, all, t, latency), t + latency);
    planner.control(t + 0.01, u);
    for (long r = 0; r < R; r++) {
      const Buffer its_q(Precision::float64, 1, 2), its_v(Precision::float64, 1, 2);
      for (int c = 0; c < 2; c++)
        its_q.component<double>(c)[0] = q.component<double>(c)[r],
        its_v.component<double>(c)[0] = v.component<double>(c)[r];
      Planner& of = alone[static_cast<std::size_t>(r)];
      const RolloutArrays its{.q = its_q.ref(), .v = its_v.ref(), .p = {goals[static_cast<std::size_t>(r)]}};
      const bool lost = k >= 2 && r == 1;
      EXPECT_EQ(planner.failed(r), lost);
      if (lost) EXPECT_THROW(of.command(one.state(of, its, t, latency), t + latency), PlanningError);
      else of.command(one.state(of, its, t, latency), t + latency);
      if (k < 3)
        EXPECT_EQ(u[static_cast<std::size_t>(r)] == control_at(of, t + 0.01), !lost) << "a lost robot's plan goes on";
      if (lost) continue;
      EXPECT_EQ(planner.knots(r), of.knots());
      EXPECT_EQ(planner.cost(r), of.cost());
      EXPECT_TRUE(std::equal(of.plan().begin(), of.plan().end(), planner.plan().begin() + 12 * r));
    }
  }
  const std::vector<double> plan = planner.plan();
  for (long r = 0; r < R; r++) v.component<double>(0)[r] = NAN;
  EXPECT_THROW(planner.command({.q = q.ref(), .v = v.ref(), .p = goals}, 1), PlanningError);
  EXPECT_EQ(planner.plan(), plan);
  EXPECT_TRUE(planner.failed(1) && !planner.failed(0)) << "as after the last call that did not fail";

  const Buffer two(Precision::float64, 2, 2);
  const auto refused = [&](const RolloutArrays& state) { return message([&] { planner.command(state, 1); }); };
  EXPECT_EQ(refused({.q = two.ref(), .v = v.ref(), .p = goals}), "Planner: q has 2 rows, expected 3, the robots");
  EXPECT_EQ(message([&] { predictor.state(planner, {.q = q.ref(), .v = two.ref(), .p = goals}, 1, 0.1); }),
            "Planner: v has 2 rows, expected 3, the robots");
  planner.warm({.q = q.ref(), .v = v.ref(), .p = goals});
  EXPECT_FALSE(planner.failed(0)) << "warm() changes nothing";
  EXPECT_EQ(refused({.q = q.ref(), .v = v.ref(), .p = {1, 2}}), "Planner: p has 2 numbers, expected 1, 3 or 36");
  of_all.robots = 0;
  EXPECT_EQ(message([&] { Planner(cart.roll, of_all); }), "Planner: robots is 0, expected at least 1");
  of_all.robots = of_all.models = 2;
  EXPECT_EQ(message([&] { Planner(cart.roll, of_all); }),
            "Planner: robots is 2, expected 1 with several models: make a planner for each robot");
}

TEST(Planner, FitsKnotsToControls) {
  const Cart cart;
  Planner planner(cart.roll, {.horizon = 10, .samples = 1, .knots = 4, .interpolation = Interpolation::Cubic});
  planner.reset({1, -2, 3, 0.5});
  const std::vector<double> controls = planner.plan();
  planner.reset(controls);
  const double knots[] = {1, -2, 3, 0.5};
  for (int k = 0; k < 4; k++) EXPECT_NEAR(planner.knots()[k], knots[k], 1e-12);
}

TEST(Planner, GivesTheSamePlansForAnyThreadsAndAfterReset) {
  std::vector<double> first;
  for (const int threads : {1, 3}) {
    const Cart cart(threads);
    const AtRest rest(2);
    Planner planner(cart.roll, {.horizon = T, .samples = 300, .sigma = {3}, .iterations = 2, .seed = 3});
    for (int again = 0; again < 2; again++) {
      std::vector<double> all;
      for (int k = 0; k < 3; k++) {
        const std::span<const double> u = planner.command(rest.with({0.5}));
        all.push_back(u[0]), all.push_back(planner.cost());
      }
      if (first.empty()) first = all;
      EXPECT_EQ(all, first);
      planner.reset();
    }
  }
}

// A log of states, times and numbers of iterations gives the same plans again.
TEST(Planner, EndsWithinItsBudgetAndReplaysFromTheNumbersOfIterations) {
  const Cart cart;
  const AtRest rest(2);
  const RolloutArrays state = rest.with({0.5});
  const int most = 1000000;  // these would take minutes
  const PlannerOptions options{.horizon = T, .samples = B, .sigma = {3}, .iterations = most};
  Planner planner(cart.roll, options), again(cart.roll, options);
  planner.warm(state);
  for (const double budget : {0.0, 2e-3, 0.2}) {
    const double t = 0.03 * budget;
    planner.command(state, t, {.budget = budget});
    if (budget == 0) EXPECT_EQ(planner.iterations(), 1);
    if (budget == 0.2) EXPECT_GT(planner.iterations(), 1);
    EXPECT_LT(planner.iterations(), most);
    again.command(state, t, {.iterations = planner.iterations()});
    EXPECT_EQ(again.iterations(), planner.iterations());
    EXPECT_EQ(again.knots(), planner.knots());
  }
  const std::vector<double> knots = planner.knots();
  EXPECT_EQ(message([&] { planner.command(state, 1, {.iterations = most + 1}); }),
            "Planner: iterations is 1000001, expected 0 to 1000000");
  EXPECT_EQ(planner.knots(), knots);
}

TEST(Planner, RefusesWrongOptionsAndStatesThatAreNotFinite) {
  const Cart cart;
  const auto refused = [&](PlannerOptions o, const std::string& words) {
    EXPECT_NE(message([&] { Planner(cart.roll, o); }).find(words), std::string::npos) << words;
  };
  refused({.horizon = 0}, "horizon is 0");
  refused({.horizon = 4, .samples = 0}, "samples is 0");
  refused({.horizon = 4, .knots = 5}, "knots is 5, expected 0 to 4");
  refused({.horizon = 4, .sigma = {1, 2}}, "sigma has 2 numbers, expected 1, 1, 4 or 4");
  refused({.horizon = 4, .sigma = {-1}}, "sigma is -1");
  refused({.horizon = 4, .lower = {1}, .upper = {0}}, "expected lower <= upper");
  refused({.horizon = 4, .update = {.temperature = 0}}, "temperature is 0");
  refused({.horizon = 4, .models = 0}, "models is 0, expected 1");
  refused({.horizon = 4, .worst = 1.5}, "worst is 1.500000, expected 0 to 1");
  refused({.horizon = 4, .samples = 8, .update = {.kind = PlanUpdate::EliteMean, .elites = 9}},
          "elites is 9, expected 1 to 8");
  Planner planner(cart.roll, {.horizon = 4, .samples = 8});
  EXPECT_THROW(planner.reset({1, 2}), Error);
  std::vector<double> two(2);
  EXPECT_EQ(message([&] { planner.control(0, two); }), "Planner: u has 2 numbers, expected 1");
  const Buffer q(Precision::float64, 1, 2), v(Precision::float64, 1, 2);
  planner.command({.q = q.ref(), .v = v.ref(), .p = {0.5}});
  const std::vector<double> plan = planner.plan();
  v.component<double>(0)[0] = NAN;
  EXPECT_THROW(planner.command({.q = q.ref(), .v = v.ref(), .p = {0.5}}), Error);
  EXPECT_EQ(planner.plan(), plan) << "a call that fails changes nothing";
}

}  // namespace
}  // namespace featherstorm::test_planner
