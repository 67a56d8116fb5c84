#include "core/trace/expr.h"

#include <cassert>

namespace featherstorm {
namespace {

thread_local Graph* recording = nullptr;

}  // namespace

Tracing::Tracing(Graph& graph) : outer_(recording) { recording = &graph; }
Tracing::~Tracing() { recording = outer_; }

Graph& Tracing::graph() {
  assert(recording && "an Expr was used outside of a Tracing scope");
  return *recording;
}

void mark(const char* text) {
  if (recording) recording->mark(text);
}

}  // namespace featherstorm
