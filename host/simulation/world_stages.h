// Stages of a step of a model file's world with the robot as data, on the host. They serve robots whose programs
// (host/trace/world_programs.h) are too long to be assembled. The arrays are the same; the kernels serve all robots
// (host/cpu/world_stages.cpp).
#pragma once
#include <optional>

#include "core/rigid/rigid_rows.h"
#include "host/rollout/sequence.h"
#include "host/trace/world_programs.h"

namespace featherstorm {

struct WorldStages {
  WorldPrograms form;  // everything except the programs and the tree
  // Computes `touch` and model_numbers, the numbers of the model that depend on parameters, from the parameters. Absent
  // without parameters.
  std::optional<Program> numbers;
  long model_numbers = 0;     // components of that array, 0 without parameters
  Stage equations, advance;   // inputs: those of the programs, then model_numbers in place of the parameters
  std::vector<Stage> stages;  // of Runge-Kutta's method, four or none
};

// Build the stages. why: the reason why the step is not traced, for the error on a device. rigid, zones: as in
// world_programs. Throws Error if the library of the instruction set is not installed, and the errors of
// world_programs.
WorldStages world_stages(const Model<double>& model, const Parameters& parameters, const RigidLaw<double>* rigid,
                         const std::vector<int>& zones, Precision precision, const std::string& isa,
                         const std::string& why);

}  // namespace featherstorm
