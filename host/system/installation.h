// Folders of an installed featherstorm. They hold the files loaded at run time: kernel libraries and built-in robots.
#pragma once
#include <filesystem>
#include <vector>

namespace featherstorm {

// Folders that may hold the installation: the folder of the library or program that contains this code, and the folder
// set below.
std::vector<std::filesystem::path> installation_folders();

// Sets the folder of the installation; the last call counts. Returns true.
bool set_installation_folder(const std::filesystem::path& folder);

// A program linked with the installed static library cannot find the installation by itself; its CMake target sets it.
#ifdef FEATHERSTORM_INSTALLATION
inline const bool installation_is_set = set_installation_folder(FEATHERSTORM_INSTALLATION);
#endif

}  // namespace featherstorm
