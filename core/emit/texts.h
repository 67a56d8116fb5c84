#pragma once
// Source texts that go into every emitted program, embedded in the library as they stand in this folder.

namespace featherstorm {

const char* vector_math_text();
const char* prelude_host_text();
const char* prelude_cuda_text();
const char* prelude_rollout_text();

}  // namespace featherstorm
