#include "cuda/kernels/launcher.h"
#include "cuda/kernels/upload.h"

namespace featherstorm {
namespace {

__global__ void __launch_bounds__(upload_threads) upload_kernel(const __grid_constant__ UploadPiece piece) {
  upload_body(piece, threadIdx.x);
}

}  // namespace

cudaError_t launch_upload(const UploadPiece& piece, cudaStream_t stream) {
  upload_kernel<<<1, upload_threads, 0, stream>>>(piece);
  return cudaGetLastError();
}

}  // namespace featherstorm
