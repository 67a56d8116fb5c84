// Throughput of every operation on a GPU, as CSV lines: nanoseconds per instance, median and spread of 9 series of
// launches, transfers apart; results are compared before and after. Also what each kernel takes of the machine.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

#include "tests/gpu/batch.h"

namespace featherstorm::testing {
namespace {

using Clock = std::chrono::steady_clock;

template <class Op, class Real> void bench(const NamedRobot& robot, const GpuModel& model, int op, int count) {
  const Model<double>& m = robot.robot.model;
  std::vector<std::vector<std::vector<double>>> inputs;
  for (int i = 0; i < 512; i++) inputs.push_back(op_inputs<Op>(m, 1000 + i));
  Batch<Op, Real> batch(m, count, inputs);
  const int frame = m.nf - 1;
  CudaKernelInfo info;
  require(gpu().prepare(model.get(), op, sizeof(Real) == 8, &info));
  batch.launch(model, op, frame, 1, count);
  batch.download();
  const auto before = batch.out;

  auto seconds = [&](int launches) {
    const auto start = Clock::now();
    for (int k = 0; k < launches; k++) batch.launch(model, op, frame, 1, count);
    require(gpu().synchronise(0, nullptr));
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  // as many launches as take 20 ms
  int launches = 1;
  while (seconds(launches) < 0.02 && launches < 20000) launches *= 2;
  std::vector<double> ns;
  for (int k = 0; k < 9; k++) ns.push_back(seconds(launches) / launches / count * 1e9);
  std::sort(ns.begin(), ns.end());

  batch.download();
  bool same = true;
  for (std::size_t k = 0; k < before.size(); k++)
    same = same && std::memcmp(before[k].data.data(), batch.out[k].data.data(), before[k].data.size() * sizeof(Real)) == 0;
  std::printf("%s/%s/%s/cuda/run-time/B=%d,%.4f,%.4f,%.4f,%d,%d,%d,%s\n", std::string(Op::info.name).c_str(),
              robot.name.c_str(), sizeof(Real) == 4 ? "float" : "double", count, ns[4], ns[0], ns[8], launches,
              info.registers, info.local_bytes, same ? "same" : "DIFFERENT");
  std::fflush(stdout);
}

void run() {
  std::printf("bench,ns_per_instance_median,fastest,slowest,launches,registers,local_bytes,results_before_and_after\n");
  const std::vector<NamedRobot> robots = gpu_robots();
  for (int k = 0; k < 3; k++) {
    const GpuModel model(robots[k].robot.model);
    for_every_op([&](auto row, int op) {
      if (!on_device<decltype(row)>(robots[k].robot.model)) return;
      for (int count : {1, 4096, 65536}) bench<decltype(row), float>(robots[k], model, op, count);
      bench<decltype(row), double>(robots[k], model, op, 4096);
    });
  }
}

}  // namespace
}  // namespace featherstorm::testing

int main() try {
  featherstorm::testing::run();
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
