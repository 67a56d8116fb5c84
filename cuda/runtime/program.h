// Kernels compiled at run time: machine code or PTX loaded onto a device, launched with the parameters of
// core/emit/emit.h, or any others.
#pragma once
#include "host/memory/cuda_table.h"

namespace featherstorm {

bool load_program(int device, const void* image, const char* name, CudaProgram** handle);
void unload_program(CudaProgram* handle);
bool program_info(const CudaProgram* program, CudaKernelInfo* info);
bool launch_program(const CudaProgram* program, const ProgramLaunch* launch, void* stream);
bool launch_arguments(const CudaProgram* program, void** arguments, long count, int threads, void* stream);

}  // namespace featherstorm
