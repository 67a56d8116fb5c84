// Results of every operation on a GPU against the reference in double, for every robot, precision and batch size.
//
//   gpu_results           all of it            gpu_results quick    a small part, for compute-sanitizer
//   gpu_results device    prints a name for the folder of results
//
// Outputs and padding are filled with NaN before, every instance is different and every instance is compared; the same
// bits are demanded of a second launch and of an instance alone.
#include <cctype>
#include <cstring>
#include <memory>

#include "tests/gpu/batch.h"
#include "tests/gpu/reference.h"

namespace featherstorm::testing {
namespace {

int failures = 0, launches = 0;
constexpr int distinct = 4099;

void fail(const std::string& where, const std::string& what) {
  failures++;
  std::printf("FAILED  %s: %s\n", where.c_str(), what.c_str());
}

template <class Real> bool same_bits(Real a, Real b) { return std::memcmp(&a, &b, sizeof a) == 0; }

template <class Op, class Real>
void check(const NamedRobot& robot, const GpuModel& model, const Reference& r, int op, int count, int frame, int repeat) {
  const std::string where = std::string(Op::info.name) + "/" + robot.name + "/" + (sizeof(Real) == 4 ? "float" : "double") +
                            "/B=" + std::to_string(count) + "/repeat=" + std::to_string(repeat);
  const auto& tolerance = sizeof(Real) == 4 ? r.tolerance_float : r.tolerance_double;
  Batch<Op, Real> batch(robot.robot.model, count, r.inputs);
  batch.launch(model, op, frame, repeat, count);
  batch.download();
  launches++;
  double worst = 0;
  bool stray = false;
  for (std::size_t k = 0; k < batch.out.size(); k++)
    for (int c = 0; c < batch.out[k].components; c++) {
      for (int i = 0; i < count; i++) {
        const double e = std::abs(batch.out[k].at(c, i) - r.exact[i][k][c]) / tolerance[k];
        worst = e <= worst ? worst : std::isnan(e) ? std::numeric_limits<double>::infinity() : e;
      }
      for (int i = count; i < batch.out[k].stride; i++) stray = stray || !std::isnan(batch.out[k].at(c, i));
    }
  if (worst > 1) fail(where, "error is " + std::to_string(worst) + " of the tolerance");
  if (stray) fail(where, "wrote behind the last instance");
  std::printf("%s  error %.3f of the tolerance\n", where.c_str(), worst);

  // determinism: a second launch, and the last instance alone
  const auto first = batch.out;
  batch.launch(model, op, frame, repeat, count);
  batch.download();
  bool same = true;
  for (std::size_t k = 0; k < first.size(); k++)
    for (std::size_t j = 0; j < first[k].data.size(); j++) same = same && same_bits(first[k].data[j], batch.out[k].data[j]);
  if (!same) fail(where, "a second launch gave other bits");
  if (count > 1) {
    Batch<Op, Real> alone(robot.robot.model, 1, {r.inputs[count - 1]});
    alone.launch(model, op, frame, repeat, 1);
    alone.download();
    for (std::size_t k = 0; k < first.size(); k++)
      for (int c = 0; c < first[k].components; c++)
        same = same && same_bits(alone.out[k].at(c, 0), first[k].at(c, count - 1));
    if (!same) fail(where, "the last instance alone gave other bits");
  }
}

int run(bool quick) {
  std::vector<NamedRobot> robots = gpu_robots();
  const std::vector<int> counts = quick ? std::vector<int>{1, 67} : std::vector<int>{0, 1, 17, distinct};
  if (quick) robots = {robots[1], robots.back()};
  for (const NamedRobot& robot : robots) {
    const GpuModel model(robot.robot.model);
    for_every_op([&](auto row, int op) {
      using Op = decltype(row);
      if (!on_device<Op>(robot.robot.model)) return;
      const int frame = robot.robot.model.nf - 1;
      for (int repeat : {1, 3}) {
        if (repeat > 1 && !Op::info.carried) continue;
        const Reference r = reference<Op>(robot.robot.model, counts.back(), frame, repeat);
        for (int count : counts) {
          check<Op, float>(robot, model, r, op, count, frame, repeat);
          check<Op, double>(robot, model, r, op, count, frame, repeat);
        }
      }
    });
  }
  std::printf("%d launches compared, %d failures\n", launches, failures);
  return failures || !launches;
}

int device() {
  CudaDevice info;
  require(gpu().device_info(0, &info));
  std::string name;
  for (const char* c = info.name; *c; c++)
    name += std::isalnum(static_cast<unsigned char>(*c)) ? static_cast<char>(std::tolower(*c)) : '-';
  std::printf("%s\n", name.c_str());
  return 0;
}

}  // namespace
}  // namespace featherstorm::testing

int main(int argc, char** argv) try {
  using namespace featherstorm::testing;
  const std::string what = argc > 1 ? argv[1] : "";
  return what == "device" ? device() : run(what == "quick");
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
