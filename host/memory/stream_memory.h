// Working memory of what runs on streams of devices, kept for each stream, so that a warm run takes none and a CUDA graph may
// capture it.
#pragma once
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "host/memory/cuda_table.h"

namespace featherstorm {

// What uses a stream: what errors of CUDA begin with, and what is said where it would have to take memory or load code while the
// stream is captured.
struct StreamUser { const char *name, *captured; };
inline constexpr StreamUser rollout_user{
    "rollout",
    "a rollout that is captured into a graph must have run before, with the same choice of arrays, as many steps and on the "
    "same stream"};

// Throws Error where the stream is being captured.
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
  // Everything given to the streams must be done.
  ~StreamMemory();

  // So many bytes or more, for what the stream is given from now on; what was there is kept where it is large enough. Memory that
  // became too small stays, captured graphs may use it. Throws Error.
  Memory get(const CudaTable& table, int device, void* stream, unsigned long bytes);
  // What the stream has; null: nothing yet.
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
