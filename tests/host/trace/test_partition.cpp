// Programs cut into roles: every value is computed where it can be, and all roles together give the same bits as the
// whole program, whoever is faster.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/program/count.h"
#include "core/program/order.h"
#include "host/load/load.h"
#include "host/table/ops.h"
#include "host/trace/bodies.h"
#include "host/trace/specialised_program.h"
#include "host/trace/trace_op.h"
#include "tests/support/tools/examples.h"

namespace featherstorm::test_partition {
namespace {

struct Case {
  Program program;
  Bodies bodies;
};
Case traced(const std::string& robot, std::string_view op) {
  const Robot r = load(robot);
  Program p = specialised_program({op_index(op)}, r.model);
  Bodies b = bodies_of(p, r.model);
  return {std::move(p), std::move(b)};
}

// Random programs whose inputs belong to the three limbs of a star and to its trunk, body 1.
Case random_case(std::uint32_t seed) {
  Case c;
  c.program = examples::random_program(seed, 60, true);
  c.bodies = {{0, 0, 1, 1, 1, 4}, {{1, 2, 3}, {4, 5}}, {{1, 2, 3, 4, 0}}};
  return c;
}

std::vector<int> order_of(const Program& p, std::string_view name) {
  return name == "trace" ? trace_order(p) : name == "greedy" ? greedy_order(p) : sethi_ullman_order(p);
}

void check_steps(const Program& p, const RoleProgram& r) {
  const Graph& g = p.graph;
  const Fusion fusion = fuse(p);
  const std::vector<char> live = live_nodes(p);
  std::map<int, int> computed, given;                          // node -> how often
  std::map<int, std::pair<int, int>> given_in;                 // node -> (phase, slot)
  std::map<int, std::vector<std::pair<int, int>>> slot_times;  // slot -> (phase of the giving, of the last fetch)
  std::map<int, int> last_fetch;
  std::set<std::pair<int, int>> stored, nexts;
  for (const auto& steps : r.steps) {
    int phase = 0;
    for (const RoleStep& s : steps) {
      phase += s.kind == RoleStep::barrier;
      if (s.kind == RoleStep::give) {
        EXPECT_EQ(++given[s.node], 1);
        given_in[s.node] = {phase, s.slot};
        EXPECT_GE(s.slot, 0);
        EXPECT_LT(s.slot, r.slots);
      }
      if (s.kind == RoleStep::give_next) { EXPECT_TRUE(nexts.insert({s.array, s.component}).second); }
      if (s.kind == RoleStep::fetch) last_fetch[s.node] = std::max(last_fetch[s.node], phase);
    }
    EXPECT_EQ(phase + 1, r.phases);
  }
  EXPECT_EQ(int(given.size() + nexts.size()), r.exchanged);
  for (const auto& [node, place] : given_in) {
    EXPECT_TRUE(last_fetch.count(node)) << "given to nobody";
    slot_times[place.second].push_back({place.first, last_fetch[node]});
  }
  for (auto& [slot, times] : slot_times) {
    std::sort(times.begin(), times.end());
    for (std::size_t k = 1; k < times.size(); k++)
      EXPECT_LT(times[k - 1].second, times[k].first) << "slot " << slot << " is written while it may be read";
  }
  for (std::size_t role = 0; role < r.steps.size(); role++) {
    const auto& steps = r.steps[role];
    std::vector<char> have(g.size(), 0);
    for (const RoleStep& s : r.before[role]) have[s.node] = 1;
    std::set<std::pair<int, int>> kept;
    const auto available = [&](auto& self, int node) -> bool {  // an operand: computed here, or part of its sum
      if (have[node] || g.node(node).op == Op::Const) return true;
      if (!fusion.folded[node]) return false;
      int nodes[3];
      for (int k = operands(g, node, nodes); k-- > 0;)
        if (!self(self, nodes[k])) return false;
      return true;
    };
    int phase = 0;
    for (const RoleStep& s : steps) {
      int nodes[3];
      switch (s.kind) {
        case RoleStep::load:
          EXPECT_EQ(g.node(s.node).op, Op::Input);
          EXPECT_FALSE(have[s.node]);
          have[s.node] = 1;
          break;
        case RoleStep::compute:
          EXPECT_FALSE(have[s.node] || fusion.folded[s.node]);
          for (int k = operands(g, s.node, nodes); k-- > 0;) EXPECT_TRUE(available(available, nodes[k]));
          have[s.node] = 1, computed[s.node]++;
          break;
        case RoleStep::give: EXPECT_TRUE(have[s.node]); break;
        case RoleStep::fetch:
          EXPECT_LT(given_in.at(s.node).first, phase) << "fetched before the barrier";
          EXPECT_EQ(given_in.at(s.node).second, s.slot);
          EXPECT_FALSE(have[s.node]);
          have[s.node] = 1;
          break;
        case RoleStep::keep:
        case RoleStep::store:
          kept.insert({s.array, s.component});
          EXPECT_EQ(p.results[s.array][s.component].edge().node(), s.node);
          EXPECT_TRUE(have[s.node] || g.node(s.node).op == Op::Const);
          EXPECT_TRUE(stored.insert({s.array, s.component}).second) << "stored twice";
          break;
        case RoleStep::barrier: phase++; break;
        case RoleStep::give_next:
        case RoleStep::take: EXPECT_TRUE(kept.count({s.array, s.component})); break;
        case RoleStep::fetch_next: EXPECT_GE(s.slot, 0); break;
      }
    }
  }
  std::size_t outputs = 0;
  for (const auto& values : p.results) outputs += values.size();
  EXPECT_EQ(stored.size(), outputs);
  for (int i = 0; i < g.size(); i++) {
    const bool statement = live[i] && arity(g.node(i).op) > 0 && !fusion.folded[i];
    const int times = computed.count(i) ? computed[i] : 0;
    EXPECT_EQ(times > 0, statement) << "node " << i;
  }
}

// The roles on one instance, phase by phase, within a phase the first or the last of them first.
template <class T>
Arrays<T> run_roles(const Program& p, const RoleProgram& r, const Arrays<T>& in, bool last_first, long repeat) {
  const Graph& g = p.graph;
  const int roles = static_cast<int>(r.steps.size());
  const T nothing = std::numeric_limits<T>::quiet_NaN();
  std::vector<std::vector<T>> value(roles, std::vector<T>(g.size(), nothing));
  std::vector<T> exchange(r.slots, nothing);
  Arrays<T> out;
  for (const auto& a : p.outputs) out.emplace_back(a.size, nothing);
  for (int role = 0; role < roles; role++)
    for (const RoleStep& s : r.before[role]) value[role][s.node] = in[g.node(s.node).array][g.node(s.node).component];

  const auto step = [&](const RoleStep& s, std::vector<T>& v) {
    const auto number = [&](auto& self, int node) -> T {
      const Node& n = g.node(node);
      if (n.op == Op::Const) return T(n.value);
      if (n.op == Op::Mul && v[node] != v[node]) {  // a product that a sum takes
        T x[2];
        for (int j : {0, 1})
          x[j] = n.operand[j].negative() ? -self(self, n.operand[j].node()) : self(self, n.operand[j].node());
        return x[0] * x[1];
      }
      return v[node];
    };
    const auto edge = [&](Edge e) { return e.negative() ? -number(number, e.node()) : number(number, e.node()); };
    const Node& n = g.node(s.node);
    T x[3] = {};
    switch (s.kind) {
      case RoleStep::load: v[s.node] = in[n.array][n.component]; break;
      case RoleStep::compute:
        for (int j = 0; j < arity(n.op); j++) x[j] = edge(n.operand[j]);
        v[s.node] = apply(n.op, x[0], x[1], x[2]);
        break;
      case RoleStep::give: exchange[s.slot] = v[s.node]; break;
      case RoleStep::fetch:
      case RoleStep::fetch_next: v[s.node] = exchange[s.slot]; break;
      case RoleStep::store:
      case RoleStep::keep: out[s.array][s.component] = edge(p.results[s.array][s.component].edge()); break;
      case RoleStep::give_next: exchange[s.slot] = out[s.array][s.component]; break;
      case RoleStep::take: v[s.node] = out[s.array][s.component]; break;
      case RoleStep::barrier: break;
    }
  };
  // a role may go on into the next pass before the others have begun it
  std::vector<std::size_t> at(roles, 0);
  for (long phase = 0; phase < repeat * (r.phases - 1) + 1; phase++)
    for (int k = 0; k < roles; k++) {
      const int role = last_first ? roles - 1 - k : k;
      const auto& steps = r.steps[role];
      if (at[role] == steps.size() * repeat) continue;
      do {
        const std::size_t i = at[role]++ % steps.size();
        if (i == 0)  // nothing of the last pass is there but the carried inputs
          for (int n = 0; n < g.size(); n++)
            if (g.node(n).op != Op::Input || !p.is_carried(g.node(n).array)) value[role][n] = nothing;
        step(steps[i], value[role]);
        if (steps[i].kind == RoleStep::barrier) break;
      } while (at[role] < steps.size() * repeat);
    }
  for (int role = 0; role < roles; role++) EXPECT_EQ(at[role], r.steps[role].size() * repeat);
  return out;
}

template <class T> void expect_same_bits(const Case& c, const RoleProgram& r, int seed) {
  std::mt19937 random(seed);
  const Arrays<double> numbers = examples::random_inputs(c.program, random);
  Arrays<T> in;
  for (const auto& a : numbers) in.emplace_back(a.begin(), a.end());
  for (long repeat : {1, 3}) {
    if (repeat > 1 && c.program.carried.empty()) break;
    const Arrays<T> whole = evaluate(c.program, in, repeat);
    for (bool last_first : {false, true}) EXPECT_EQ(run_roles(c.program, r, in, last_first, repeat), whole);
  }
}

TEST(Partition, RobotsInRolesGiveTheSameBits) {
  int cut = 0;
  for (const char* robot : {"atlas", "g1", "humanoid", "go2", "hyq"})
    for (const char* op : {"rnea", "crba", "fd", "aba", "step", "id_delta"}) {
      const Case c = traced(robot, op);
      for (int roles : {2, 3, 4, 5, 8})
        for (const char* order : {"trace", "greedy", "sethi_ullman"}) {
          SCOPED_TRACE(std::string(robot) + "/" + op + "/" + std::to_string(roles) + "/" + order);
          const RoleProgram r = partition(c.program, c.bodies, roles, order_of(c.program, order));
          if (r.steps.empty()) continue;
          cut++;
          ASSERT_EQ(int(r.steps.size()), roles);
          EXPECT_EQ(r.traced, std::string_view(order) == "trace");
          check_steps(c.program, r);
          expect_same_bits<double>(c, r, roles);
          expect_same_bits<float>(c, r, roles);
        }
    }
  EXPECT_GE(cut, 200);
}

// The trunk's frames have nothing to do with the limbs: role 0 works alone, in one phase.
TEST(Partition, WhatNoLimbTakesPartInIsDoneByRole0) {
  const Robot robot = load("go2");
  Case c;
  c.program = specialised_program({op_index("jacobian"), 0}, robot.model);
  c.bodies = bodies_of(c.program, robot.model);
  const RoleProgram r = partition(c.program, c.bodies, 4, greedy_order(c.program));
  ASSERT_EQ(r.steps.size(), 4u);
  EXPECT_EQ(r.phases, 1);
  for (int role : {1, 2, 3}) EXPECT_TRUE(r.steps[role].empty());
  check_steps(c.program, r);
  expect_same_bits<float>(c, r, 1);
}

// A carried program whose state goes around between the limbs.
TEST(Partition, CarriedProgramsGiveTheSameBits) {
  for (std::uint32_t seed = 0; seed < 100; seed++) {
    Case c;
    Program& p = c.program;
    std::vector<Expr> x = p.input("x", 5);
    {
      Tracing scope(p.graph);
      const std::vector<Expr> values = examples::random_values(seed, 40, x, true);
      p.output("next", std::vector<Expr>(values.end() - 5, values.end()));
      p.output("seen", {values[20], values[3], Expr(1)});
    }
    p.carry("next", "x");
    c.bodies = {{0, 0, 1, 1, 1, 4}, {{1, 2, 3, 4, 5}}, {{5, 2, 1, 4, 3}, {0, 0, 0}}};
    for (int roles : {2, 3}) {
      SCOPED_TRACE(seed);
      const RoleProgram r = partition(p, c.bodies, roles, trace_order(p));
      ASSERT_EQ(int(r.steps.size()), roles);
      check_steps(p, r);
      expect_same_bits<double>(c, r, int(seed));
    }
  }
}

TEST(Partition, RandomProgramsInRolesGiveTheSameBits) {
  for (std::uint32_t seed = 0; seed < 300; seed++) {
    const Case c = random_case(seed);
    for (int roles : {2, 3}) {
      SCOPED_TRACE(seed);
      const RoleProgram r = partition(c.program, c.bodies, roles, trace_order(c.program));
      ASSERT_EQ(int(r.steps.size()), roles);
      check_steps(c.program, r);
      expect_same_bits<double>(c, r, int(seed));
    }
  }
}

// What the design was decided on: a humanoid's way through four warps is at most 0.45 of the whole, at little more work
// in all, and what is exchanged fits a multiprocessor several times.
TEST(Partition, HumanoidsInFourRolesAreBalanced) {
  for (const char* robot : {"atlas", "g1", "humanoid"})
    for (const char* op : {"fd", "aba"}) {
      SCOPED_TRACE(std::string(robot) + "/" + op);
      const Case c = traced(robot, op);
      const RoleProgram r = partition(c.program, c.bodies, 4, trace_order(c.program));
      EXPECT_LT(double(r.longest) / double(r.whole), 0.46);
      EXPECT_LT(double(r.total) / double(r.whole), 1.15);
      EXPECT_LE(r.slots, 150);
    }
  const Case c = traced("go2", "rnea");
  const RoleProgram r = partition(c.program, c.bodies, 4, trace_order(c.program));
  EXPECT_EQ(r.slots, 18) << "three legs give their forces to the base";
  EXPECT_EQ(r.phases, 2);
  const std::set<int> roles(r.role_of_body.begin() + 2, r.role_of_body.end());
  EXPECT_EQ(roles, (std::set<int>{0, 1, 2, 3}));
  EXPECT_EQ(r.role_of_body[1], -1);
}

TEST(Partition, WhatCannotBeCutIsLeft) {
  const Case chain = traced("iiwa14", "fd");
  EXPECT_TRUE(partition(chain.program, chain.bodies, 2, trace_order(chain.program)).steps.empty());
  const Case legs = traced("go2", "fd");
  EXPECT_TRUE(partition(legs.program, legs.bodies, 5, trace_order(legs.program)).steps.empty());
}

}  // namespace
}  // namespace featherstorm::test_partition
