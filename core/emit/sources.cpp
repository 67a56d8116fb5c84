// The assembler reads the files, so vector_math.h can serve both as a header and as embedded source without a
// generator. Its include path is the compiler's: this file needs -I<project root>, and must be rebuilt when one of the
// four files changes.
#include "core/emit/sources.h"

#include "core/scalar/vector_math.h"  // creates the dependency in build systems

#ifdef __APPLE__
#define FEATHERSTORM_SYMBOL(name) "_" #name
#define FEATHERSTORM_CONSTANTS ".section __TEXT,__const\n"
#define FEATHERSTORM_CODE ".text\n"
#else
#define FEATHERSTORM_SYMBOL(name) #name
#define FEATHERSTORM_CONSTANTS ".pushsection .rodata\n"
#define FEATHERSTORM_CODE ".popsection\n"
#endif

// Defines a zero-terminated character array with the contents of a file.
#define FEATHERSTORM_EMBED(name, file)                                                     \
  asm(FEATHERSTORM_CONSTANTS ".globl " FEATHERSTORM_SYMBOL(name) "\n" FEATHERSTORM_SYMBOL( \
      name) ":\n.incbin \"" file "\"\n.byte 0\n" FEATHERSTORM_CODE);                       \
  extern "C" __attribute__((visibility("hidden"))) const char name[]

FEATHERSTORM_EMBED(featherstorm_source_vector_math, "core/scalar/vector_math.h");
FEATHERSTORM_EMBED(featherstorm_source_prelude_host, "core/emit/prelude_host.inc");
FEATHERSTORM_EMBED(featherstorm_source_prelude_cuda, "core/emit/prelude_cuda.inc");
FEATHERSTORM_EMBED(featherstorm_source_prelude_rollout, "core/emit/prelude_rollout.inc");

namespace featherstorm {

const char* vector_math_source() { return featherstorm_source_vector_math; }
const char* prelude_host_source() { return featherstorm_source_prelude_host; }
const char* prelude_cuda_source() { return featherstorm_source_prelude_cuda; }
const char* prelude_rollout_source() { return featherstorm_source_prelude_rollout; }

}  // namespace featherstorm
