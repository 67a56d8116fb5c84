// The table of the CUDA library. Every function checks its arguments before it touches the device.
#include "host/memory/cuda_table.h"

#include <atomic>
#include <climits>
#include <cstring>

#include "core/network/dense.h"
#include "core/scalar/draws.h"
#include "cuda/kernels/launcher.h"
#include "cuda/kernels/strided_copy.h"
#include "cuda/runtime/error.h"
#include "cuda/runtime/graph.h"
#include "cuda/runtime/memory.h"
#include "cuda/runtime/model.h"
#include "cuda/runtime/planning.h"
#include "cuda/runtime/program.h"
#include "cuda/runtime/solver.h"
#include "cuda/runtime/working_memory.h"
#include "host/table/ops.h"

namespace featherstorm {
namespace {

struct OpSizes {
  const char* name;
  int inputs, uniforms, outputs;
};
template <int... i> constexpr std::array<OpSizes, sizeof...(i)> op_sizes(std::integer_sequence<int, i...>) {
  return {OpSizes{Element<i, Ops>::info.name.data(), static_cast<int>(Element<i, Ops>::info.in.size()),
                  static_cast<int>(Element<i, Ops>::info.uniform.size()),
                  static_cast<int>(Element<i, Ops>::info.out.size())}...};
}
constexpr auto ops = op_sizes(std::make_integer_sequence<int, op_count>());

const KernelLauncher& launcher_of(int model_class, int op) {
  static KernelLauncher entries[model_classes][op_count];
  static const bool entered = [] {
#define FEATHERSTORM_ENTER(class, real, limit, shard) enter_##real##_##limit##_##shard(entries[class]);
    FEATHERSTORM_CUDA_PARTS(FEATHERSTORM_ENTER)
#undef FEATHERSTORM_ENTER
    return true;
  }();
  static_cast<void>(entered);
  return entries[model_class][op];
}

// Kernel of an operation for a model, and the model's bytes for it: of the model's own class, or of the largest class
// for operations that are not common.
struct Chosen {
  int model_class;
  const void* image;
};
Chosen choose(const CudaModel& m, int op, bool double_precision) {
  if (double_precision) return {m.double_class, m.double_image.data()};
  if (info_of(op).common && has_small_classes) return {m.float_class, m.float_image.data()};
  return {largest_float_class, m.largest_float_image.data()};
}

const char* last_error() { return cuda_error_message().c_str(); }

bool device_count(int* count) {
  *count = 0;
  return FEATHERSTORM_CUDA(cudaGetDeviceCount(count));
}

bool device_info(int device, CudaDevice* info) {
  cudaDeviceProp p;
  if (!FEATHERSTORM_CUDA(cudaGetDeviceProperties(&p, device))) return false;
  std::strncpy(info->name, p.name, sizeof info->name - 1);
  info->name[sizeof info->name - 1] = 0;
  info->major = p.major, info->minor = p.minor;
  info->multiprocessors = p.multiProcessorCount;
  info->memory = static_cast<long>(p.totalGlobalMem);
  return true;
}

bool create_model(int device, const void* model, CudaModel** handle) {
  *handle = make_cuda_model(device, *static_cast<const Model<double>*>(model));
  return *handle != nullptr;
}
void destroy_model(CudaModel* handle) { delete handle; }

bool copy(CopyKind kind, void* stream, void* to, unsigned long to_pitch, const void* from, unsigned long from_pitch,
          unsigned long row_bytes, unsigned long rows) {
  if (row_bytes == 0 || rows == 0) return true;
  cudaMemcpyKind direction = cudaMemcpyDeviceToDevice;
  if (kind == CopyKind::to_device) direction = cudaMemcpyHostToDevice;
  if (kind == CopyKind::to_host) direction = cudaMemcpyDeviceToHost;
  // a contiguous copy has no limit on the pitch
  if (rows == 1 || (to_pitch == row_bytes && from_pitch == row_bytes))
    return FEATHERSTORM_CUDA(cudaMemcpyAsync(to, from, row_bytes * rows, direction, static_cast<cudaStream_t>(stream)));
  return FEATHERSTORM_CUDA(
      cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, row_bytes, rows, direction, static_cast<cudaStream_t>(stream)));
}

bool fill(int device, void* stream, void* memory, int value, unsigned long bytes) {
  if (bytes == 0) return true;
  OnDevice on(device);
  return on && FEATHERSTORM_CUDA(cudaMemsetAsync(memory, value, bytes, static_cast<cudaStream_t>(stream)));
}

bool memory_info(int device, unsigned long* free, unsigned long* total) {
  std::size_t unused = 0, all = 0;
  OnDevice on(device);
  if (!on || !FEATHERSTORM_CUDA(cudaMemGetInfo(&unused, &all))) return false;
  return *free = unused, *total = all, true;
}

bool copy_strided(int device, void* stream, bool double_precision, const StridedArray* to, const StridedArray* from,
                  long instances, long components) {
  if (instances <= 0 || components <= 0) return true;
  const StridedCopy copy{*to, *from, instances, components};
  if (copy.blocks() > INT_MAX)
    return cuda_failed("an array of " + std::to_string(instances) + " instances of " + std::to_string(components) +
                       " numbers is too large to be copied");
  OnDevice on(device);
  return on && FEATHERSTORM_CUDA(launch_strided_copy(copy, double_precision, static_cast<cudaStream_t>(stream)));
}

bool draw(int device, void* stream, bool double_precision, const UniformDraw* d, const Array* in, const Array* out,
          long instances) {
  if (instances < 0 || instances > INT_MAX || d->count < 0 || d->count > most_draws)
    return cuda_failed(std::to_string(instances) + " instances are to draw " + std::to_string(d->count) +
                       " numbers, expected at most " + std::to_string(INT_MAX) + " and " + std::to_string(most_draws));
  if (instances == 0) return true;
  OnDevice on(device);
  return on && FEATHERSTORM_CUDA(launch_draw(*d, in, out, static_cast<int>(instances), double_precision,
                                             static_cast<cudaStream_t>(stream)));
}

bool dense(int device, void* stream, bool double_precision, const DenseNetwork* network, const Array* in,
           const Array* out, long instances, void* work, long stride) {
  if (instances < 0 || instances > INT_MAX || network->layers < 1 || network->layers > most_layers)
    return cuda_failed(std::to_string(instances) + " instances of a network of " + std::to_string(network->layers) +
                       " layers, expected at most " + std::to_string(INT_MAX) + " and " + std::to_string(most_layers));
  if (instances == 0) return true;
  OnDevice on(device);
  return on && FEATHERSTORM_CUDA(launch_dense(*network, in, out, static_cast<int>(instances), work, stride,
                                              double_precision, static_cast<cudaStream_t>(stream)));
}

bool synchronise(int device, void* stream) {
  OnDevice on(device);
  return on && FEATHERSTORM_CUDA(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)));
}

bool check_op(int op) {
  if (op < 0 || op >= op_count) return cuda_failed("operation " + std::to_string(op) + " does not exist");
  return launcher_of(largest_float_class, op).launch ||
         cuda_failed(std::string(ops[op].name) + " has no CUDA kernel: run it on the CPU");
}

// Checked once for each kernel and device.
bool has_room(int device, int model_class, int op) {
  constexpr int devices = 64;  // for other devices the driver reports the error
  static std::atomic<bool> seen[devices][model_classes][op_count];
  if (device >= devices || seen[device][model_class][op].load(std::memory_order_relaxed)) return true;
  const std::string name = ops[op].name;
  if (!can_set_aside(device, launcher_of(model_class, op).kernel, "the kernel of " + name + " for any robot",
                     "A kernel specialised for the robot needs none: specialise(\"" + name + "\", device=\"cuda\")"))
    return false;
  return seen[device][model_class][op] = true;
}

bool launch(const CudaModel* model, int op, bool double_precision, const Array* in, const Array* out,
            const LaunchOptions* options, void* stream) {
  if (!check_op(op)) return false;
  const OpSizes& row = ops[op];
  if (options->count < 0 || options->repeat < 1)
    return cuda_failed(std::string(row.name) + ": count is " + std::to_string(options->count) + ", repeat is " +
                       std::to_string(options->repeat));
  auto good_strides = [&](const Array* arrays, int n, const char* side) {
    for (int k = 0; k < n; k++)
      if (arrays[k].stride < 0 || arrays[k].stride > INT_MAX)
        return cuda_failed(std::string(row.name) + ": the stride of " + side + " " + std::to_string(k) + " is " +
                           std::to_string(arrays[k].stride) + ", expected 0 to 2147483647");
    return true;
  };
  if (!good_strides(in, row.inputs, "input") || !good_strides(out, row.outputs, "output")) return false;
  if (options->count == 0) return true;
  OnDevice on(model->device);
  if (!on) return false;
  const Chosen c = choose(*model, op, double_precision);
  return has_room(model->device, c.model_class, op) &&
         FEATHERSTORM_CUDA(
             launcher_of(c.model_class, op).launch(c.image, in, out, *options, static_cast<cudaStream_t>(stream)));
}

bool prepare(const CudaModel* model, int op, bool double_precision, CudaKernelInfo* info) {
  if (!check_op(op)) return false;
  OnDevice on(model->device);
  const int model_class = choose(*model, op, double_precision).model_class;
  cudaFuncAttributes a;
  unsigned long set_aside = 0;
  if (!on || !set_aside_by(model->device, launcher_of(model_class, op).kernel, &set_aside, &a)) return false;
  *info = {a.numRegs, static_cast<int>(a.localSizeBytes), a.maxThreadsPerBlock, model_limits[model_class], set_aside};
  return true;
}

}  // namespace
}  // namespace featherstorm

extern "C" __attribute__((visibility("default"))) const featherstorm::CudaTable* featherstorm_cuda_backend() {
  using namespace featherstorm;
  static const char* names[op_count];
  for (int i = 0; i < op_count; i++) names[i] = ops[i].name;
  static const CudaTable table{.version = cuda_table_version,
                               .op_count = op_count,
                               .op_names = names,
                               .last_error = last_error,
                               .device_count = device_count,
                               .device_info = device_info,
                               .create_model = create_model,
                               .destroy_model = destroy_model,
                               .allocate = pool_allocate,
                               .release = pool_release,
                               .copy = copy,
                               .fill = fill,
                               .memory_info = memory_info,
                               .copy_strided = copy_strided,
                               .synchronise = synchronise,
                               .launch = launch,
                               .prepare = prepare,
                               .load_program = load_program,
                               .unload_program = unload_program,
                               .program_info = program_info,
                               .launch_program = launch_program,
                               .launch_arguments = launch_arguments,
                               .create_solver = create_solver,
                               .destroy_solver = destroy_solver,
                               .solver_info = solver_info,
                               .launch_solver = launch_solver,
                               .draw = draw,
                               .dense = dense,
                               .upload = upload,
                               .capturing = capturing,
                               .create_stream = create_stream,
                               .destroy_stream = destroy_stream,
                               .begin_capture = begin_capture,
                               .end_capture = end_capture,
                               .launch_graph = launch_graph,
                               .destroy_graph = destroy_graph,
                               .create_timer = create_timer,
                               .start_timer = start_timer,
                               .stop_timer = stop_timer,
                               .timer_seconds = timer_seconds,
                               .destroy_timer = destroy_timer,
                               .reduction_work = reduction_work,
                               .least = least,
                               .softmax_weights = softmax_weights,
                               .weighted_mean = weighted_mean};
  return &table;
}
