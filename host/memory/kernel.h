// The one signature of every kernel: run-time-model kernels of the backends and emitted, specialised ones alike.
#pragma once

namespace featherstorm {

// Component c of instance i at data[c * stride + i]; of a uniform input (one number for all instances) at data[c].
// Data and stride are aligned to batch_alignment bytes, and the padding up to the next full pack may be overwritten.
struct Array {
  void* data;
  long stride;
};
inline constexpr int batch_alignment = 64;
// The most arrays an operation has as inputs and uniforms together, or as outputs; tangents of parameters included.
inline constexpr int max_arrays = 48;

// in, out: the arrays in the order of the operation's row in ops.h, its uniforms after its inputs.
// repeat: passes of an operation with carried arrays (fused substeps), else 1.
// Instances first .. first + count - 1; count is a multiple of the pack width.
using Kernel = void (*)(const void* model, const Array* in, const Array* out, long repeat, long first, long count);

// What a run-time-model kernel gets as `model`: a Model<float> or Model<double>, and the frame an operation refers to.
struct RunTimeModel {
  const void* model;
  int frame;
};

// A backend library's table, returned by its function featherstorm_backend. Rows that the library does not have (cpu_part in
// ops.h) are null.
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
