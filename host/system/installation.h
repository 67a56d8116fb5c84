// Folders of an installed featherstorm, which hold what is loaded at run time: libraries of kernels, built-in robots.
#pragma once
#include <filesystem>
#include <vector>

namespace featherstorm {

// Where an installation may lie: the folder of the library or program this code is in, and the one that is told below.
std::vector<std::filesystem::path> installation_folders();

// Tells where the installation lies; the last word counts. Returns true.
bool tell_installation(const std::filesystem::path& folder);

// A program that is linked with the installed static library cannot see where that came from; its CMake target knows.
#ifdef FEATHERSTORM_INSTALLATION
inline const bool installation_told = tell_installation(FEATHERSTORM_INSTALLATION);
#endif

}  // namespace featherstorm
