// CUDA devices: the usable devices, their memory, and copies to and from it.
//
//   Buffer q(Precision::float32, 4096, nq), on_device(Precision::float32, 4096, nq, 0);
//   copy(q.ref(), on_device.ref());
//
// `stream` is a cudaStream_t of the device; null is the default stream. Failures throw Error with CUDA's message.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/memory/buffer.h"
#include "host/memory/cuda_table.h"

namespace featherstorm {

// The usable devices. If CUDA cannot be used, none, and the reason in `reason` if given.
std::vector<CudaDevice> devices(std::string* reason = nullptr);

// The CUDA library's table, for a call that needs device number `device`. Throws Error, beginning with `caller`, if
// CUDA cannot be used on this machine or the device does not exist.
const CudaTable& cuda_for(std::string_view caller, int device);

// Throws Error with the message of the table's last failed call.
[[noreturn]] void throw_cuda_error(const CudaTable& table, std::string_view caller, int device);

// Zero-filled memory, allocated, cleared and released in the order of `stream`.
std::shared_ptr<void> device_memory(int device, std::size_t bytes, void* stream);

// Copies an array to another of the same shape and precision that it does not overlap: between the host and a device,
// or within one device. Any strides. Within a device the copy is asynchronous on `stream`; with the host it waits for
// the stream. Throws Error if shapes, precisions or devices do not match.
void copy(const ArrayRef& from, const ArrayRef& to, void* stream = nullptr);

// Waits for all work submitted to the stream, and throws its errors.
void synchronise(int device, void* stream = nullptr);

// True if a kernel, or a copy by rows, can use the array in place: adjacent instances, and a distance between
// components that fits an int.
bool by_components(const ArrayRef& a);

}  // namespace featherstorm
