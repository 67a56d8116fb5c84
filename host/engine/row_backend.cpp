#include "host/engine/row_backend.h"

namespace featherstorm {

EngineRobot::EngineRobot(const Robot& robot, EvaluatorOptions given)
    : robot(robot), options(std::move(given)), parameters(robot, options.parameters), rows(robot.model, parameters) {}

Program EngineRobot::program(const OpRow& row, int frame, int most) const {
  Program p = specialised_program(operation(row, frame), robot.model, most);
  if (options.before_making) options.before_making(p);
  return p;
}

void EngineRobot::notify(const std::string& what) {
  std::lock_guard lock(mutex_);
  if (reported_.insert(what).second && options.notice) options.notice(what);
}

void EngineRobot::record(CheckedKernel check) {
  std::lock_guard lock(mutex_);
  checks_.push_back(std::move(check));
}

std::vector<CheckedKernel> EngineRobot::checks() const {
  std::lock_guard lock(mutex_);
  return checks_;
}

}  // namespace featherstorm
