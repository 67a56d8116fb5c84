// Attributes of loops and functions that affect run time or code size.
#pragma once

// A loop with a constant number of iterations, at most 16, unrolled: its arrays are then in registers.
#ifdef __CUDACC__
#define FS_UNROLL _Pragma("unroll")
#elif defined(__clang__)
#define FS_UNROLL _Pragma("clang loop unroll(full)")
#else
#define FS_UNROLL _Pragma("GCC unroll 16")
#endif

// A function that device kernels contain once and call; otherwise they would hold a copy for each call.
#ifdef __CUDACC__
#define FS_CALLED __noinline__
#else
#define FS_CALLED
#endif
