// Stages of a step of a model file's world with the robot as data, for robots whose programs (host/trace/world_programs.h) are too long to
// be assembled: the same arrays in and out, by kernels that serve all robots (host/cpu/world_stages.cpp), on the host.
#pragma once
#include <optional>

#include "core/rigid/rigid_rows.h"
#include "host/rollout/sequence.h"
#include "host/trace/world_programs.h"

namespace featherstorm {

struct WorldStages {
  WorldPrograms form;  // all but its programs, and its tree
  // From the parameters to `touch` and to model_numbers, those numbers of the model that follow from them; none without parameters.
  std::optional<Program> numbers;
  long model_numbers = 0;     // of that array, 0 without parameters
  Stage equations, advance;   // in: behind those of the programs model_numbers in place of the parameters
  std::vector<Stage> stages;  // of Runge-Kutta's method, four or none
};

// why: the step is not traced, for who asks for it on a device. rigid, zones: as of world_programs. Throws Error where the library of an instruction set is not installed, and as world_programs.
WorldStages world_stages(const Model<double>& model, const Parameters& parameters, const RigidLaw<double>* rigid,
                         const std::vector<int>& zones, Precision precision, const std::string& isa,
                         const std::string& why);

}  // namespace featherstorm
