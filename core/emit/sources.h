#pragma once
// Sources that are part of every emitted program, embedded in the library from files.

namespace featherstorm {

const char* vector_math_source();
const char* prelude_host_source();
const char* prelude_cuda_source();
const char* prelude_rollout_source();

}  // namespace featherstorm
