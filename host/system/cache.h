#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace featherstorm {

// Receives one sentence for the user, such as "the kernel cache ... cannot be written". The library itself never
// prints.
using Notice = std::function<void(const std::string&)>;

// $FEATHERSTORM_CACHE, else $XDG_CACHE_HOME/featherstorm, else ~/.cache/featherstorm; empty when none of them is set.
std::filesystem::path default_cache_folder();

// A new folder that only this user can enter, removed with everything in it at the end of its scope.
class PrivateFolder {
 public:
  PrivateFolder();  // throws Error if no temporary folder can be made
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int owner_;  // the process that made it: a forked child does not remove it
};

// File name extensions of an entry, after its key.
struct CacheNames { std::string compiled = ".so", source = ".cpp"; };

// Compiled kernels on disk: one file `<key>.so` for each kernel, with its source `<key>.cpp` beside it for reading.
// Kernels of a CUDA device are `<key>.cubin` and `<key>.cu`.
//
// The compiled file ends in a seal: key, size and checksum of the preceding bytes. (Loaders of shared libraries ignore
// bytes after the last section.) A file is never used if its seal does not match, if it is not a plain file of this
// user, or if other users may write it. Files are created by rename, so that any number of processes may share the
// folder. If the folder cannot be used, a private temporary folder replaces it for the lifetime of this object.
class KernelCache {
 public:
  // in  folder: created on first use; empty: no folder
  // in  limit [bytes]: above it the least recently used entries are removed
  KernelCache(std::filesystem::path folder, std::uintmax_t limit, Notice notice, CacheNames names = {});

  // The valid entry of this key, or nothing.
  std::optional<std::filesystem::path> find(const std::string& key);

  // The bytes of the valid entry of this key, without the seal, or nothing.
  std::optional<std::string> load(const std::string& key);

  // Seals the bytes of a compiled kernel, stores them and returns the path. Throws Error if even the private folder
  // cannot be written.
  std::filesystem::path store(const std::string& key, const std::string& library, const std::string& source);

  // Stores a source that did not compile, for reading. Returns its path, or an empty path if it could not be stored.
  std::filesystem::path store_source(const std::string& key, const std::string& source);

 private:
  std::string why_unusable();
  void tell_once(const std::string& reason);
  void trim(const std::string& newest);
  const std::filesystem::path& private_folder();

  const std::filesystem::path folder_;
  const std::uintmax_t limit_;
  const Notice notice_;
  const CacheNames names_;
  std::mutex mutex_;  // guards the member below
  std::optional<PrivateFolder> private_;
};

// The bytes of a plain file that belongs to this user and that nobody else may write; otherwise nothing.
std::optional<std::string> read_own_file(const std::filesystem::path& path);

// Writes a file that only this user may read, by rename from a temporary name. Returns "" or the reason of the
// failure.
std::string write_own_file(const std::filesystem::path& path, const std::string& bytes);

}  // namespace featherstorm
