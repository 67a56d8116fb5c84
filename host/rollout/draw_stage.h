// A stage of a Sequence that draws uniform numbers within (0, 1), for the random choices of an environment.
//
//   Sequence s(precision, threads);
//   s.array("key", 6), s.array("episode", 1), s.array("step", 1), s.array("u", 12);
//   s.stage(draw_stage(precision, isa, {.count = 12, .function = 2}, "u"));
//
// A number is a function of (seed, env, episode, step, function, slot) only (core/scalar/draws.h). It has the same bits
// for any batch size, position in the batch, block, thread and instruction set, and on a device. float32 and float64
// give exactly the same number, an odd multiple of 2^-24. Numbers with different seed, env, episode, step, function or
// slot are independent. The generator's key is that of noise (noise.h), so give a planner next to an environment
// another seed.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "core/scalar/draws.h"
#include "host/rollout/sequence.h"

namespace featherstorm {

struct DrawOptions {
  int count = 1;               // components of the array that is filled, 1 to most_draws
  std::uint32_t function = 0;  // number of the environment's function that draws, below most_draw_functions
  bool next_episode = false;   // draw the numbers of step 0 of the next episode, for a reset

  // Arrays that the stage reads; none may be uniform.
  std::string key = "key";  // (6) the seed as four pieces of 16 bits, the env's number as two, lowest first (draw_key)
  std::string episode = "episode";  // (1) an integer from 0 to 2^24 - 1
  std::string step = "step";        // (1) the same
  // (1) The stage draws for instances whose number in this array is above zero. For others the numbers are undefined
  // and must not be read. The host skips groups of draw_group instances that do not need them. "": all instances draw.
  std::string needed{};
};

// Return the stage. isa: instruction set of the host's loops; empty: the widest of this machine. out (count): array
// that is filled.
//
// Throws Error for less than 1 or more than most_draws numbers, and for a function out of range.
Stage draw_stage(Precision precision, const std::string& isa, const DrawOptions& options, const std::string& out);

// Return the six numbers of `key`.
std::array<double, 6> draw_key(std::uint64_t seed, std::uint32_t env);

}  // namespace featherstorm
