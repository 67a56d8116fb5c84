// Device memory in the order of a stream, from one pool per device that keeps what it was given.
#pragma once

namespace featherstorm {

bool pool_allocate(int device, void* stream, unsigned long bytes, void** memory);
bool pool_release(int device, void* stream, void* memory);

}  // namespace featherstorm
