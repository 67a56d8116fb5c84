// Uniform random numbers by counter: Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy
// as 1, 2, 3"). There is no state: a number is a function of its counter,
//
//   w = philox(counter = (env, episode, step, 2^16 function + floor(slot / 4)), key = seed), 4 words of 32 bits
//   u = (floor(w[slot mod 4] / 2^9) + 1/2) / 2^23
//
// within (0, 1): an odd multiple of 2^-24. A float holds it exactly, so float and double are equal.
#pragma once
#include <cstdint>

// Inlined, because code compiled for one instruction set may not be used for another.
#ifdef __CUDACC__
#define FEATHERSTORM_DRAWS_INLINE __host__ __device__ __forceinline__
#else
#define FEATHERSTORM_DRAWS_INLINE inline __attribute__((always_inline))
#endif

namespace featherstorm {

// Parameters of a stage that draws, the same for all instances (host/rollout/draw_stage.h).
struct UniformDraw {
  int count;               // numbers per instance, its slots
  std::uint32_t function;  // below 2^16; each function draws other numbers
  bool next_episode;       // counts episode + 1 and step 0
  bool conditional;        // draws only where it is needed
};
inline constexpr int most_draws = 4 * 65536;
inline constexpr std::uint32_t most_draw_functions = 65536;

struct PhiloxWords { std::uint32_t word[4]; };

// counter, key = (low, high)
FEATHERSTORM_DRAWS_INLINE PhiloxWords philox(PhiloxWords x, std::uint32_t low, std::uint32_t high) {
  for (int round = 0; round < 10; round++) {
    const std::uint64_t p = 0xd2511f53ull * x.word[0], q = 0xcd9e8d57ull * x.word[2];
    x = {{static_cast<std::uint32_t>(q >> 32) ^ x.word[1] ^ low, static_cast<std::uint32_t>(q),
          static_cast<std::uint32_t>(p >> 32) ^ x.word[3] ^ high, static_cast<std::uint32_t>(p)}};
    low += 0x9e3779b9, high += 0xbb67ae85;
  }
  return x;
}

template <class Real>
FEATHERSTORM_DRAWS_INLINE Real uniform_of(std::uint32_t word) {
  return (static_cast<Real>(static_cast<std::int32_t>(word >> 9)) + Real(0.5)) * (Real(1) / 8388608);
}

// The words of an instance's counter. `key` has the seed as four pieces of 16 bits and the instance's index as two,
// lowest first; all are whole numbers below 2^24.
struct DrawCounter { std::uint32_t low, high, env, episode, step; };
template <class Real, class Key>
FEATHERSTORM_DRAWS_INLINE DrawCounter draw_counter(const UniformDraw& draw, const Key& key, Real episode, Real step) {
  const auto whole = [](Real x) { return static_cast<std::uint32_t>(static_cast<std::int32_t>(x)); };
  const std::uint32_t next = draw.next_episode ? 1u : 0u;
  return {whole(key(0)) | whole(key(1)) << 16, whole(key(2)) | whole(key(3)) << 16, whole(key(4)) | whole(key(5)) << 16,
          whole(episode) + next, next ? 0u : whole(step)};
}

// Slots 4 group to 4 group + 3.
FEATHERSTORM_DRAWS_INLINE PhiloxWords draw_words(const UniformDraw& draw, const DrawCounter& c, std::uint32_t group) {
  return philox({{c.env, c.episode, c.step, draw.function << 16 | group}}, c.low, c.high);
}

}  // namespace featherstorm
