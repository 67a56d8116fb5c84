#include "host/system/cache.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "host/system/error.h"
#include "host/system/hash.h"

namespace featherstorm {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kKeySize = 32;
constexpr std::string_view kPrivate = "featherstorm-";  // then the process, and six letters
// extensions of all entries, because one size limit covers the whole folder
constexpr const char* kExtensions[] = {".so", ".cpp", ".cubin", ".cu"};

// The seal appended to the library's bytes: a mark, the key, the size and the checksum of key and bytes.
std::string seal(const std::string& key, std::string_view library) {
  const std::string size = std::to_string(library.size());
  return "\nfeatherstorm 1 " + key + " " + std::string(16 - size.size(), '0') + size + " " +
         Hash().add_field(key).add_field(library).hex() + "\n";
}

bool is_sealed(const std::string& key, std::string_view file) {
  const std::size_t n = seal(key, "").size();
  return file.size() > n && file.substr(file.size() - n) == seal(key, file.substr(0, file.size() - n));
}

// The reason why another user could put a library into this folder; "" if none can.
std::string why_unsafe(const fs::path& folder) {
  struct stat s;
  if (::stat(folder.c_str(), &s) != 0) return std::strerror(errno);
  if (!S_ISDIR(s.st_mode)) return "not a folder";
  if (s.st_uid != ::geteuid() && s.st_uid != 0) return "it belongs to another user";
  const bool others_write = (s.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (others_write && (s.st_mode & S_ISVTX) == 0) return "other users may write there (chmod go-w mends it)";
  return "";
}

// A name in this folder that no other thread or process uses.
std::string temporary_name() {
  static std::atomic<unsigned> count{0};
  return ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
}

// Removes temporary files that killed processes left an hour ago or earlier.
void remove_stale_temporaries(const fs::path& folder) {
  std::error_code ignored;
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const fs::directory_entry& file : fs::directory_iterator(folder, ignored)) {
    const bool ours = file.path().filename().string().starts_with(".tmp-");
    if (ours && file.last_write_time(ignored) < old) fs::remove(file.path(), ignored);
  }
}

// Removes private folders whose process is gone, from an hour of age on: in a folder that containers share, a process of another
// one may seem to be gone.
void remove_stale_folders(const fs::path& temporary) {
  std::error_code ignored;
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const fs::directory_entry& entry : fs::directory_iterator(temporary, ignored)) {
    const std::string name = entry.path().filename();
    struct stat s;
    if (!name.starts_with(kPrivate) || entry.symlink_status(ignored).type() != fs::file_type::directory ||
        ::stat(entry.path().c_str(), &s) != 0)
      continue;
    const auto owner = static_cast<pid_t>(std::strtol(name.c_str() + kPrivate.size(), nullptr, 10));
    const bool gone = owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH;
    if (gone && s.st_uid == ::geteuid() && entry.last_write_time(ignored) < old) fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

fs::path default_cache_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value == nullptr ? "" : value);
  };
  if (const fs::path p = variable("FEATHERSTORM_CACHE"); !p.empty()) return p;
  // the XDG specification says to ignore relative paths
  if (const fs::path p = variable("XDG_CACHE_HOME"); p.is_absolute()) return p / "featherstorm";
  if (const fs::path p = variable("HOME"); p.is_absolute()) return p / ".cache" / "featherstorm";
  return {};
}

std::optional<std::string> read_own_file(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return std::nullopt;
  std::optional<std::string> bytes;
  struct stat s;
  const bool known = ::fstat(file, &s) == 0;
  if (known && S_ISREG(s.st_mode) && s.st_uid == ::geteuid() && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0) {
    bytes.emplace(static_cast<std::size_t>(s.st_size), '\0');
    std::size_t done = 0;
    while (done < bytes->size()) {
      const ssize_t n = ::read(file, bytes->data() + done, bytes->size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      done += static_cast<std::size_t>(n);
    }
    bytes->resize(done);
  }
  ::close(file);
  return bytes;
}

std::string write_own_file(const fs::path& path, const std::string& bytes) {
  const fs::path temporary = path.parent_path() / temporary_name();
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return std::strerror(errno);
  int error = 0;
  for (std::size_t done = 0; done < bytes.size() && error == 0;) {
    const ssize_t n = ::write(file, bytes.data() + done, bytes.size() - done);
    if (n >= 0) done += static_cast<std::size_t>(n);
    if (n < 0 && errno != EINTR) error = errno;
  }
  if (::close(file) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) ::unlink(temporary.c_str());
  return error == 0 ? "" : std::strerror(error);
}

PrivateFolder::PrivateFolder() : owner_(::getpid()) {
  std::error_code error;
  fs::path temporary = fs::temp_directory_path(error);
  if (error) temporary = "/tmp";
  remove_stale_folders(temporary);
  std::string name = temporary / (std::string(kPrivate) + std::to_string(owner_) + "-XXXXXX");
  if (::mkdtemp(name.data()) == nullptr) {
    throw Error("kernel cache: no temporary folder can be made as " + name + ": " + std::strerror(errno));
  }
  path_ = name;
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (::getpid() == owner_) fs::remove_all(path_, ignored);
}

KernelCache::KernelCache(fs::path folder, std::uintmax_t limit, Notice notice, CacheNames names)
    : folder_(folder.empty() ? std::move(folder) : fs::absolute(folder)),
      limit_(limit),
      notice_(std::move(notice)),
      names_(std::move(names)) {}

std::optional<fs::path> KernelCache::find(const std::string& key) {
  std::vector<fs::path> folders;
  if (!folder_.empty() && why_unsafe(folder_).empty()) folders.push_back(folder_);
  {
    const std::lock_guard lock(mutex_);
    if (private_) folders.push_back(private_->path());
  }
  for (const fs::path& folder : folders) {
    fs::path path = folder / (key + names_.compiled);
    const std::optional<std::string> file = read_own_file(path);
    if (!file || !is_sealed(key, *file)) continue;
    // the time of last use, for trim()
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
    return path;
  }
  return std::nullopt;
}

std::optional<std::string> KernelCache::load(const std::string& key) {
  const std::optional<fs::path> path = find(key);
  std::optional<std::string> file = path ? read_own_file(*path) : std::nullopt;
  // another process may have removed or replaced it meanwhile
  if (!file || !is_sealed(key, *file)) return std::nullopt;
  file->resize(file->size() - seal(key, "").size());
  return file;
}

fs::path KernelCache::store(const std::string& key, const std::string& library, const std::string& source) {
  const std::string sealed = library + seal(key, library);
  const std::string name = key + names_.compiled;
  std::string reason = why_unusable();
  if (reason.empty()) {
    reason = write_own_file(folder_ / name, sealed);
    if (reason.empty()) {
      write_own_file(folder_ / (key + names_.source), source);
      trim(key);
      return folder_ / name;
    }
  }
  tell_once(reason);
  const fs::path path = private_folder() / name;
  reason = write_own_file(path, sealed);
  if (!reason.empty()) throw Error("kernel cache: cannot write " + path.string() + ": " + reason);
  write_own_file(private_folder() / (key + names_.source), source);
  return path;
}

fs::path KernelCache::store_source(const std::string& key, const std::string& source) {
  if (!why_unusable().empty()) return {};
  const fs::path path = folder_ / (key + names_.source);
  return write_own_file(path, source).empty() ? path : fs::path();
}

// Creates the folder if it does not exist. Returns the reason why the folder cannot be used, or "".
std::string KernelCache::why_unusable() {
  if (folder_.empty()) return "none of FEATHERSTORM_CACHE, XDG_CACHE_HOME and HOME is set";
  std::error_code error;
  if (folder_.has_parent_path()) fs::create_directories(folder_.parent_path(), error);
  if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) return std::strerror(errno);
  return why_unsafe(folder_);
}

// Gives the notice about a folder once in the process, although each model and each traced function has its own cache.
void KernelCache::tell_once(const std::string& reason) {
  static std::mutex mutex;
  static std::set<std::pair<fs::path, std::string>> told;
  if (!notice_) return;
  {
    const std::lock_guard lock(mutex);
    if (!told.insert({folder_, reason}).second) return;
  }
  notice_("the kernel cache " + (folder_.empty() ? "" : folder_.string() + " ") + "cannot be used (" + reason +
          "): kernels are compiled anew in each process; set FEATHERSTORM_CACHE to a folder that can be written");
}

const fs::path& KernelCache::private_folder() {
  const std::lock_guard lock(mutex_);
  if (!private_) private_.emplace();
  return private_->path();
}

// Removes the least recently used entries until the rest fits the limit. The newest entry stays, whatever its size.
void KernelCache::trim(const std::string& newest) {
  remove_stale_temporaries(folder_);
  struct Entry {
    fs::file_time_type last_use = fs::file_time_type::min();
    std::uintmax_t size = 0;
  };
  std::map<std::string, Entry> entries;
  std::uintmax_t total = 0;
  std::error_code ignored;
  for (const fs::directory_entry& file : fs::directory_iterator(folder_, ignored)) {
    const std::string key = file.path().stem().string();
    const std::string extension = file.path().extension();
    const bool ours = std::find(std::begin(kExtensions), std::end(kExtensions), extension) != std::end(kExtensions);
    if (key.size() != kKeySize || !ours) continue;
    std::error_code gone;
    const std::uintmax_t size = file.file_size(gone);
    const fs::file_time_type time = file.last_write_time(gone);
    // another process may have removed it meanwhile
    if (gone) continue;
    Entry& entry = entries[key];
    entry.size += size;
    entry.last_use = std::max(entry.last_use, time);
    total += size;
  }

  std::vector<std::pair<fs::file_time_type, std::string>> oldest_first;
  for (const auto& [key, entry] : entries) oldest_first.emplace_back(entry.last_use, key);
  std::sort(oldest_first.begin(), oldest_first.end());
  for (const auto& [time, key] : oldest_first) {
    if (total <= limit_) return;
    if (key == newest) continue;
    for (const char* extension : kExtensions) fs::remove(folder_ / (key + extension), ignored);
    total -= entries[key].size;
  }
}

}  // namespace featherstorm
