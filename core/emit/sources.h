#pragma once
// Source texts that go into every emitted program, embedded in the library as they stand in this folder.

namespace featherstorm {

const char* vector_math_source();
const char* prelude_host_source();
const char* prelude_cuda_source();
const char* prelude_rollout_source();

}  // namespace featherstorm
