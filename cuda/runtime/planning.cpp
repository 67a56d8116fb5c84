#include "cuda/runtime/planning.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "cuda/kernels/launcher.h"
#include "cuda/kernels/upload.h"
#include "cuda/runtime/error.h"

namespace featherstorm {
namespace {

cudaStream_t native(void* stream) { return static_cast<cudaStream_t>(stream); }

bool enough(const CostArray& costs, unsigned long bytes) {
  unsigned long needed = 0;
  if (costs.count < 1) return cuda_failed("a reduction was given " + std::to_string(costs.count) + " costs");
  if (costs.count > INT_MAX)
    return cuda_failed("a reduction over " + std::to_string(costs.count) + " costs is too large");
  if (!FEATHERSTORM_CUDA(reduction_bytes(costs.count, &needed))) return false;
  return bytes >= needed || cuda_failed("a reduction was given " + std::to_string(bytes) +
                                        " bytes of work memory, expected " + std::to_string(needed));
}

}  // namespace

bool upload(int device, void* stream, void* to, const void* from, unsigned long bytes) {
  if (bytes % 4 != 0) return cuda_failed("an upload has " + std::to_string(bytes) + " bytes, expected a multiple of 4");
  OnDevice on(device);
  if (!on) return false;
  UploadPiece piece;
  for (unsigned long done = 0; done < bytes; done += 4ul * upload_words) {
    const unsigned long now = std::min(bytes - done, 4ul * upload_words);
    piece.to = reinterpret_cast<unsigned*>(static_cast<char*>(to) + done), piece.count = static_cast<int>(now / 4);
    std::memcpy(piece.word, static_cast<const char*>(from) + done, now);
    if (!FEATHERSTORM_CUDA(launch_upload(piece, native(stream)))) return false;
  }
  return true;
}

bool capturing(int device, void* stream, bool* yes) {
  OnDevice on(device);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  // the default stream cannot be captured, and may not be queried while another stream is captured
  if (stream && (!on || !FEATHERSTORM_CUDA(cudaStreamIsCapturing(native(stream), &status)))) return false;
  *yes = status != cudaStreamCaptureStatusNone;
  return true;
}

bool reduction_work(int device, long count, unsigned long* bytes) {
  OnDevice on(device);
  return on && FEATHERSTORM_CUDA(reduction_bytes(count, bytes));
}

bool least(int device, void* stream, const CostArray* costs, DeviceLeast* result, void* work, unsigned long bytes) {
  OnDevice on(device);
  return on && enough(*costs, bytes) && FEATHERSTORM_CUDA(launch_least(*costs, result, work, bytes, native(stream)));
}

bool softmax_weights(int device, void* stream, const CostArray* costs, double temperature, DeviceLeast* result,
                     double* weights, void* work, unsigned long bytes) {
  OnDevice on(device);
  return on && enough(*costs, bytes) &&
         FEATHERSTORM_CUDA(launch_softmax(*costs, temperature, result, weights, work, bytes, native(stream)));
}

bool weighted_mean(int device, void* stream, const SampleArray* samples, const double* weights, void* mean) {
  if (samples->steps <= 0 || samples->components <= 0) return true;
  if (samples->steps > INT_MAX / samples->components)
    return cuda_failed("a mean of " + std::to_string(samples->steps) + " steps of " +
                       std::to_string(samples->components) + " components is too large");
  OnDevice on(device);
  return on && FEATHERSTORM_CUDA(launch_mean(*samples, weights, mean, native(stream)));
}

}  // namespace featherstorm
