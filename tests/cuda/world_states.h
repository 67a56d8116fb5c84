// States of a robot with a world, for launches of kernels of its step.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "tests/support/robots/random_robot.h"

namespace featherstorm::testing {

// Numbers of one instance by the names of arrays.
template <class T> using Values = std::map<std::string, std::vector<T>>;

// A state of an instance; what there is no rule for is small and random.
class States {
 public:
  explicit States(const Model<double>& m) : m_(m) {}

  Values<double> operator()(unsigned seed) const {
    Random random(seed);
    const auto numbers = [&](int n, double size) {
      std::vector<double> x(static_cast<std::size_t>(n));
      for (double& y : x) y = random.uniform(-size, size);
      return x;
    };
    Values<double> x;
    x["q"] = numbers(m_.nq, 0.4), x["v"] = numbers(m_.nv, 0.8);
    if (m_.nq == m_.nv + 1) {  // a free base near the ground
      x["q"][2] = 0.15 + 0.1 * random.uniform(0, 1);
      store_unit_quaternion(random, &x["q"][3]);
    }
    x["act"] = numbers(m_.world.na, 0.5), x["ctrl"] = numbers(m_.world.nu, 1);
    x["qfrc_applied"] = numbers(m_.nv, 0.5), x["xfrc_applied"] = numbers(6 * m_.world.n_links(), 0.3);
    x["qacc"] = numbers(m_.nv, 2), x["env_action"] = numbers(m_.world.nu, 1);
    return x;
  }

 private:
  const Model<double>& m_;
};

}  // namespace featherstorm::testing
