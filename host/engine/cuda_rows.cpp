#include "host/engine/cuda_rows.h"

#include <algorithm>
#include <cstdint>

#include "host/compile/device_kernel.h"
#include "host/compile/dispatch.h"
#include "host/engine/kernel_check.h"
#include "host/memory/cuda_backend.h"
#include "host/memory/device.h"
#include "host/memory/scratch_guard.h"
#include "host/system/error.h"
#include "host/trace/bodies.h"

namespace featherstorm {
namespace {

// Pool memory for one call, released in the order of the stream.
struct Temporary {
  const CudaTable* table = nullptr;
  int device = 0;
  void* stream = nullptr;
  void* data = nullptr;
  ~Temporary() {
    if (data) table->release(device, stream, data);
  }
};

// The inputs or the outputs of a call, as a kernel takes them.
struct Side {
  Array array[max_arrays];
  Temporary temporary[max_arrays];
};

StridedArray strided(const ArrayRef& a) { return {a.data, a.instance_stride, a.component_stride}; }
StridedArray strided(const Array& a) { return {a.data, 1, a.stride}; }

// Number of elements between the components of an array, as the kernel sees the array.
long stride_of(const ArrayRef& a) {
  if (by_components(a)) return a.components > 1 ? a.component_stride : 0;
  return padded_stride(a.instances, a.precision, a.device);
}
// True if a compiled program can take the array: the program holds the byte distance between components in an int.
bool fits_program(const ArrayRef& a) { return stride_of(a) * static_cast<long>(bytes_of(a.precision)) <= INT32_MAX; }

// One call on one stream.
struct Call {
  const CudaTable& table;
  const OpRow& row;
  int device;
  void* stream;
  bool double_precision;

  void require(bool ok) const {
    if (!ok) throw_cuda_error(table, row.name, device);
  }
  // Uses the array in place, or allocates memory for it in the engine's layout.
  void place(const ArrayRef& a, Array& array, Temporary& t) const {
    array.stride = stride_of(a);
    if (by_components(a)) {
      array.data = a.data;
      return;
    }
    t.table = &table, t.device = device, t.stream = stream;
    require(table.allocate(device, stream, bytes_of(a.precision) * array.stride * a.components, &t.data));
    array.data = t.data;
  }
  void copy(const StridedArray& to, const StridedArray& from, const ArrayRef& shape) const {
    require(table.copy_strided(device, stream, double_precision, &to, &from, shape.instances, shape.components));
  }
};

// Writes the uniforms one after another in the precision of the call.
template <class Real>
void place_uniforms(const OpRow& row, const std::vector<double>& values, void* memory, Array* array) {
  Real* at = static_cast<Real*>(memory);
  std::copy(values.begin(), values.end(), at);
  for (std::size_t k = 0; k < row.uniforms.size(); at += row.uniforms[k].components, k++) array[k] = {at, 0};
}

// A loaded kernel and the numbers its launch needs.
struct MadeKernel {
  CudaProgram* program;
  int warps, device;
  Precision precision;
};

template <class Real>
void fill(const Buffer& b, const std::vector<std::vector<double>>& array) {
  for (std::size_t c = 0; c < array.size(); c++) std::copy(array[c].begin(), array[c].end(), b.component<Real>(c));
}
template <class Real>
void take(const Buffer& b, std::vector<std::vector<double>>& array) {
  for (std::size_t c = 0; c < array.size(); c++) std::copy_n(b.component<Real>(c), array[c].size(), array[c].begin());
}

// Runs the kernel on these inputs and returns its outputs; waits for the device.
SampledArrays run_on_device(const MadeKernel& kernel, const OpRow& row, const SampledRow& inputs) {
  const bool single = kernel.precision == Precision::float32;
  const long count = static_cast<long>(inputs.in[0][0].size());
  const CudaTable& table = *cuda_backend();
  std::vector<Buffer> there;
  Array in[max_arrays], out[max_arrays];
  SampledArrays results;
  for (std::size_t k = 0; k < inputs.in.size(); k++) {
    const Buffer host(kernel.precision, count, static_cast<long>(inputs.in[k].size()));
    single ? fill<float>(host, inputs.in[k]) : fill<double>(host, inputs.in[k]);
    const Buffer& b =
        there.emplace_back(kernel.precision, count, static_cast<long>(inputs.in[k].size()), kernel.device);
    copy(host.ref(), b.ref());
    in[k] = {b.ref().data, b.stride()};
  }
  for (std::size_t k = 0; k < row.out.size(); k++) {
    const Buffer& b = there.emplace_back(kernel.precision, count, row.out[k].components, kernel.device);
    out[k] = {b.ref().data, b.stride()};
    results.emplace_back(row.out[k].components, std::vector<double>(count));
  }
  std::vector<double> doubles = inputs.uniforms;
  std::vector<float> singles(doubles.begin(), doubles.end());
  doubles.push_back(0), singles.push_back(0);  // at least one element, so that the pointer is valid
  void* memory = single ? static_cast<void*>(singles.data()) : doubles.data();
  single ? place_uniforms<float>(row, inputs.uniforms, memory, in + inputs.in.size())
         : place_uniforms<double>(row, inputs.uniforms, memory, in + inputs.in.size());
  const ProgramLaunch launch{in, out, memory, 1, count * kernel.warps, 32 * kernel.warps};
  if (!table.launch_program(kernel.program, &launch, nullptr)) throw_cuda_error(table, row.name, kernel.device);
  for (std::size_t k = 0; k < row.out.size(); k++) {
    const Buffer host(kernel.precision, count, row.out[k].components);
    copy(there[inputs.in.size() + k].ref(), host.ref());
    single ? take<float>(host, results[k]) : take<double>(host, results[k]);
  }
  return results;
}

}  // namespace

CudaRows::CudaRows(EngineRobot& robot) : robot_(robot) {}
CudaRows::~CudaRows() {
  for (const auto& entry : models_) cuda_backend()->destroy_model(entry.second);
  for (const auto& entry : specialised_)
    for (CudaProgram* p : entry.second.with_warps)
      if (p) cuda_backend()->unload_program(p);
}

const CudaModel* CudaRows::model(const OpRow& row, int device) {
  std::lock_guard lock(mutex_);
  if (auto found = models_.find(device); found != models_.end()) return found->second;
  const CudaTable& table = cuda_for(row.name, device);
  CudaModel* made = nullptr;
  if (!table.create_model(device, &robot_.robot.model, &made)) throw_cuda_error(table, row.name, device);
  return models_[device] = made;
}

CudaRows::Specialised CudaRows::find(const Key& key) const {
  std::lock_guard lock(mutex_);
  const auto found = specialised_.find(key);
  return found == specialised_.end() ? Specialised{} : found->second;
}

std::shared_ptr<DeviceCompiler> CudaRows::compiler() {
  std::lock_guard lock(mutex_);
  if (!compiler_ || !compiler_->missing().empty())
    compiler_ = std::make_shared<DeviceCompiler>([&robot = robot_](const std::string& what) { robot.notify(what); });
  return compiler_;
}

std::shared_ptr<const Dispatch> CudaRows::dispatch() {
  std::lock_guard lock(mutex_);
  if (!dispatch_) dispatch_ = std::make_shared<const Dispatch>(Dispatch::standard());
  return dispatch_;
}

CudaRows::Key CudaRows::key_of(const KernelName& name) {
  return {name.row.name, name.device, name.precision, name.row.uses_frame ? name.frame : 0};
}

bool CudaRows::specialise(const KernelName& name) {
  const OpRow& row = name.row;
  const Key key = key_of(name);
  const int device = name.device, frame = std::get<3>(key), frames = robot_.robot.model.nf;
  const Precision precision = name.precision;
  if (row.uses_frame && (frame < 0 || frame >= frames))
    throw Error("frame is " + std::to_string(frame) + ", expected 0 to " + std::to_string(frames - 1));
  if (find(key).program) return true;
  const CudaTable& table = cuda_for(row.name, device);
  CudaDevice info;
  if (!table.device_info(device, &info)) throw_cuda_error(table, row.name, device);
  const auto compile = compiler();
  if (!compile->missing().empty()) throw Error(compile->missing());
  const Robot& robot = robot_.robot;
  const Program p = robot_.program(row, frame);
  Specialised made{nullptr, 1, {}, info.multiprocessors, 10 * info.major + info.minor, dispatch()};
  static_assert(std::tuple_size_v<decltype(made.with_warps)> == max_device_roles + 1);
  const DispatchCall call{robot.name, row.name, precision, made.capability};
  const Bodies bodies = bodies_of(p, robot.model);
  const auto unload = [&] {
    for (CudaProgram* loaded : made.with_warps)
      if (loaded) table.unload_program(loaded);
  };
  const auto make = [&](const DispatchRow& choice) {
    const DeviceKernel kernel = compile->kernel(p, precision == Precision::float64, made.capability,
                                                {choice.order, choice.blocks, choice.warps}, &bodies);
    CudaProgram* program = nullptr;
    if (!table.load_program(device, kernel.image.data(), "featherstorm_kernel", &program))
      throw_cuda_error(table, row.name, device);
    const KernelCheck check = check_kernel(row, robot, precision, frame, p, [&](const SampledRow& inputs) {
      return run_on_device({program, choice.warps, device, precision}, row, inputs);
    });
    robot_.record({std::string(row.name), precision, device, check});
    if (!check.passed) {
      table.unload_program(program);
      throw Error("the kernel of " + std::to_string(choice.warps) + " warps is not used: " + check.words());
    }
    return made.with_warps[choice.warps] = program;
  };
  const DispatchRow& largest = made.dispatch->choose(call);
  try {
    made.program = make(largest), made.warps = largest.warps;
    for (const DispatchRow* choice : made.dispatch->forms(call)) {
      if (made.with_warps[choice->warps]) continue;
      try {
        make(*choice);
      } catch (const Error& e) {
        robot_.notify(std::string(row.name) + " has no kernel of " + std::to_string(choice->warps) + " warps for " +
                      place(device) + "; the kernel for large batches is used instead: " + e.what());
      }
    }
  } catch (...) {
    unload();
    throw;
  }
  std::lock_guard lock(mutex_);
  // another thread may have made it first
  if (!specialised_.emplace(key, made).second) unload();
  return true;
}

bool CudaRows::specialised(const KernelName& name) const { return find(key_of(name)).program != nullptr; }

void CudaRows::run(const RowCall& row_call) {
  const auto& [row, in, out, o] = row_call;
  const int device = row_call.device();
  const Precision precision = row_call.precision();
  const long instances = row_call.instances();
  const std::string prefix = std::string(row.name) + ": ";
  if (instances > max_device_instances)
    throw Error(prefix + "the batch has " + std::to_string(instances) + " instances, expected at most " +
                std::to_string(max_device_instances) + " on a device");
  if (o.repeat > max_device_instances)
    throw Error(prefix + "repeat is " + std::to_string(o.repeat) + ", expected at most " +
                std::to_string(max_device_instances) + " on a device");
  const KernelName name{row, precision, o.frame, device};
  const bool any_robot = robot_.at_run_time(row);
  if (!any_robot) specialise(name);
  const Specialised made = find(key_of(name));
  const DispatchRow* choice = nullptr;
  if (made.program)
    choice = &made.dispatch->choose({robot_.robot.name, row.name, precision, made.capability,
                                     static_cast<double>(instances) / made.multiprocessors});
  const bool special = choice && (choice->specialised || !any_robot) &&
                       std::all_of(in.begin(), in.end(), fits_program) &&
                       std::all_of(out.begin(), out.end(), fits_program);
  if (!special && !any_robot)
    throw Error(prefix +
                "the components of an array are 2^31 bytes or more apart, expected less: the only kernel of this "
                "operation is the one made for the robot; use a smaller batch");
  const CudaModel* uploaded = special ? nullptr : model(row, device);
  const Call call{*cuda_backend(), row, device, o.stream, precision == Precision::float64};

  Side inputs, outputs;
  for (std::size_t k = 0; k < in.size(); k++) {
    call.place(in[k], inputs.array[k], inputs.temporary[k]);
    if (inputs.temporary[k].data) call.copy(strided(inputs.array[k]), strided(in[k]), in[k]);
  }
  for (std::size_t k = 0; k < out.size(); k++) call.place(out[k], outputs.array[k], outputs.temporary[k]);
  const ScratchGuard guard;
  void* memory = scratch_stack.take(sizeof(double) * std::max<std::size_t>(o.uniforms.size(), 1));
  if (call.double_precision) place_uniforms<double>(row, o.uniforms, memory, inputs.array + in.size());
  else place_uniforms<float>(row, o.uniforms, memory, inputs.array + in.size());
  bool launched = false;
  if (special) {
    const bool has = made.with_warps[choice->warps];
    const int warps = has ? choice->warps : made.warps, threads = warps > 1 ? 32 : choice->threads;
    // one thread for each instance and warp role
    const ProgramLaunch launch{inputs.array, outputs.array, memory, o.repeat, instances * warps, threads * warps};
    launched = call.table.launch_program(has ? made.with_warps[warps] : made.program, &launch, o.stream);
  } else {
    const LaunchOptions options{o.frame, static_cast<int>(o.repeat), static_cast<int>(instances)};
    launched =
        call.table.launch(uploaded, row.index, call.double_precision, inputs.array, outputs.array, &options, o.stream);
  }
  call.require(launched);
  for (std::size_t k = 0; k < out.size(); k++)
    if (outputs.temporary[k].data) call.copy(strided(out[k]), strided(outputs.array[k]), out[k]);
}

}  // namespace featherstorm
