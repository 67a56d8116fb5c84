// Buffer, copies, and arrays from Python: of any library by buffer protocol or DLPack, their capsules, Buffers.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays.h"
#include "bindings.h"
#include "gil.h"
#include "host/memory/device.h"
#include "host/system/error.h"

namespace nb = nanobind;

namespace featherstorm {

Precision precision_of(const std::string& dtype) {
  if (dtype == "float32") return Precision::float32;
  if (dtype == "float64") return Precision::float64;
  throw nb::type_error(("dtype is '" + dtype + "', expected 'float32' or 'float64'").c_str());
}

namespace {

// A Buffer and its shape.
struct PyBuffer {
  PyBuffer(const std::string& dtype, long instances, long components, int device, std::uintptr_t stream)
      : buffer(precision_of(dtype), checked(instances), checked(components), device, reinterpret_cast<void*>(stream)) {}
  explicit PyBuffer(const Buffer& memory) : buffer(memory) {}
  static long checked(long n) {
    if (n < 0) throw Error("Buffer: sizes must not be negative");
    return n;
  }
  Buffer buffer;

  // A view of shape (instances, *tail), or with the instances on another axis. The product of `tail` is the number of
  // components. A numpy array on the host, a DLPack capsule on a device.
  nb::object view(const std::vector<long>& tail, std::size_t axis) const {
    if (product_of(tail) != buffer.ref().components)
      throw Error("view: the product of `tail` differs from the buffer's number of components");
    return columns(0, tail, axis);
  }
  // A view of some components, beginning at number `first`; the product of `tail` is their number.
  nb::object columns(long first, const std::vector<long>& tail, std::size_t axis) const {
    const ArrayRef a = buffer.ref();
    std::vector<std::size_t> shape;
    std::vector<std::int64_t> strides;
    long product = product_of(tail);
    if (first < 0 || product < 0 || first + product > a.components)
      throw Error("columns " + std::to_string(first) + " to " + std::to_string(first + product) +
                  " of a buffer, expected 0 to " + std::to_string(a.components));
    if (axis > tail.size())
      throw Error("instances on axis " + std::to_string(axis) + " of a view, expected at most " +
                  std::to_string(tail.size()));
    for (long n : tail) {
      product = n > 0 ? product / n : 0;
      shape.push_back(static_cast<std::size_t>(n));
      strides.push_back(product * buffer.stride());
    }
    shape.insert(shape.begin() + static_cast<long>(axis), static_cast<std::size_t>(a.instances));
    strides.insert(strides.begin() + static_cast<long>(axis), 1);
    return array(shape, strides, first);
  }
  // The whole memory, of shape (components, stride).
  nb::object rows() const {
    const std::size_t stride = static_cast<std::size_t>(buffer.stride());
    return array({static_cast<std::size_t>(buffer.ref().components), stride}, {buffer.stride(), 1}, 0);
  }

 private:
  static long product_of(const std::vector<long>& tail) {
    long product = 1;
    for (long n : tail) product *= n;
    return product;
  }
  nb::object array(const std::vector<std::size_t>& shape, const std::vector<std::int64_t>& strides, long first) const {
    const ArrayRef a = buffer.ref();
    static int nothing;
    auto* owner = new std::shared_ptr<void>(buffer.memory());
    const nb::capsule capsule(owner, [](void* p) noexcept { delete static_cast<std::shared_ptr<void>*>(p); });
    const auto dtype = a.precision == Precision::float32 ? nb::dtype<float>() : nb::dtype<double>();
    const long bytes = first * buffer.stride() * static_cast<long>(bytes_of(a.precision));
    void* data = a.data ? static_cast<char*>(a.data) + bytes : static_cast<void*>(&nothing);
    if (a.device == on_host)
      return nb::cast(nb::ndarray<nb::numpy>(data, shape.size(), shape.data(), capsule, strides.data(), dtype));
    return nb::cast(nb::ndarray<>(data, shape.size(), shape.data(), capsule, strides.data(), dtype,
                                  nb::device::cuda::value, a.device));
  }
};

// The device, the precision and the strides of an array (instances, components) or (instances, steps, components).
template <class NdArray> PyMemory memory_of(const NdArray& a, const std::string& name, std::size_t most) {
  PyMemory m;
  ArrayRef& r = m.memory.array;
  if (a.device_type() == nb::device::cuda::value || a.device_type() == nb::device::cuda_managed::value)
    r.device = a.device_id();
  else if (a.device_type() != nb::device::cpu::value && a.device_type() != nb::device::cuda_host::value)
    throw Error(name + " is on a device that is neither the CPU nor CUDA (DLPack type " +
                std::to_string(a.device_type()) + "); move it to one of them");
  if (a.dtype() == nb::dtype<float>()) r.precision = Precision::float32;
  else if (a.dtype() == nb::dtype<double>()) r.precision = Precision::float64;
  else throw nb::type_error((name + " is neither float32 nor float64").c_str());
  const std::size_t last = a.ndim() - 1;
  if (a.ndim() < 2 || a.ndim() > most)
    throw Error(name + " has " + std::to_string(a.ndim()) + " dimensions, expected 2" + (most > 2 ? " or 3" : ""));
  r.data = const_cast<void*>(static_cast<const void*>(a.data()));
  r.instances = static_cast<long>(a.shape(0)), r.components = static_cast<long>(a.shape(last));
  r.instance_stride = a.stride(0), r.component_stride = a.stride(last);
  if (a.ndim() == 3) m.steps = static_cast<long>(a.shape(1)), m.memory.step_stride = a.stride(1);
  return m;
}

void py_copy(nb::object from, nb::object to, std::uintptr_t number, long times) {
  OpenArrays open;
  const ArrayRef a = open(from, "copy: from", false).memory.array, b = open(to, "copy: to", true).memory.array;
  void* stream = reinterpret_cast<void*>(number);
  const WithoutGil without_gil;
  if (times == 1) return copy(a, b, stream);
  if (b.instances != times * a.instances)
    throw Error("copy: to has " + std::to_string(b.instances) + " rows, expected " +
                std::to_string(times * a.instances));
  const auto rows_of = [](ArrayRef x, long first, long count, long stride) {
    x.data = static_cast<char*>(x.data) + first * x.instance_stride * static_cast<long>(bytes_of(x.precision));
    x.instances = count, x.instance_stride = stride, x.padded = false;
    return x;
  };
  for (long k = 0; k < a.instances; k++)
    copy(rows_of(a, k, times, 0), rows_of(b, k * times, times, b.instance_stride), stream);
}

nb::tuple py_devices() {
  std::string reason;
  nb::list all;
  for (const CudaDevice& d : devices(&reason))
    all.append(nb::make_tuple(std::string(d.name), d.major, d.minor, d.multiprocessors, d.memory));
  return nb::make_tuple(all, reason);
}

}  // namespace

nb::object python_buffer(const Buffer& buffer) { return nb::cast(PyBuffer(buffer)); }

bool buffer_of(nb::handle h, ArrayRef* memory) {
  PyBuffer* b = nullptr;
  if (!nb::try_cast(h, b) || !b) return false;
  *memory = b->buffer.ref();
  return true;
}

PyMemory OpenArrays::operator()(nb::handle h, const std::string& name, bool output, std::size_t most) {
  if (PyMemory m; buffer_of(h, &m.memory.array)) {
    buffers_.push_back(nb::borrow(h));
    return m;
  }
  const auto same = [&](const auto& a) { return a.first.is(h); };
  if (output) {
    auto a = std::find_if(outputs_.begin(), outputs_.end(), same);
    if (a == outputs_.end()) {
      nb::ndarray<> array;
      if (!nb::try_cast(h, array, false)) throw nb::type_error((name + " is not a writable array").c_str());
      a = outputs_.insert(a, {nb::borrow(h), std::move(array)});
    }
    return memory_of(a->second, name, most);
  }
  auto a = std::find_if(inputs_.begin(), inputs_.end(), same);
  if (a == inputs_.end()) {
    nb::ndarray<nb::ro> array;
    if (!nb::try_cast(h, array, false)) throw nb::type_error((name + " is not an array").c_str());
    a = inputs_.insert(a, {nb::borrow(h), std::move(array)});
  }
  return memory_of(a->second, name, most);
}

SequenceMemory OpenArrays::columns(nb::handle h, const std::string& name, bool output, long first, long count,
                                   long steps, long instances) {
  PyMemory given = (*this)(h, name, output, 3);
  SequenceMemory& m = given.memory;
  ArrayRef& r = m.array;
  m.name = name, m.every_step = steps > 0;
  if (given.steps >= 0 && given.steps != steps)
    throw Error(name + " has " + std::to_string(given.steps) + " steps, expected " + std::to_string(steps));
  if (steps > 0 && given.steps < 0) {
    if (r.components % steps != 0)
      throw Error(name + " has " + std::to_string(r.components) + " columns, expected a multiple of " +
                  std::to_string(steps) + " steps");
    r.components /= steps, m.step_stride = r.components * r.component_stride;
  }
  if (first < 0 || count < 0 || first + count > r.components)
    throw Error(name + " has " + std::to_string(r.components) + " columns, expected " + std::to_string(first + count));
  r.data = static_cast<char*>(r.data) + first * r.component_stride * static_cast<long>(bytes_of(r.precision));
  r.components = count, r.padded = false;
  if (r.instances == 1 && instances >= 0)
    r.instances = instances, r.instance_stride = 0;  // one row stands for all instances
  return m;
}

void bind_buffer(nb::module_& module) {
  nb::class_<PyBuffer>(module, "Buffer", "Memory of a batch, [component][instance] with a padded stride, zero-filled.")
      .def(nb::init<std::string, long, long, int, std::uintptr_t>(), nb::arg("dtype"), nb::arg("instances"),
           nb::arg("components"), nb::arg("device") = on_host, nb::arg("stream") = 0)
      .def("view", &PyBuffer::view, nb::arg("tail"), nb::arg("axis") = 0,
           nb::sig("def view(self, tail: collections.abc.Sequence[int], axis: int = 0) -> typing.Any"),
           "A writable view of shape (instances, *tail), or with the instances on another axis, without a copy. It "
           "keeps the memory alive. A numpy array on the host, a DLPack capsule on a device.")
      .def("columns", &PyBuffer::columns, nb::arg("first"), nb::arg("tail"), nb::arg("axis") = 0,
           nb::sig("def columns(self, first: int, tail: collections.abc.Sequence[int], axis: int = 0) -> typing.Any"),
           "A view of some components, beginning at number `first`, of shape (instances, *tail).")
      .def("rows", &PyBuffer::rows, nb::sig("def rows(self) -> typing.Any"),
           "A contiguous view of the whole memory, of shape (components, stride).")
      .def_prop_ro("stride", [](const PyBuffer& b) { return b.buffer.stride(); });

  module.def(
      "copy", py_copy, nb::arg("source"), nb::arg("target"), nb::arg("stream") = 0, nb::arg("times") = 1,
      "Copies an array (instances, components), its DLPack capsule or a Buffer to another: between the host "
      "and a CUDA device, or within a device; each row `times` times in succession. Waits for the stream if one of them "
      "is on the host.");
  module.def(
      "synchronise", [](int device, std::uintptr_t stream) { synchronise(device, reinterpret_cast<void*>(stream)); },
      nb::arg("device"), nb::arg("stream") = 0, nb::call_guard<WithoutGil>(),
      "Waits for a stream of a CUDA device, and raises its errors.");
  module.def("cuda_devices", py_devices,
             "([(name, major, minor, multiprocessors, bytes), ...], reason why there is none); one of the two is "
             "empty.");
}

}  // namespace featherstorm
