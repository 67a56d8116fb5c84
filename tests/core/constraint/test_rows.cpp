// Rows of constraints: those whose Jacobian is zero are turned off, one constraint at a time.
#include "core/constraint/constraint_rows.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace featherstorm::test_rows
