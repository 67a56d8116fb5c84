// Results of every operation on a GPU against the reference in double, for every robot, precision and batch size, by the
// kernels that serve any robot.
//
//   gpu_results           all of it            gpu_results quick    every row on a small robot, for compute-sanitizer
//   gpu_results device    prints a name for the folder of results
//
// Outputs and padding are filled with NaN before, every instance is different and every instance is compared; the same
// bits are demanded of a second launch and of an instance alone.
#include <cctype>
#include <cstring>

#include "tests/gpu/answers/batch.h"
#include "tests/gpu/answers/reference.h"

namespace featherstorm::testing {
namespace {

constexpr int distinct = 4099;

template <class Real> bool same_bits(Real a, Real b) { return std::memcmp(&a, &b, sizeof a) == 0; }

template <class Real>
void check(const std::string& where, const NamedRobot& robot, const GpuModel& model, const Reference& r,
           const RowText& row, int count, int frame, int repeat) {
  tally().cases++;
  Batch<Real> batch(row, robot.robot.model, count, r.inputs);
  batch.launch(model, row.op, frame, repeat, count);
  batch.download();
  const double worst =
      worst_of<Real>(r, count, [&](int k, int c, int i) { return static_cast<double>(batch.out[k].at(c, i)); });
  bool stray = false;
  for (const auto& out : batch.out)
    for (int c = 0; c < out.components; c++)
      for (int i = count; i < out.stride; i++) stray = stray || !std::isnan(out.at(c, i));
  if (stray) failed(where, "wrote behind the last instance");
  if (worst > 1) failed(where, "error is " + std::to_string(worst) + " of the tolerance");
  else line("%s  error %.3f of the tolerance", where.c_str(), worst);

  // determinism: a second launch, and the last instance alone
  const auto first = batch.out;
  batch.launch(model, row.op, frame, repeat, count);
  batch.download();
  bool same = true;
  for (std::size_t k = 0; k < first.size(); k++)
    for (std::size_t j = 0; j < first[k].data.size(); j++)
      same = same && same_bits(first[k].data[j], batch.out[k].data[j]);
  if (!same) failed(where, "a second launch gave other bits");
  if (count < 2) return;
  Batch<Real> alone(row, robot.robot.model, 1, {r.inputs[count - 1]});
  alone.launch(model, row.op, frame, repeat, 1);
  alone.download();
  same = true;
  for (std::size_t k = 0; k < first.size(); k++)
    for (int c = 0; c < first[k].components; c++)
      same = same && same_bits(alone.out[k].at(c, 0), first[k].at(c, count - 1));
  if (!same) failed(where, "the last instance alone gave other bits");
}

// One row of the table on one robot.
void check_row(const NamedRobot& robot, const GpuModel& model, const RowText& row, const std::vector<int>& counts) {
  const int frame = robot.robot.model.nf - 1;
  for (int repeat : {1, 3}) {
    if (repeat > 1 && !row.carried) continue;
    const Reference r = reference(row, robot.robot.model, counts.back(), frame, repeat);
    for (int count : counts) {
      const auto where = [&](const char* precision) {
        return std::string(row.name) + "/" + robot.name + "/" + precision + "/B=" + std::to_string(count) +
               "/repeat=" + std::to_string(repeat);
      };
      std::string name = where("float");
      attempt(name, [&] { check<float>(name, robot, model, r, row, count, frame, repeat); });
      name = where("double");
      attempt(name, [&] { check<double>(name, robot, model, r, row, count, frame, repeat); });
    }
  }
}

int run(bool quick) {
  std::vector<NamedRobot> robots = quick ? quick_robots() : gpu_robots();
  if (!quick)
    for (NamedRobot& r : constrained_robots()) robots.push_back(std::move(r));
  const std::vector<int> counts = quick ? std::vector<int>{67} : std::vector<int>{0, 1, 17, distinct};
  Coverage coverage;
  for (const NamedRobot& robot : robots)
    attempt(robot.name, [&] {
      const GpuModel model(robot.robot.model);
      for_every_op([&](auto row, int op) {
        using Op = decltype(row);
        if (!takes_part<Op>(robot)) return;
        attempt(std::string(Op::info.name) + "/" + robot.name, [&] {
          check_row(robot, model, row_text<Op>(), counts);
          coverage.ran(op);
        });
      });
    });
  coverage.report();
  return finish("cases compared");
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
