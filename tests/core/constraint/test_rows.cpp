// Rows of constraints: those whose Jacobian is zero are turned off, one constraint at a time, and rows of contacts are
// bounded in float. tests/python/world compares rows of every kind with MuJoCo's.
#include <gtest/gtest.h>

#include <cmath>

#include "core/constraint/constraint_rows.h"
#include "core/constraint/contact_rows.h"
#include "core/scalar/pack.h"
#include "core/trace/expr.h"
#include "core/world/world.h"

namespace featherstorm::test_rows {
namespace {

struct Tree { int nv = 2; };

// An equality of bodies, one of tendons, dry friction of a tendon, and the limits of a tendon.
World<double> world_of_tendons() {
  World<double> w;
  w.constraints.equality.resize(3);
  w.constraints.equality[0].kind = EqualityKind::Connect;
  w.constraints.equality[1].kind = EqualityKind::Tendon, w.constraints.equality[1].active = false;
  w.constraints.equality[2].kind = EqualityKind::Tendon;
  w.constraints.friction.resize(1);
  w.constraints.limit.resize(1), w.constraints.limit[0].kind = LimitKind::Tendon;
  return w;
}

struct Rows {
  std::vector<double> J, position, D, aref, active, friction;
  explicit Rows(const World<double>& w)
      : J(2 * n(w)), position(n(w)), D(n(w), 1e15), aref(n(w)), active(n(w), 1), friction(n(w)) {}
  static std::size_t n(const World<double>& w) { return static_cast<std::size_t>(rows_of(w.constraints)); }
  ConstraintRows<double*> rows() {
    return {J.data(), position.data(), D.data(), aref.data(), active.data(), friction.data()};
  }
};

TEST(ConstraintRows, OfAZeroJacobianAreTurnedOff) {
  const World<double> w = world_of_tendons();
  Rows r(w);
  r.J[0] = 1e-17;  // what rounding leaves of zero
  turn_off_zero_rows<double>(Tree{}, w, r.rows());
  EXPECT_EQ(r.D, std::vector<double>(7));
  EXPECT_EQ(r.active, std::vector<double>(7));
}

TEST(ConstraintRows, StayWhereOneOfTheSameConstraintMovesSomething) {
  const World<double> w = world_of_tendons();
  Rows r(w);
  r.J[5] = -0.2;  // third row of the connect
  r.J[8] = 0.1;   // dry friction, behind the equality of tendons
  r.J[13] = 0.3;  // upper limit
  r.active[6] = r.D[6] = 0;
  turn_off_zero_rows<double>(Tree{}, w, r.rows());
  EXPECT_EQ(r.D, (std::vector<double>{1e15, 1e15, 1e15, 0, 1e15, 0, 0}));
  EXPECT_EQ(r.active, (std::vector<double>{1, 1, 1, 0, 1, 0, 0}));
}

// The world's numbers decide whether rows are bounded, not the scalar: a traced program serves both precisions.
TEST(ContactRows, AreBoundedInFloatAlone) {
  World<double> w;
  w.contacts.elliptic = true;
  const World<float> single = cast<float>(w);
  EXPECT_TRUE(contact_law<float>(single).single);
  EXPECT_TRUE((contact_law<Pack<float, 4>>(single).single));
  EXPECT_TRUE(contact_law<Dual<float>>(single).single);
  EXPECT_FALSE(contact_law<double>(w).single);
  EXPECT_FALSE(contact_law<Dual<double>>(w).single);
  EXPECT_FALSE(contact_law<Expr>(w).single);
}

// In float rows along tangents of a cone have at most A D = 1e5, as with the impedance ratio that gives this. Packs
// show it with the digits of double, whose own rows have no bound.
TEST(ContactRows, HaveASmallerImpedanceRatioInFloatWhereTangentsAreTooHard) {
  ContactPair<double> pair;
  const double friction[] = {0.8, 0.7, 0.02, 0.003, 0.001}, impedance[] = {0.9, 0.999, 0.001, 0.5, 2};
  std::copy_n(friction, 5, pair.friction), std::copy_n(impedance, 5, pair.softness.impedance);
  pair.softness.power = 2, pair.softness.reference[0] = 0.02, pair.softness.reference[1] = 1;
  pair.dimension = 6;
  using T = Pack<double, 2>;
  const T A(0.37), v[6] = {T(0.3), T(-0.2), T(0.1), T(2.0), T(-1.0), T(0.5)};
  struct Rows { T position[6], D[6], aref[6], active[6], f[6]; };
  const auto rows_of = [&](double ratio, bool single, double distance) {
    Rows x;
    set_contact_rows(ContactLaw<T>{{T(0.002), true, false}, T(ratio), true, false, single}, pair, A, T(distance), v,
                     ConstraintRows<T*>{{}, x.position, x.D, x.aref, x.active, x.f});
    return x;
  };
  for (const double distance : {-0.0001, -0.002}) {
    const double d = impedance_at(pair.softness, distance), ratio = 1e5 * (1 - d) / d;
    for (const double times : {0.5, 1.0, 20.0}) {
      const Rows single = rows_of(times * ratio, true, distance),
                 same = rows_of(std::min(times, 1.0) * ratio, false, distance);
      EXPECT_LE(lane(A, 0) * lane(single.D[1], 0), 1e5 * (1 + 1e-12));
      for (int k = 0; k < 6; k++) {
        EXPECT_NEAR(lane(single.D[k], 0), lane(same.D[k], 0), 1e-12 * lane(same.D[k], 0));
        EXPECT_NEAR(lane(single.f[k], 0), lane(same.f[k], 0), 1e-12 * lane(same.f[k], 0));
        EXPECT_EQ(lane(single.aref[k], 0), lane(same.aref[k], 0));
      }
    }
  }
}

}  // namespace
}  // namespace featherstorm::test_rows
