// Steps of a world whose contacts are found on the device (host/rollout/cuda_stages.h), and the same sequence on the host.
#pragma once
#include <algorithm>
#include <cmath>

#include "host/load/load.h"
#include "host/memory/device.h"
#include "host/simulation/world_sequence.h"
#include "tests/support/robots/touching_world.h"

namespace featherstorm::testing {

class WorldSteps {
 public:
  WorldSteps(const Robot& robot, Precision p, long steps, long count, void* stream)
      : evaluator_(robot, {}),
        sequence_(world_sequence(evaluator_, p, {100, p == Precision::float32 ? 1e-6 : 1e-12})),
        steps_(steps),
        count_(count),
        stream_(stream) {
    const Model<double>& m = evaluator_.robot().model;
    sizes_ = {m.nq, m.nv, m.nv};
    for (const int n : sizes_) {
      host_.emplace_back(p, count, n), host_end_.emplace_back(p, count, n);
      there_.emplace_back(p, count, n, 0, stream), there_end_.emplace_back(p, count, n, 0, stream);
    }
    rows_ = Buffer(p, count, 1);
    start(0);
  }

  // Bodies low above the ground, or arms anywhere near zero, moving slowly; accelerations unknown.
  void start(double phase) {
    const bool floats = sizes_[0] > sizes_[1];
    for (long i = 0; i < count_; i++) {
      for (long k = 0; k < sizes_[0]; k++) {
        const double x = std::sin(1.3 * static_cast<double>(i) + 2.1 * static_cast<double>(k) + phase);
        set(host_[0], i, k, !floats ? x : k == 2 ? 0.2 + 0.1 * x : k == 3 ? 1.0 : k < 7 ? 0.0 : 0.8 * x);
      }
      for (long k = 0; k < sizes_[1]; k++)
        set(host_[1], i, k, 0.3 * std::cos(0.7 * static_cast<double>(i) + static_cast<double>(k) + phase));
    }
    for (int k = 0; k < 2; k++) copy(host_[k].ref(), there_[k].ref(), stream_);
  }

  void run(void* stream) const { go(there_, there_end_, nullptr, stream); }

  // The greatest difference from the host's positions and velocities, which it runs through, beside the greatest number.
  double error() {
    go(host_, host_end_, &rows_, nullptr);
    double worst = 0, scale = 1e-3;
    for (int k = 0; k < 2; k++) {
      const Buffer back(host_[k].ref().precision, count_, sizes_[k]);
      copy(there_end_[k].ref(), back.ref(), stream_);
      for (long i = 0; i < count_; i++)
        for (long c = 0; c < sizes_[k]; c++) {
          const double x = get(host_end_[k], i, c), d = std::abs(x - get(back, i, c));
          scale = std::max(scale, std::abs(x)), worst = d <= HUGE_VAL ? std::max(worst, d) : HUGE_VAL;
        }
    }
    return worst / scale;
  }
  // Of the last step that error() has run through: rows with a force, the mean of all instances.
  double mean_rows() const {
    double sum = 0;
    for (long i = 0; i < count_; i++) sum += get(rows_, i, 0);
    return sum / static_cast<double>(count_);
  }
  // Positions and velocities as they came out.
  std::vector<double> results() const {
    std::vector<double> all;
    for (int k = 0; k < 2; k++) {
      const Buffer back(host_[k].ref().precision, count_, sizes_[k]);
      copy(there_end_[k].ref(), back.ref(), stream_);
      for (long i = 0; i < count_; i++)
        for (long c = 0; c < sizes_[k]; c++) all.push_back(get(back, i, c));
    }
    return all;
  }

 private:
  static void set(const Buffer& b, long i, long c, double x) {
    if (b.ref().precision == Precision::float32) b.component<float>(c)[i] = static_cast<float>(x);
    else b.component<double>(c)[i] = x;
  }
  static double get(const Buffer& b, long i, long c) {
    return b.ref().precision == Precision::float32 ? b.component<float>(c)[i] : b.component<double>(c)[i];
  }
  void go(const std::vector<Buffer>& from, const std::vector<Buffer>& to, const Buffer* rows, void* stream) const {
    std::vector<SequenceMemory> in, out;
    int k = 0;
    for (const char* name : {"q", "v", "qacc"}) {
      in.push_back({name, from[static_cast<std::size_t>(k)].ref()});
      out.push_back({name, to[static_cast<std::size_t>(k++)].ref()});
    }
    if (rows) out.push_back({"rows", rows->ref()});
    sequence_.run(steps_, count_, in, {}, out, nullptr, stream);
  }

  Evaluator evaluator_;
  Sequence sequence_;
  long steps_, count_;
  void* stream_;
  std::vector<int> sizes_;
  std::vector<Buffer> host_, host_end_, there_, there_end_;
  Buffer rows_;
};

}  // namespace featherstorm::testing
