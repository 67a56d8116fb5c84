#include "tests/host/load/shared_models.h"

#include <cstdlib>

namespace featherstorm::test {

std::filesystem::path shared_models() {
  const char* given = std::getenv("FEATHERSTORM_MODELS");
  const std::filesystem::path models =
      given ? std::filesystem::path(given) : std::filesystem::path(FEATHERSTORM_SOURCE_DIR) / "../shared/models";
  return std::filesystem::is_directory(models / "urdf") ? models : std::filesystem::path();
}

}  // namespace featherstorm::test
