# Loads and launches the kernels that host/compile/device_kernel.h compiles.
target_sources(featherstorm_cuda PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/runtime/program.cpp)
