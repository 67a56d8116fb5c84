// A library of kernels that tells nothing of its layout, as one of an older build.
extern "C" __attribute__((visibility("default"))) const void* featherstorm_backend() { return nullptr; }
