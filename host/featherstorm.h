// The public header of featherstorm.
//
//   Robot       load("go2"), load("robot.urdf"), with_ground(...), RobotBuilder
//   Buffer      arrays of a batch, on the host or on a CUDA device; ArrayRef for arrays of your own
//   with_world  the world of an mjModel of your own
//   Evaluator   every operation of the table, by name, for a batch of states
//   Simulation  the state of a batch, stepped with contacts, actuators and sensors
//   Rollout     control sequences over a horizon, with costs, for planning
//   Planner     predictive sampling, MPPI and the cross-entropy method over a Rollout
//   Ilqr        plans by gradients, iterative LQR with bounds, for costs and residuals
//   Receding    a planner in a thread of its own, for a robot in real time
//   Reduction   least values and weighted means over samples, for planners of your own
//   Error       thrown for a wrong argument, before anything is written
//
// docs/cpp.md shows programs. Headers that this file does not include are internal.
#pragma once
#include "core/joint/user_joint.h"
#include "core/model/builder.h"
#include "host/engine/evaluator.h"
#include "host/load/load.h"
#include "host/load/urdf_world.h"
#include "host/memory/buffer.h"
#include "host/planning/ilqr.h"
#include "host/planning/planner.h"
#include "host/planning/receding.h"
#include "host/robots/robots.h"
#include "host/rollout/controls.h"
#include "host/rollout/reduction.h"
#include "host/rollout/sequence.h"
#include "host/simulation/rollout.h"
#include "host/simulation/simulation.h"
#include "host/system/error.h"
#include "host/world/world_of.h"
