// Functions of the C library under the versions that glibc 2.28 has, for the libraries of a wheel.
//
// A library that is linked on a newer system asks for the newest version of each function, and an older system refuses to load it. The
// definitions here are hidden: the library that contains them calls these, and these call the old version by name. A version is that
// of the first glibc for the processor. python/wheel/portable.cmake adds this file to each library of the package.
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <sys/stat.h>

#include <cstdlib>
#include <exception>

#if defined(__x86_64__)
#define FIRST_VERSION "GLIBC_2.2.5"
constexpr int stat_version = 1;
#elif defined(__aarch64__)
#define FIRST_VERSION "GLIBC_2.17"
constexpr int stat_version = 0;
#else
#error "portable.cpp: the versions of this processor's C library are not known; set FEATHERSTORM_PORTABLE=OFF"
#endif
#define HIDDEN extern "C" __attribute__((visibility("hidden")))
#define CALL_FIRST_VERSION(type, name, parameters, arguments)  \
  extern "C" type first_##name parameters;                     \
  __asm__(".symver first_" #name "," #name "@" FIRST_VERSION); \
  HIDDEN type name parameters noexcept(noexcept(name arguments)) { return first_##name arguments; }

// glibc 2.34 moved these into libc.so.6
CALL_FIRST_VERSION(void*, dlopen, (const char* file, int mode), (file, mode))
CALL_FIRST_VERSION(void*, dlsym, (void* library, const char* symbol), (library, symbol))
CALL_FIRST_VERSION(int, dlclose, (void* library), (library))
CALL_FIRST_VERSION(char*, dlerror, (), ())
CALL_FIRST_VERSION(int, dladdr, (const void* address, Dl_info* info), (address, info))
CALL_FIRST_VERSION(int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))

// glibc 2.29 and 2.35 changed how these report errors
CALL_FIRST_VERSION(double, exp, (double x), (x))
CALL_FIRST_VERSION(double, log, (double x), (x))
CALL_FIRST_VERSION(double, pow, (double x, double y), (x, y))
CALL_FIRST_VERSION(double, hypot, (double x, double y), (x, y))

// until glibc 2.33 these were inline functions that called the following ones
extern "C" int __xstat(int version, const char* file, struct stat* result);
extern "C" int __lxstat(int version, const char* file, struct stat* result);
extern "C" int __fxstat(int version, int file, struct stat* result);
__asm__(".symver __xstat,__xstat@" FIRST_VERSION);
__asm__(".symver __lxstat,__lxstat@" FIRST_VERSION);
__asm__(".symver __fxstat,__fxstat@" FIRST_VERSION);
HIDDEN int stat(const char* file, struct stat* result) noexcept { return __xstat(stat_version, file, result); }
HIDDEN int lstat(const char* file, struct stat* result) noexcept { return __lxstat(stat_version, file, result); }
HIDDEN int fstat(int file, struct stat* result) noexcept { return __fxstat(stat_version, file, result); }

// glibc 2.32 sets this while there is one thread, and shared_ptr then counts without atomic instructions; with false it always uses them
extern "C" __attribute__((visibility("hidden"))) char __libc_single_threaded;
char __libc_single_threaded = false;

// exception_ptr's count calls this where an exception's destructor throws; the shared C++ library does not export it
namespace __cxxabiv1 {
__attribute__((visibility("hidden"))) void __terminate(std::terminate_handler handler) noexcept {
  handler();
  std::abort();
}
}  // namespace __cxxabiv1
