// CUDA devices as the engine sees them: which there are, their memory, and copies to and from it.
//
//   Buffer q(Precision::float32, 4096, nq), on_device(Precision::float32, 4096, nq, 0);
//   copy(q.ref(), on_device.ref());
//
// `stream` is a cudaStream_t of the device, null the default stream. Errors are Error with CUDA's own words.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/memory/buffer.h"
#include "host/memory/cuda_table.h"

namespace featherstorm {

// The devices that can be used; none, and why in `reason` if given, where CUDA cannot be used here.
std::vector<CudaDevice> devices(std::string* reason = nullptr);

// The CUDA library's table for a call that needs device number `device`. Throws Error, beginning with `caller`, where
// CUDA cannot be used here or there is no such device.
const CudaTable& cuda_for(std::string_view caller, int device);

// Throws Error with what the table's last failed call said.
[[noreturn]] void throw_cuda_error(const CudaTable& table, std::string_view caller, int device);

// Zero-filled memory, taken, cleared and given back in the order of `stream`.
std::shared_ptr<void> device_memory(int device, std::size_t bytes, void* stream);

// Copies an array to another of the same shape and precision that it does not overlap: from the host to a device, back,
// or within one device. Any strides. Within a device it is asynchronous on `stream`; with the host it waits for the
// stream. Throws Error where shapes, precisions or devices do not fit.
void copy(const ArrayRef& from, const ArrayRef& to, void* stream = nullptr);

// Waits until everything given to the stream so far is done, and throws what went wrong there.
void synchronise(int device, void* stream = nullptr);

// Whether a kernel, or a copy by rows, may work on an array where it lies: instances side by side, components in any
// distance that an int holds.
bool by_components(const ArrayRef& a);

}  // namespace featherstorm
