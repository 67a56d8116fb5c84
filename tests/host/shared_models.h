// Published robot files that lie beside the project on some machines: <source>/../shared/models, or
// $FEATHERSTORM_MODELS.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "host/robots/robots.h"

namespace featherstorm::test {

// The folder, or an empty path where there is none.
inline std::filesystem::path shared_models() {
  const char* given = std::getenv("FEATHERSTORM_MODELS");
  const std::filesystem::path models =
      given ? std::filesystem::path(given) : robot_directory() / "../../../shared/models";
  return std::filesystem::is_directory(models / "urdf") ? models : std::filesystem::path();
}

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace featherstorm::test
