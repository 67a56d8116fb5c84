// The robot of trot.cpp in MuJoCo C: a Go2 with all of its collision elements and motors at its joints, from a model that
// tests/test_consumer.sh writes. Elliptic friction cones, as featherstorm.control has them.
#pragma once
#include <mujoco/mujoco.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>

#include "quadruped.h"

class InMujoco : public Quadruped {
 public:
  explicit InMujoco(const std::string& file) : model_(mj_loadModel(file.c_str(), nullptr), mj_deleteModel) {
    if (!model_ || model_->nq != 19 || model_->nu != 12 || model_->opt.timestep != timestep)
      throw std::runtime_error(file + " is not the model of a Go2");
    model_->opt.cone = mjCONE_ELLIPTIC, model_->opt.impratio = 100;
    data_ = {mj_makeData(model_.get()), mj_deleteData};
    const State x = standing();
    std::copy_n(x.begin(), 19, data_->qpos);
    mj_forward(model_.get(), data_.get());
  }
  State state() const override {
    State x;
    std::copy_n(data_->qpos, 19, x.begin()), std::copy_n(data_->qvel, 18, x.begin() + 19);
    return x;
  }
  void step(const double* torque) override {
    std::copy_n(torque, 12, data_->ctrl);
    mj_step(model_.get(), data_.get());
  }

 private:
  std::unique_ptr<mjModel, void (*)(mjModel*)> model_;
  std::unique_ptr<mjData, void (*)(mjData*)> data_{nullptr, mj_deleteData};
};
