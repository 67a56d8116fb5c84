// How loops and functions are compiled where that shows in time or in size of code.
#pragma once

// A loop with a constant number of turns, at most 16, written out: arrays that it goes over are in registers then.
#ifdef __CUDACC__
#define FS_UNROLL _Pragma("unroll")
#elif defined(__clang__)
#define FS_UNROLL _Pragma("clang loop unroll(full)")
#else
#define FS_UNROLL _Pragma("GCC unroll 16")
#endif

// A function that kernels of devices have once and call: they would hold a copy for each place otherwise.
#ifdef __CUDACC__
#define FS_CALLED __noinline__
#else
#define FS_CALLED
#endif
