// The robot as data for the kernels of a step (core/mujoco/stages.h) that serve all robots, compiled once for each
// instruction set (host/cpu/world_stages.cpp).
#pragma once
#include <optional>

#include "core/mujoco/stages.h"
#include "core/scalar/pack.h"
#include "core/trace/expr.h"

namespace featherstorm {

// A number of a model: a constant or, if `place` is not -1, that component of each instance's array model_numbers.
struct ModelNumber {
  double value = 0;
  int place = -1;

  ModelNumber() = default;
  ModelNumber(double x) : value(x) {}
  // An expression that is not constant is appended to `expressions`.
  explicit ModelNumber(Expr x);
  // A number that is not constant is loaded from `instances`.
  template <class Real, int W> explicit operator Pack<Real, W>() const {
    using T = Pack<Real, W>;
    return place < 0 ? T(value) : *reinterpret_cast<const T*>(static_cast<const Real*>(instances) + place * stride);
  }

  inline static thread_local std::vector<Expr>* expressions = nullptr;
  inline static thread_local const void* instances = nullptr;  // component c at instances[c * stride]
  inline static thread_local long stride = 0;
};

}  // namespace featherstorm

namespace Eigen {
template <> struct NumTraits<featherstorm::ModelNumber> : GenericNumTraits<double> {
  using Real = featherstorm::ModelNumber;
  using NonInteger = featherstorm::ModelNumber;
  using Nested = featherstorm::ModelNumber;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 1,
    ReadCost = 1,
    AddCost = 1,
    MulCost = 1
  };
};
}  // namespace Eigen

namespace featherstorm {

// Data of one robot.
struct WorldData {
  Model<ModelNumber> model;               // without sensors, and without geoms if no actuator has adhesion
  bool varies = false;                    // whether some of its numbers differ among instances
  std::optional<RigidLaw<double>> rigid;  // replaces MuJoCo's law
  RowPattern rows;                        // of constraints
  std::vector<int> alone;                 // bodies alone, for the integrator discrete (core/mujoco/discrete_step.h)
  bool damps = false;                     // whether the integrator includes slopes of forces
  bool touches = false;                   // whether the solver looks for contacts
  int weighed = 0;                        // rows of equalities with weights in model_numbers, from index first_weight
  int first_weight = 0;
  std::vector<Frame<ModelNumber>> zone;  // frames of touch and contact sensors whose world placements are requested
  int stage = 0;                         // of Runge-Kutta's method
};

}  // namespace featherstorm
