// Streams, graphs captured from them, and time measured on the device.
#pragma once
#include "host/memory/cuda_table.h"

namespace featherstorm {

bool create_stream(int device, void** stream);
bool destroy_stream(int device, void* stream);
bool begin_capture(int device, void* stream);
bool end_capture(int device, void* stream, CudaGraph** graph);
bool launch_graph(const CudaGraph* graph, void* stream);
void destroy_graph(CudaGraph* graph);
bool create_timer(int device, CudaTimer** timer);
bool start_timer(CudaTimer* timer, void* stream);
bool stop_timer(CudaTimer* timer, void* stream);
bool timer_seconds(CudaTimer* timer, double* seconds);
void destroy_timer(CudaTimer* timer);

}  // namespace featherstorm
