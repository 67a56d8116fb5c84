// Published robot files that lie beside the project on some machines: <source>/../shared/models, or
// $FEATHERSTORM_MODELS.
#pragma once

#include <filesystem>

namespace featherstorm::test {

// The folder, or an empty path where there is none.
std::filesystem::path shared_models();

}  // namespace featherstorm::test
