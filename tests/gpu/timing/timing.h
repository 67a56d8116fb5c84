// How long work on a device takes: by marks on a stream, of many launches captured into one graph, so that neither the
// host nor the rate at which it launches is measured; clocks are read while the device is at work.
#pragma once
#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "host/memory/device.h"
#include "host/memory/device_graph.h"
#include "tests/gpu/timing/clocks.h"

namespace featherstorm::testing {

// Seconds of one launch: median, least and most of some series.
struct Time {
  double median = 0, least = 0, most = 0;
  int launches = 0;              // of a series
  int slowest = 0, fastest = 0;  // clocks of multiprocessors during the series [MHz]; 0: unknown
};

struct TimingOptions {
  int series = 9;
  double seconds = 0.005;   // that a series takes at least
  double graph = 0.0015;    // that a graph takes
  int most_launches = 200;  // in a graph
  double warm = 0.2;        // of a device that has rested, before the first series
  double again = 0.01;      // of one that has not
  static TimingOptions quick() { return {2, 0, 0, 2, 0, 0}; }
};

class Stopwatch {
 public:
  using Work = std::function<void(void* stream)>;
  Stopwatch(void* stream, const TimingOptions& options) : stream_(stream), o_(options), timer_(0) {}

  const Clocks& clocks() const { return clocks_; }

  // `work` gives one launch to the stream. It has run before, so that nothing is loaded or taken any more.
  Time in_graph(const Work& work) {
    const auto by_stream = [&] { work(stream_); };
    const double one = seconds(by_stream, o_.most_launches > 2 ? 4 : 1);
    const int n = std::clamp(static_cast<int>(o_.graph / one), 1, o_.most_launches);
    const DeviceGraph graph(0, stream_, [&] {
      for (int k = 0; k < n; k++) work(stream_);
    });
    return series([&] { graph.launch(stream_); }, n);
  }
  // One launch behind the other as the host gives them: for small work the rate of launches.
  Time on_stream(const Work& work) {
    return series([&] { work(stream_); }, 1);
  }

 private:
  using Clock = std::chrono::steady_clock;
  double seconds(const std::function<void()>& job, int times) {
    timer_.start(stream_);
    for (int k = 0; k < times; k++) job();
    timer_.stop(stream_);
    return std::max(timer_.seconds(), 1e-9) / times;
  }
  Time series(const std::function<void()>& job, int launches) {
    const bool rested = std::chrono::duration<double>(Clock::now() - last_).count() > 0.1;
    const double one = seconds(job, 1), warm = rested ? o_.warm : o_.again;
    for (double done = one; done < warm;) {
      const int times = std::clamp(static_cast<int>((warm - done) / one), 1, 1000);
      done += seconds(job, times) * times;
    }
    const double now = seconds(job, 1);  // of a warm device
    const int times = std::clamp(static_cast<int>(o_.seconds / now) + 1, 1, 20000);
    std::vector<double> found;
    Time t;
    for (int k = 0; k < o_.series; k++) {
      timer_.start(stream_);
      for (int i = 0; i < times; i++) job();
      timer_.stop(stream_);
      const int mhz = clocks_.multiprocessors();
      found.push_back(timer_.seconds() / times / launches);
      t.slowest = k ? std::min(t.slowest, mhz) : mhz, t.fastest = std::max(t.fastest, mhz);
    }
    std::sort(found.begin(), found.end());
    t.median = found[found.size() / 2], t.least = found.front(), t.most = found.back(), t.launches = times * launches;
    last_ = Clock::now();
    return t;
  }

  void* stream_;
  TimingOptions o_;
  DeviceTimer timer_;
  Clocks clocks_;
  Clock::time_point last_{};
};

}  // namespace featherstorm::testing
