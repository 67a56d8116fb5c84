// Throughput of the kernels made for one robot, as CSV lines, in several forms (order of statements, limit on
// registers, threads in a block), beside the kernel for any robot; results are compared with it and before and after.
//
//   gpu_specialised [ROWS.csv]    ROWS.csv: is written: the fastest of them as rows of the dispatch table
//   gpu_specialised quick         small, for a test without a GPU
#include <cstring>
#include <fstream>

#include "host/bodies.h"
#include "host/error.h"
#include "host/load.h"
#include "host/specialised_program.h"
#include "tests/gpu/program.h"

namespace featherstorm::testing {
namespace {

bool quick = false;
int failures = 0;
std::ofstream rows;

std::vector<NamedRobot> robots() {
  std::vector<NamedRobot> all;
  for (const char* name : {"iiwa14", "go2", "atlas"}) all.push_back({name, load(name)});
  if (quick) all.erase(all.begin() + 1, all.end());
  return all;
}

template <class Real>
bool same_bits(const std::vector<BatchArray<Real>>& a, const std::vector<BatchArray<Real>>& b) {
  for (std::size_t k = 0; k < a.size(); k++)
    if (std::memcmp(a[k].data.data(), b[k].data.data(), a[k].data.size() * sizeof(Real)) != 0) return false;
  return true;
}
// Against the kernel for any robot, whose results gpu_results has compared with the reference.
template <class Real>
double distance(const std::vector<BatchArray<Real>>& a, const std::vector<BatchArray<Real>>& b, int count) {
  double worst = 0;
  for (std::size_t k = 0; k < a.size(); k++) {
    double scale = 1e-3;
    for (int c = 0; c < a[k].components; c++)
      for (int i = 0; i < count; i++) scale = std::max(scale, std::abs(double(b[k].at(c, i))));
    for (int c = 0; c < a[k].components; c++)
      for (int i = 0; i < count; i++) {
        const double e = std::abs(double(a[k].at(c, i)) - b[k].at(c, i)) / scale;
        worst = e <= worst ? worst : std::isnan(e) ? std::numeric_limits<double>::infinity() : e;
      }
  }
  return worst;
}

struct Form {
  std::string name;
  DeviceForm form;
  int threads;
  std::shared_ptr<GpuProgram> program;
};

template <class Op, class Real>
void bench(const NamedRobot& robot, int op) {
  const Model<double>& m = robot.robot.model;
  const GpuModel model(m);
  const bool double_precision = sizeof(Real) == 8;
  const CudaDevice device = device_info();
  const int frame = Op::info.uses_frame ? m.nf - 1 : 0;
  const Program p = specialised_program({op, frame}, m);
  const DeviceKernel best = compile_for_device(p, double_precision, nvrtc(), device_target());
  std::vector<Form> forms;
  for (std::string_view order : {"trace", "greedy", "sethi_ullman"})
    for (int blocks : {0, 6, 8}) {
      if (blocks > 0 && order != best.form.order) continue;
      const DeviceForm form{order, blocks};
      const auto program =
          std::make_shared<GpuProgram>(nvrtc().compile(device_text(p, double_precision, form), device_target()).image);
      for (int threads : {32, 64})
        forms.push_back({std::string(order) + ":" + std::to_string(blocks) + ":" + std::to_string(threads), form,
                         threads, program});
    }

  const Bodies bodies = bodies_of(p, m);
  for (int warps : {2, 4, 5}) {
    const DeviceForm form{"greedy", 0, warps};
    std::string text;
    try {
      text = device_text(p, double_precision, form, &bodies);
    } catch (const Error&) { continue; }  // not so many limbs
    forms.push_back({"greedy:0:32x" + std::to_string(warps), form, 32,
                     std::make_shared<GpuProgram>(nvrtc().compile(text, device_target()).image)});
  }

  std::vector<std::vector<std::vector<double>>> inputs;
  for (int i = 0; i < 512; i++) inputs.push_back(op_inputs<Op>(m, 1000 + i));
  std::vector<int> counts = {1, 32 * device.multiprocessors, 4096, 65536, 1 << 20};
  if (quick) counts = {1, 67};
  for (int count : counts) {
    Batch<Op, Real> batch(m, count, inputs);
    batch.launch(model, op, frame, 1, count);
    batch.download();
    const auto reference = batch.out;
    const std::string name = std::string(Op::info.name) + "/" + robot.name + "/" +
                             (double_precision ? "double" : "float") + "/cuda/",
                      size = "/B=" + std::to_string(count);
    const auto report = [&](const std::string& form, const CudaKernelInfo& info, const Time& t,
                            const std::string& results) {
      std::printf("%s%s%s,%.4f,%.4f,%.4f,%d,%d,%d,%s\n", name.c_str(), form.c_str(), size.c_str(),
                  t.median / count * 1e9, t.least / count * 1e9, t.most / count * 1e9, t.launches, info.registers,
                  info.local_bytes, results.c_str());
      std::fflush(stdout);
    };
    CudaKernelInfo info;
    require(gpu().prepare(model.get(), op, double_precision, &info));
    const Time run_time = time_of([&] { batch.launch(model, op, frame, 1, count); });
    report("run-time", info, run_time, "reference");

    std::vector<Array> in, out;
    std::vector<Real> uniform;
    for (const auto& a : batch.device_in) in.push_back(a->array());
    for (const auto& u : batch.uniform) in.push_back({nullptr, 0}), uniform.insert(uniform.end(), u.begin(), u.end());
    for (auto& a : batch.device_out) out.push_back(a->array());
    if (uniform.empty()) uniform.push_back(0);
    const Form* fastest = nullptr;
    double least = run_time.median;
    for (const Form& f : forms) {
      const auto once = [&] { f.program->launch(in, out, uniform.data(), 1, count * f.form.warps, f.threads * f.form.warps); };
      for (auto& a : batch.out) std::fill(a.data.begin(), a.data.end(), std::numeric_limits<Real>::quiet_NaN());
      for (std::size_t k = 0; k < batch.out.size(); k++) batch.device_out[k]->upload(batch.out[k]);
      once();
      batch.download();
      const auto before = batch.out;
      const double off = distance(before, reference, count);
      const Time t = time_of(once);
      batch.download();
      const bool right = off < (double_precision ? 1e-8 : 5e-3) && same_bits(before, batch.out);
      failures += !right;
      report("specialised:" + f.name, f.program->info, t, right ? "same" : "DIFFERENT");
      if (right && t.median < least) least = t.median, fastest = &f;
    }
    if (rows.is_open())
      rows << robot.name << "," << Op::info.name << "," << (double_precision ? "float64" : "float32") << ","
           << 10 * device.major + device.minor << "," << count / device.multiprocessors << ","
           << (fastest ? "specialised" : "run-time") << "," << (fastest ? fastest->threads : 64) << ","
           << (fastest ? fastest->form.order : best.form.order) << "," << (fastest ? fastest->form.blocks : 0)
           << "," << (fastest ? fastest->form.warps : 1) << ",measured\n";
  }
}

void run() {
  std::printf("bench,ns_per_instance_median,fastest,slowest,launches,registers,local_bytes,results\n");
  if (rows.is_open())
    rows << "# Written by tests/gpu/run on " << device_info().name
         << ": rows for host/dispatch_table.inc or FEATHERSTORM_DISPATCH.\n";
  for (const NamedRobot& robot : robots())
    for_every_op([&](auto row, int op) {
      using Op = decltype(row);
      const std::string_view name = Op::info.name;
      if (name != "rnea" && name != "crba" && name != "fd" && name != "step") return;
      bench<Op, float>(robot, op);
      if (name == "fd" && robot.name != "atlas") bench<Op, double>(robot, op);
    });
}

}  // namespace
}  // namespace featherstorm::testing

int main(int argc, char** argv) try {
  using namespace featherstorm::testing;
  quick = argc > 1 && !std::strcmp(argv[1], "quick");
  if (argc > 1 && !quick) rows.open(argv[1]);
  run();
  return failures > 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
