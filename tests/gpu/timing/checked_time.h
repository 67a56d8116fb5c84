// Time of a launch on a batch whose answers are compared with the host's, and bit for bit before and after.
#pragma once
#include "tests/gpu/timing/bench_report.h"
#include "tests/gpu/timing/device_batch.h"

namespace featherstorm::testing {

// Fills the row's time, error and result; `launch` writes all outputs of the batch.
template <class Real>
void check_and_time(ReportRow& r, const DeviceBatch<Real>& batch, const Repetitions& repetitions, Stopwatch& watch,
                    void* stream, const Stopwatch::Work& launch) {
  batch.poison();
  launch(stream);
  const auto before = batch.results();
  bool right = false;
  r.error = batch.error(before, &right);
  right = right && batch.repeats(repetitions);
  r.time = watch.in_graph(launch);
  right = right && batch.repeats(repetitions) && same_bits(batch.results(), before);
  r.result = right ? "same" : "DIFFERENT", r.instances = static_cast<double>(batch.count());
}

}  // namespace featherstorm::testing
