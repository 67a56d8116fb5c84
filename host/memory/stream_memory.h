// Working memory for work on device streams. It is kept for each stream, so that a repeated run allocates nothing and
// a CUDA graph can capture it.
#pragma once
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "host/memory/cuda_table.h"

namespace featherstorm {

// A user of a stream. name: the beginning of CUDA error messages. captured: the message if memory or code would have
// to be loaded while the stream is captured.
struct StreamUser { const char *name, *captured; };
inline constexpr StreamUser rollout_user{
    "rollout",
    "a rollout that is captured into a graph must have run before, with the same choice of arrays, as many steps and "
    "on the same stream"};

// Throws Error if the stream is being captured.
void require_no_capture(const CudaTable& table, const StreamUser& user, int device, void* stream);

class StreamMemory {
 public:
  struct Memory {
    void* memory = nullptr;
    unsigned long bytes = 0;
  };
  explicit StreamMemory(const StreamUser& user) : user_(user) {}
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;
  // All work submitted to the streams must be done.
  ~StreamMemory();

  // At least `bytes` bytes for later work on the stream; existing memory is kept if it is large enough. Memory that
  // became too small is not released, because captured graphs may use it. Throws Error.
  Memory get(const CudaTable& table, int device, void* stream, unsigned long bytes);
  // The memory of the stream; null if it has none.
  Memory find(int device, void* stream) const;
  // Waits for all streams that have memory.
  void synchronise() const;

 private:
  StreamUser user_;
  mutable std::mutex mutex_;
  std::map<std::pair<int, void*>, Memory> of_;   // by device and stream
  std::vector<std::pair<int, void*>> outgrown_;  // device, memory
};

}  // namespace featherstorm
