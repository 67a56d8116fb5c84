// The robot of a step (core/mujoco/stages.h) as data of kernels that serve all robots, compiled once for each instruction set
// (host/cpu/world_stages.cpp).
#pragma once
#include <optional>

#include "core/mujoco/stages.h"
#include "core/scalar/pack.h"
#include "core/trace/expr.h"

namespace featherstorm {

// A number of a model: a constant, or where `place` is not -1, that component of the array model_numbers of each instance.
struct ModelNumber {
  double value = 0;
  int place = -1;

  ModelNumber() = default;
  ModelNumber(double x) : value(x) {}
  // A number that is no constant is added to `expressions`.
  explicit ModelNumber(Expr x);
  // A number that is no constant is taken from `instances`.
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
  Model<ModelNumber> model;               // without sensors, and without geoms where no body has adhesion
  bool varies = false;                    // whether some of its numbers differ from instance to instance
  std::optional<RigidLaw<double>> rigid;  // in place of MuJoCo's law
  RowPattern rows;                        // of constraints
  std::vector<int> alone;  // bodies on their own, of the integrator discrete (core/mujoco/discrete_step.h)
  bool damps = false;      // whether the integrator takes slopes of forces along
  bool touches = false;    // whether the solver looks for contacts
  int weighed = 0;         // rows of equalities that model_numbers has weights of, from number first_weight on
  int first_weight = 0;
  std::vector<Frame<ModelNumber>> zone;  // of touch and contact sensors, whose places in the world are asked for
  int stage = 0;                         // of Runge-Kutta's method
};

}  // namespace featherstorm
