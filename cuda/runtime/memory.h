// Device memory in the order of a stream, from one pool for each device. The pool keeps released memory.
#pragma once

namespace featherstorm {

bool pool_allocate(int device, void* stream, unsigned long bytes, void** memory);
bool pool_release(int device, void* stream, void* memory);

}  // namespace featherstorm
