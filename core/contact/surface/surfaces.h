// Table of surfaces: maps a surface's kind to its file.
#pragma once
#include "core/contact/surface/plane.h"
#include "core/contact/surface/round.h"

namespace featherstorm {

// Calls f(Type{}) with the structure of the surface's file.
FS_HD void with_surface(Surface surface, auto&& f) {
  switch (surface) {
    case Surface::Plane: return f(PlaneSurface{});
    case Surface::Sphere:
    case Surface::Cavity: return f(RoundSurface{});
  }
}

}  // namespace featherstorm
