// Functions for rollouts and planners: numbers of the host on the device, and reductions over samples.
#pragma once
#include "host/memory/cuda_table.h"

namespace featherstorm {

bool upload(int device, void* stream, void* to, const void* from, unsigned long bytes);
bool capturing(int device, void* stream, bool* yes);
bool reduction_work(int device, long count, unsigned long* bytes);
bool least(int device, void* stream, const CostArray* costs, DeviceLeast* result, void* work, unsigned long bytes);
bool softmax_weights(int device, void* stream, const CostArray* costs, double temperature, DeviceLeast* result,
                     double* weights, void* work, unsigned long bytes);
bool weighted_mean(int device, void* stream, const SampleArray* samples, const double* weights, void* mean);

}  // namespace featherstorm
