// A stage of a Sequence that draws: uniform numbers within (0, 1) for what an environment leaves to chance.
//
//   Sequence s(precision, threads);
//   s.array("key", 6), s.array("episode", 1), s.array("step", 1), s.array("u", 12);
//   s.stage(draw_stage(precision, isa, {.count = 12, .function = 2}, "u"));
//
// A number is a function of (seed, env, episode, step, function, slot) alone (core/scalar/draws.h): of any batch size, place in the
// batch, block, thread and instruction set, and on a device, it has the same bits. In float32 and float64 it is the same number exactly,
// an odd multiple of 2^-24. Seeds, envs, episodes, steps, functions and slots that differ have independent numbers; the key is that of
// noise (noise.h), so give a planner beside an environment another seed.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "core/scalar/draws.h"
#include "host/rollout/sequence.h"

namespace featherstorm {

struct DrawOptions {
  int count = 1;               // numbers: the components of the array that is filled, 1 to most_draws
  std::uint32_t function = 0;  // which function of the environment draws, below most_draw_functions
  bool next_episode = false;   // numbers of step 0 of the episode after this one, which a reset draws

  // Arrays that the stage reads, none of them uniform.
  std::string key =
      "key";  // (6) the seed as four pieces of 16 bits and the env's number as two, lowest first: draw_key
  std::string episode = "episode";  // (1) a whole number from 0 to 2^24 - 1
  std::string step = "step";        // (1) the same
  // (1) An array: what is drawn for instances whose number there is not above zero is not defined, and not read. On the host groups of
  // draw_group instances of which none needs it take no time. "": all instances are drawn.
  std::string needed{};
};

// isa: whose loops draw on the host; empty: the widest of this machine. out (count): what is filled.
// Throws Error where there are less than 1 or more than most_draws numbers, and for a function that is out of range.
Stage draw_stage(Precision precision, const std::string& isa, const DrawOptions& options, const std::string& out);

// The six numbers of `key`.
std::array<double, 6> draw_key(std::uint64_t seed, std::uint32_t env);

}  // namespace featherstorm
