#include <fstream>

#include "host/urdf/urdf.h"
#include "host/urdf/urdf_text.h"

namespace featherstorm {

Urdf read_urdf_file(const std::filesystem::path& path, const UrdfReading& reading) {
  const std::string name = urdf::printable(path.string(), 500);
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) urdf::fail(name, 0, "there is no such file");
  if (std::filesystem::is_directory(status)) urdf::fail(name, 0, "is a directory, expected a URDF file");
  if (!std::filesystem::is_regular_file(status)) urdf::fail(name, 0, "is not a regular file");
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error || size > kMaxUrdfBytes) urdf::fail(name, 0, "has more than 64 MiB, the largest size accepted");
  std::string text(size, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file.read(text.data(), static_cast<std::streamsize>(size))) urdf::fail(name, 0, "cannot be read");
  if (path.extension() == ".xacro")
    urdf::fail(name, 0, "is a xacro file; run xacro on it first: xacro " + path.filename().string() + " > robot.urdf");
  return read_urdf(text, name, reading);
}

}  // namespace featherstorm
