// The signature of every kernel: kernels of the backends that take the model as data, and kernels specialised for a
// robot.
#pragma once

namespace featherstorm {

// Component c of instance i is at data[c * stride + i]; of a uniform input (one number for all instances) at data[c].
// Data and stride are aligned to batch_alignment bytes. The padding up to the next full pack may be overwritten.
struct Array {
  void* data;
  long stride;
};
inline constexpr int batch_alignment = 64;
// The largest number of inputs and uniforms of an operation together, or of its outputs, including tangents of
// parameters.
inline constexpr int max_arrays = 48;

// Computes instances first .. first + count - 1; count is a multiple of the pack width.
//   in, out  the arrays in the order of the operation in ops.h, its uniforms after its inputs
//   repeat   repetitions of an operation with carried arrays (fused substeps), else 1
using Kernel = void (*)(const void* model, const Array* in, const Array* out, long repeat, long first, long count);

// The `model` argument of a kernel that takes the model as data: a Model<float> or Model<double>, and the operation's
// frame.
struct RunTimeModel {
  const void* model;
  int frame;
};

// A backend library's table, returned by its function featherstorm_backend. Operations that the library does not have
// (cpu_part in ops.h) are null.
struct KernelEntry {
  const char* op;
  Kernel in_float, in_double;
};
struct KernelTable {
  const char* name;  // "avx512", "avx2", "base", "book"
  int float_width, double_width;
  int count;
  const KernelEntry* entries;
};

}  // namespace featherstorm
