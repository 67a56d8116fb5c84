// Working memory of what runs on streams of devices, kept for each stream, so that a warm run takes none and a CUDA graph may
// capture it.
#pragma once
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "host/memory/cuda_table.h"

namespace featherstorm {

// Throws Error where the stream is being captured: nothing that takes memory or loads code may happen then.
void require_no_capture(const CudaTable& table, int device, void* stream);

class StreamMemory {
 public:
  StreamMemory() = default;
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;
  // Everything given to the streams must be done.
  ~StreamMemory();

  // So many bytes or more, for what the stream is given from now on; what was there is kept where it is large enough. Memory that
  // became too small stays, captured graphs may use it. Throws Error, beginning with `caller`.
  void* get(const CudaTable& table, const char* caller, int device, void* stream, unsigned long bytes);

 private:
  struct Memory {
    void* memory = nullptr;
    unsigned long bytes = 0;
  };
  std::mutex mutex_;
  std::map<std::pair<int, void*>, Memory> of_;   // by device and stream
  std::vector<std::pair<int, void*>> outgrown_;  // device, memory
};

}  // namespace featherstorm
