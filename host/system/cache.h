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
  PrivateFolder();  // throws Error where no temporary folder can be made
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int owner_;  // the process that made it: a forked child leaves it alone
};

// What the files of an entry are called behind its key.
struct CacheNames { std::string compiled = ".so", source = ".cpp"; };

// Compiled kernels on disk, one file `<key>.so` each, with its program text `<key>.cpp` beside it for reading; those of
// a CUDA device are `<key>.cubin` and `<key>.cu`.
//
// The last bytes of the compiled file are a seal: key, size and checksum of what precedes it. (A loader of shared libraries
// ignores bytes behind the last section.) A file whose seal does not fit, that is not a plain file of this user, or
// that others may write, is never handed out. Files appear by rename, so that any number of processes may share the
// folder. Where the folder cannot be used, a private temporary folder serves as long as this object lives.
class KernelCache {
 public:
  // in  folder: created on first use; empty: none
  // in  limit [bytes]: above it the entries unused for longest are removed
  KernelCache(std::filesystem::path folder, std::uintmax_t limit, Notice notice, CacheNames names = {});

  // The sound entry of this key, or nothing.
  std::optional<std::filesystem::path> find(const std::string& key);

  // The bytes of the sound entry of this key, without the seal, or nothing.
  std::optional<std::string> load(const std::string& key);

  // Seals the bytes of a compiled kernel, stores them and returns where; throws Error where not even the private folder
  // takes them.
  std::filesystem::path store(const std::string& key, const std::string& library, const std::string& source);

  // Stores a program text that did not compile, for reading; its path, or empty where it could not be stored.
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
  std::mutex mutex_;  // guards what follows
  bool told_ = false;
  std::optional<PrivateFolder> private_;
};

// The bytes of a plain file that belongs to this user and that nobody else may write; nothing where it is not such a
// file.
std::optional<std::string> read_own_file(const std::filesystem::path& path);

// Writes a file that only this user may read, by rename from a temporary name; "" or the reason why it could not be.
std::string write_own_file(const std::filesystem::path& path, const std::string& bytes);

}  // namespace featherstorm
