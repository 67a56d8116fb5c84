// Numbers of the host for a kernel that follows on the stream, without a copy: they are passed as parameters of
// launches. Therefore nothing waits, the host's memory is free at once, and a graph that captures the stream contains
// the numbers.
#pragma once
#include "core/scalar/scalar.h"

namespace featherstorm {

inline constexpr int upload_words = 960, upload_threads = 256;  // kernels have 4 KiB of parameters

struct UploadPiece {
  unsigned* to;
  int count;
  unsigned word[upload_words];
};

// The work of thread `thread` of the only block.
FS_HD void upload_body(const UploadPiece& piece, int thread) {
  for (int k = thread; k < piece.count; k += upload_threads) piece.to[k] = piece.word[k];
}

}  // namespace featherstorm
