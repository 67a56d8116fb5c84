// The parts of the extension module, and the conversion of numbers to Python lists and arrays.
#pragma once
#include <nanobind/nanobind.h>

#include <string>

#include "core/trace/program.h"
#include "host/engine/evaluator.h"
#include "host/simulation/rollout.h"
#include "host/world/mujoco_tables.h"

namespace featherstorm {

void bind_robot(nanobind::module_& module);   // Robot, RobotBuilder, load, robots
void bind_edit(nanobind::module_& module);    // methods of RobotBuilder that make other robots, Joint, MassProperties
void bind_buffer(nanobind::module_& module);  // Buffer, copy, synchronise, cuda_devices
void bind_evaluator(nanobind::module_& module);   // Evaluator, operations, instruction_sets
void bind_trace(nanobind::module_& module);       // Trace, Symbol, traced
void bind_sequence(nanobind::module_& module);    // Sequence, Controls
void bind_simulation(nanobind::module_& module);  // Simulation, WorldReading
void bind_planning(nanobind::module_& module);    // SampledPlan, PlanUpdater
void bind_device(nanobind::module_& module);      // DeviceStream, DeviceGraph, elapsed
void bind_rays(nanobind::module_& module);        // rays against geoms

// "float32" or "float64"; throws TypeError for others.
Precision precision_of(const std::string& dtype);
// Throws Error for a type of geom (mjtGeom) without rays in closed form (core/collision/ray.h).
void check_closed_ray(int type);
// The arrays of a compiled MuJoCo model by name, flat, as float64.
MujocoTables tables_of(const nanobind::dict& arrays);
// The engine of a Python Evaluator, and the program of a Python Trace.
Evaluator& evaluator_of(nanobind::handle evaluator);
const Program& program_of(nanobind::handle trace);

struct RolloutPrograms {
  Stepping stepping;
  RolloutStages stages;
};

}  // namespace featherstorm
