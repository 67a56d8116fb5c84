// Published robot files that lie beside the project on some machines: <source>/../shared/models, or
// $FEATHERSTORM_MODELS.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace featherstorm::test {

// The folder, or an empty path where there is none.
inline std::filesystem::path shared_models() {
  const char* given = std::getenv("FEATHERSTORM_MODELS");
  const std::filesystem::path models =
      given ? std::filesystem::path(given) : std::filesystem::path(FEATHERSTORM_SOURCE_DIR) / "../shared/models";
  return std::filesystem::is_directory(models / "urdf") ? models : std::filesystem::path();
}

}  // namespace featherstorm::test
