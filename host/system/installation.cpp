#include "host/system/installation.h"

#include <dlfcn.h>

namespace featherstorm {

namespace {

// a function, because it is used before main() and the order of static initialisation is undefined
std::filesystem::path& configured_folder() {
  static std::filesystem::path folder;
  return folder;
}

}  // namespace

bool set_installation_folder(const std::filesystem::path& folder) {
  configured_folder() = folder;
  return true;
}

std::vector<std::filesystem::path> installation_folders() {
  std::vector<std::filesystem::path> folders;
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&installation_folders), &info) && info.dli_fname)
    folders.push_back(std::filesystem::path(info.dli_fname).parent_path());
  if (!configured_folder().empty()) folders.push_back(configured_folder());
  return folders;
}

}  // namespace featherstorm
