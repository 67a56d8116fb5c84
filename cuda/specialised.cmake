# What loads and launches the kernels that host/device_kernel.h compiles.
target_sources(featherstorm_cuda PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/program.cpp)
