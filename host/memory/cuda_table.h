// The C interface of libfeatherstorm_cuda.so, the CUDA backend, which the engine loads only if a driver is installed.
// Nothing here needs a CUDA header.
//
// A function that can fail returns false and leaves the reason (expression, file, line, CUDA's message) in
// last_error(), per thread. Asynchronous failures of a kernel show at the next synchronising call. `stream` is a
// cudaStream_t; null is the default stream. Only the calls marked (s) synchronise.
#pragma once
#include "host/memory/kernel.h"

namespace featherstorm {

struct CudaDevice {
  char name[256];
  int major, minor;  // compute capability
  int multiprocessors;
  long memory;  // [bytes]
};
struct CudaKernelInfo {
  int registers;    // per thread
  int local_bytes;  // working memory and spills, per thread
  int max_threads;  // per block
  int model_limit;  // coordinates the kernel has room for; 0: a kernel of one robot
  // The working memory of all threads that a device can hold [bytes]. The driver reserves it for the process at the
  // kernel's first launch, unless it has done so for another kernel.
  unsigned long set_aside;
};

struct CudaModel;     // a model in its device forms, on one device
struct CudaProgram;   // a kernel from machine code or PTX, on one device
struct CudaSolver;    // one kernel of the contact solver of one robot, on one device
struct CudaGraph;     // the work captured on a stream, which can be launched again
struct CudaTimer;     // two marks on a stream
struct UniformDraw;   // random numbers of a stage (core/scalar/draws.h)
struct DenseNetwork;  // dense layers of a network (core/network/dense.h)

struct LaunchOptions {
  int frame;   // the frame for operations with a frame
  int repeat;  // repetitions of an operation with carried arrays, else 1
  int count;   // instances; 0 does nothing
};

// A launch of a program: the parameters that an emitted kernel takes (core/emit/emit.h).
struct ProgramLaunch {
  const Array* in;  // all inputs in device memory; entries of uniform inputs are not read
  const Array* out;
  const void* uniform;  // the numbers of the uniform inputs, on the host
  long repeat, count;   // count 0 does nothing
  int threads;          // per block, at most the number that the kernel was compiled for
};

// Algorithms of a contact solver: host/solver/contact_solve.h, contact_gradients.h, contact_tangents.h. `soft` exists
// only on devices: the solution of MuJoCo's law without sweeps against slip.
enum class SolverAlgorithm : int { solution, gradients, tangents, soft };
inline constexpr int solver_algorithms = 3;  // on the host

// Numbers of input and output arrays of a kernel, in the order of host/solver/contact_solver.h.
struct SolverArrays { int in, out; };
constexpr SolverArrays arrays_of(SolverAlgorithm text) {
  switch (text) {
    case SolverAlgorithm::solution:
    case SolverAlgorithm::soft: return {13, 14};
    case SolverAlgorithm::gradients: return {12, 6};
    default: return {16, 1};
  }
}

// A solver works on instances in blocks, each with its own memory.
struct CudaSolverInfo {
  CudaKernelInfo kernel;
  int threads;                // per block: instances at once
  int blocks;                 // resident on the device at the same time
  unsigned long block_bytes;  // memory of a block
};
// Arrays of a launch (arrays_of) in device memory; no array is uniform.
struct CudaSolverLaunch {
  const Array *in, *out;
  long count;           // instances; 0 does nothing
  void* work;           // aligned to 256 bytes
  unsigned long bytes;  // at least block_bytes; more memory lets more blocks run at once
};

// An array of any strides, in elements: component c of instance i at data[i * instance_stride + c * component_stride].
struct StridedArray {
  void* data;
  long instance_stride, component_stride;
};

// Costs of samples, for planners: `count` numbers, `stride` elements apart.
struct CostArray {
  const void* data;
  long count, stride;
  bool double_precision;
};
// The least finite cost and its first index; HUGE_VAL and -1 if there is none.
struct DeviceLeast {
  double value;
  long index;
};
// Samples (count, steps, components) of any strides in elements. Their weighted mean is (steps, components) without
// gaps in the same precision. With a `center` of the mean's shape, it is the mean of their squared distances from the
// center; else `center` is null.
struct SampleArray {
  const void *data, *center;
  long count, steps, components, instance_stride, step_stride, component_stride;
  bool double_precision;
};

enum class CopyKind { to_device, to_host, on_device };

struct CudaTable {
  int version;   // cuda_table_version
  int op_count;  // operations, in the order of ops.h
  const char* const* op_names;

  const char* (*last_error)();
  // Counts the usable devices. False if there is no driver or it is too old.
  bool (*device_count)(int* count);
  bool (*device_info)(int device, CudaDevice* info);

  // model: a Model<double>. Refuses user-defined joints and more than 64 coordinates. (s)
  bool (*create_model)(int device, const void* model, CudaModel** handle);
  void (*destroy_model)(CudaModel* handle);

  // Allocates memory of the backend's pool in the order of the stream. A warm pool makes no call to the driver.
  bool (*allocate)(int device, void* stream, unsigned long bytes, void** memory);
  bool (*release)(int device, void* stream, void* memory);
  // Copies rows of `row_bytes` bytes; their starts are `to_pitch` and `from_pitch` bytes apart. Host memory that is not
  // page-locked makes the copy wait. (s)
  bool (*copy)(CopyKind kind, void* stream, void* to, unsigned long to_pitch, const void* from,
               unsigned long from_pitch, unsigned long row_bytes, unsigned long rows);
  // Sets every byte of memory to `value`: 0 makes zeros, 255 makes NaN of any precision.
  bool (*fill)(int device, void* stream, void* memory, int value, unsigned long bytes);
  // Free memory of the device, and its total memory.
  bool (*memory_info)(int device, unsigned long* free, unsigned long* total);
  // Copies instances x components numbers between two arrays on the device that do not overlap.
  bool (*copy_strided)(int device, void* stream, bool double_precision, const StridedArray* to,
                       const StridedArray* from, long instances, long components);
  bool (*synchronise)(int device, void* stream);  // (s)

  // Runs operation `op` of the table. in: its inputs, then its uniforms as host pointers; out: its outputs. Arrays are
  // in device memory, component c of instance i at data[c * stride + i]. Fails if the device cannot reserve the
  // kernel's working memory; the error gives the sizes.
  bool (*launch)(const CudaModel* model, int op, bool double_precision, const Array* in, const Array* out,
                 const LaunchOptions* options, void* stream);
  // Loads the kernel that `launch` would run. (s)
  bool (*prepare)(const CudaModel* model, int op, bool double_precision, CudaKernelInfo* info);

  // Loads the kernel `name` of a cubin or PTX. The first launch neither allocates nor synchronises. (s)
  bool (*load_program)(int device, const void* image, const char* name, CudaProgram** handle);
  void (*unload_program)(CudaProgram* handle);  // (s)
  bool (*program_info)(const CudaProgram* program, CudaKernelInfo* info);
  bool (*launch_program)(const CudaProgram* program, const ProgramLaunch* launch, void* stream);
  // The same with any parameters, given by their addresses, for `count` threads in total.
  bool (*launch_arguments)(const CudaProgram* program, void** arguments, long count, int threads, void* stream);

  // solver: a ContactSolver<float> or <double> (host/contacts/solver_data.h), which is copied. Fails if the device
  // cannot reserve the memory that the kernel's threads need beyond registers. (s)
  bool (*create_solver)(int device, const void* solver, bool double_precision, SolverAlgorithm text,
                        CudaSolver** handle);
  void (*destroy_solver)(CudaSolver* handle);  // (s)
  bool (*solver_info)(const CudaSolver* solver, CudaSolverInfo* info);
  bool (*launch_solver)(const CudaSolver* solver, const CudaSolverLaunch* launch, void* stream);

  // Draws uniform numbers by counter: a stage of host/rollout/draw_stage.h with its arrays, all in device memory.
  bool (*draw)(int device, void* stream, bool double_precision, const UniformDraw* draw, const Array* in,
               const Array* out, long instances);

  // Evaluates a network of dense layers: a stage of host/network/dense_stage.h with its arrays. The network's numbers
  // are in device memory too. work: numbers between layers, 2 dense_room components, `stride` numbers apart.
  bool (*dense)(int device, void* stream, bool double_precision, const DenseNetwork* network, const Array* in,
                const Array* out, long instances, void* work, long stride);

  // Copies numbers of the host into device memory. They are read before the call returns and become parameters of the
  // launches, so a graph that captures the stream keeps them. bytes: a multiple of 4.
  bool (*upload)(int device, void* stream, void* to, const void* from, unsigned long bytes);
  // Reports whether the stream is being captured into a graph. Memory must not be allocated during capture.
  bool (*capturing)(int device, void* stream, bool* yes);

  // Creates a stream that does not wait for the default stream. Memory that is released on it must be released before
  // the stream is destroyed.
  bool (*create_stream)(int device, void** stream);
  bool (*destroy_stream)(int device, void* stream);
  // Records the work that this thread submits to the stream, without running it, until end_capture() makes a graph of
  // it. The default stream cannot be captured.
  bool (*begin_capture)(int device, void* stream);
  bool (*end_capture)(int device, void* stream, CudaGraph** graph);
  bool (*launch_graph)(const CudaGraph* graph, void* stream);
  void (*destroy_graph)(CudaGraph* graph);
  // Time on the device from the mark of start_timer() to that of stop_timer() [s].
  bool (*create_timer)(int device, CudaTimer** timer);
  bool (*start_timer)(CudaTimer* timer, void* stream);
  bool (*stop_timer)(CudaTimer* timer, void* stream);
  bool (*timer_seconds)(CudaTimer* timer, double* seconds);  // (s)
  void (*destroy_timer)(CudaTimer* timer);

  // Reductions over samples. `work` has the number of bytes that reduction_work returns for `count` samples.
  bool (*reduction_work)(int device, long count, unsigned long* bytes);
  // result: device memory.
  bool (*least)(int device, void* stream, const CostArray* costs, DeviceLeast* result, void* work, unsigned long bytes);
  // weights (count): exp((least - cost) / temperature) over their sum; 0 if a cost is not finite, all 0 if none is.
  bool (*softmax_weights)(int device, void* stream, const CostArray* costs, double temperature, DeviceLeast* result,
                          double* weights, void* work, unsigned long bytes);
  bool (*weighted_mean)(int device, void* stream, const SampleArray* samples, const double* weights, void* mean);
};
inline constexpr int cuda_table_version = 10;

}  // namespace featherstorm

extern "C" const featherstorm::CudaTable* featherstorm_cuda_backend();
