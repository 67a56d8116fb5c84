#include "host/memory/device.h"

#include <algorithm>
#include <climits>

#include "host/memory/cuda_backend.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

std::string array_words(const ArrayRef& a) { return shape_words(a.instances, a.components) + " " + words(a.precision); }

// Copies the host array `from` into the host array `to` of the same shape.
template <class Real>
void copy_on_host(const ArrayRef& from, const ArrayRef& to) {
  for (long c = 0; c < from.components; c++)
    for (long i = 0; i < from.instances; i++)
      static_cast<Real*>(to.data)[i * to.instance_stride + c * to.component_stride] =
          static_cast<const Real*>(from.data)[i * from.instance_stride + c * from.component_stride];
}

void copy_within(const CudaTable& table, const ArrayRef& from, const ArrayRef& to, void* stream) {
  const StridedArray a{from.data, from.instance_stride, from.component_stride};
  const StridedArray b{to.data, to.instance_stride, to.component_stride};
  if (!table.copy_strided(from.device, stream, from.precision == Precision::float64, &b, &a, from.instances,
                          from.components))
    throw_cuda_error(table, "copy", from.device);
}

// Copies arrays with adjacent instances when one of them is on the host.
void copy_rows(const CudaTable& table, const ArrayRef& from, const ArrayRef& to, void* stream) {
  const std::size_t b = bytes_of(from.precision);
  const int device = std::max(from.device, to.device);
  const CopyKind kind = to.device == on_host ? CopyKind::to_host : CopyKind::to_device;
  auto pitch = [&](const ArrayRef& a) { return b * (a.components > 1 ? a.component_stride : a.instances); };
  if (!table.copy(kind, stream, to.data, pitch(to), from.data, pitch(from), b * from.instances, from.components) ||
      !table.synchronise(device, stream))
    throw_cuda_error(table, "copy", device);
}

// True if the components are rows that do not overlap, as a copy by rows requires.
bool in_rows(const ArrayRef& a) { return by_components(a) && (a.components <= 1 || a.component_stride >= a.instances); }

}  // namespace

bool by_components(const ArrayRef& a) {
  return (a.instance_stride == 1 || a.instances <= 1) &&
         (a.components <= 1 || (a.component_stride >= 0 && a.component_stride <= INT_MAX));
}

std::vector<CudaDevice> devices(std::string* reason) {
  std::string why;
  std::vector<CudaDevice> all;
  if (const CudaTable* table = cuda_backend(&why)) {
    int count = 0;
    if (!table->device_count(&count)) why = table->last_error();
    for (int k = 0; k < count; k++) {
      CudaDevice info{};
      if (table->device_info(k, &info)) all.push_back(info);
      else why = table->last_error();
    }
  }
  if (reason) *reason = why;
  return all;
}

const CudaTable& cuda_for(std::string_view caller, int device) {
  std::string why;
  const CudaTable* table = cuda_backend(&why);
  const std::string prefix = std::string(caller) + ": " + place(device);
  if (!table) throw Error(prefix + " cannot be used: " + why);
  int count = 0;
  if (!table->device_count(&count)) throw Error(prefix + " cannot be used: " + table->last_error());
  if (device < 0 || device >= count)
    throw Error(prefix + " does not exist, expected 0 to " + std::to_string(count - 1));
  return *table;
}

void throw_cuda_error(const CudaTable& table, std::string_view caller, int device) {
  throw Error(std::string(caller) + ": " + place(device) + ": " + table.last_error());
}

std::shared_ptr<void> device_memory(int device, std::size_t bytes, void* stream) {
  const CudaTable& table = cuda_for("Buffer", device);
  if (bytes == 0) return nullptr;
  void* p = nullptr;
  if (!table.allocate(device, stream, bytes, &p)) throw_cuda_error(table, "Buffer", device);
  std::shared_ptr<void> memory(p, [&table, device, stream](void* q) { table.release(device, stream, q); });
  if (!table.fill(device, stream, p, 0, bytes)) throw_cuda_error(table, "Buffer", device);
  return memory;
}

void copy(const ArrayRef& from, const ArrayRef& to, void* stream) {
  if (from.instances != to.instances || from.components != to.components || from.precision != to.precision)
    throw Error("copy: from is " + array_words(from) + ", to is " + array_words(to) + ", expected the same");
  if (from.device == on_host && to.device == on_host)
    throw Error("copy: both arrays are on the host, expected one on a device");
  if (from.device != on_host && to.device != on_host && from.device != to.device)
    throw Error("copy: from is on " + place(from.device) + ", to on " + place(to.device) +
                ", expected the same device or the host");
  const CudaTable& table = cuda_for("copy", std::max(from.device, to.device));
  if (from.instances == 0 || from.components == 0) return;
  if (from.device == to.device) return copy_within(table, from, to, stream);
  // an array of other strides is copied through a temporary array of rows
  const auto rows_beside = [&](const ArrayRef& a) {
    return Buffer(a.precision, a.instances, a.components, a.device, a.device == on_host ? nullptr : stream);
  };
  const auto beside = [&](const ArrayRef& a, const ArrayRef& b) {
    if (a.device != on_host) copy_within(table, a, b, stream);
    else if (a.precision == Precision::float32) copy_on_host<float>(a, b);
    else copy_on_host<double>(a, b);
  };
  Buffer source, target;
  ArrayRef source_rows = from, target_rows = to;
  if (!in_rows(from)) source = rows_beside(from), source_rows = source.ref(), beside(from, source_rows);
  if (!in_rows(to)) target = rows_beside(to), target_rows = target.ref();
  copy_rows(table, source_rows, target_rows, stream);
  if (!in_rows(to)) beside(target_rows, to);
}

void synchronise(int device, void* stream) {
  const CudaTable& table = cuda_for("synchronise", device);
  if (!table.synchronise(device, stream)) throw_cuda_error(table, "synchronise", device);
}

}  // namespace featherstorm
