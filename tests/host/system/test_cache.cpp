#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/system/cache.h"
#include "host/system/hash.h"
#include "tests/support/tools/message.h"
#include "tests/support/tools/scratch.h"

namespace featherstorm::test_cache {
namespace {

namespace fs = std::filesystem;
using test::Environment;
using test::read_file;
using test::Scratch;
using test::write_file;

const std::string kKey(32, 'a');
const std::string kOther(32, 'b');
const std::string kLibrary(3000, 'x');

std::size_t count_files(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(Hash, MatchesThePublishedNumbers) {
  EXPECT_EQ(Hash().hex(), "6c62272e07bb014262b821756295c58d");
  EXPECT_EQ(Hash().add("a").hex(), "d228cb696f1a8caf78912b704e4a8964");
  EXPECT_EQ(Hash().add("foo").add("bar").hex(), "343e1662793c64bf6f0d3597ba446f18");
}

TEST(Hash, FieldsDoNotRunTogether) {
  EXPECT_NE(Hash().add_field("ab").add_field("c").hex(), Hash().add_field("a").add_field("bc").hex());
  EXPECT_NE(Hash().add_field("").add_field("a").hex(), Hash().add_field("a").add_field("").hex());
}

TEST(KernelCache, FindsWhatWasStored) {
  Scratch scratch;
  KernelCache cache(scratch / "deep" / "cache", 1 << 20, nullptr);
  EXPECT_FALSE(cache.find(kKey));
  const fs::path path = cache.store(kKey, kLibrary, "the text");
  EXPECT_EQ(path, scratch / "deep" / "cache" / (kKey + ".so"));
  EXPECT_EQ(cache.find(kKey), path);
  EXPECT_FALSE(cache.find(kOther));
  EXPECT_EQ(read_file(path).substr(0, kLibrary.size()), kLibrary);
  EXPECT_EQ(read_file(scratch / "deep" / "cache" / (kKey + ".cpp")), "the text");
  EXPECT_EQ(count_files(scratch / "deep" / "cache"), 2u);

  struct stat s;
  ASSERT_EQ(::stat(path.c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777, 0600u);
}

TEST(KernelCache, DamagedEntriesAreNotFound) {
  Scratch scratch;
  KernelCache cache(scratch.path(), 1 << 20, nullptr);
  const fs::path path = cache.store(kKey, kLibrary, "");
  const std::string good = read_file(path);
  for (std::size_t i = 0; i < good.size(); i++) {
    std::string flipped = good;
    flipped[i] ^= 1;
    write_file(path, flipped);
    EXPECT_FALSE(cache.find(kKey)) << "byte " << i << " flipped";
    write_file(path, good.substr(0, i));
    EXPECT_FALSE(cache.find(kKey)) << "cut to " << i << " bytes";
  }
  for (const std::string& bad : {std::string(), std::string("garbage"), good + "x", "x" + good, good + good}) {
    write_file(path, bad);
    EXPECT_FALSE(cache.find(kKey)) << bad.size() << " bytes";
  }
  write_file(path, good);
  EXPECT_TRUE(cache.find(kKey));
}

TEST(KernelCache, AnotherKeysEntryIsNotFound) {
  Scratch scratch;
  KernelCache cache(scratch.path(), 1 << 20, nullptr);
  fs::copy_file(cache.store(kKey, kLibrary, ""), scratch / (kOther + ".so"));
  ::chmod((scratch / (kOther + ".so")).c_str(), 0600);
  EXPECT_FALSE(cache.find(kOther));
}

TEST(KernelCache, EntriesThatOthersMayWriteAreNotFound) {
  Scratch scratch;
  KernelCache cache(scratch.path(), 1 << 20, nullptr);
  const fs::path path = cache.store(kKey, kLibrary, "");
  for (const mode_t mode : {0620u, 0602u, 0666u}) {
    ::chmod(path.c_str(), mode);
    EXPECT_FALSE(cache.find(kKey)) << std::oct << mode;
  }
  ::chmod(path.c_str(), 0644);
  EXPECT_TRUE(cache.find(kKey));
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
    EXPECT_FALSE(cache.find(kKey)) << "another user's file";
  }
}

TEST(KernelCache, LinksAndFoldersAreNotFound) {
  Scratch scratch;
  KernelCache cache(scratch.path(), 1 << 20, nullptr);
  const fs::path path = cache.store(kKey, kLibrary, "");
  fs::rename(path, scratch / "elsewhere");
  fs::create_symlink(scratch / "elsewhere", path);
  EXPECT_FALSE(cache.find(kKey));
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_FALSE(cache.find(kKey));
}

// Stores twice into a folder that cannot be used; the entries live with the cache object, and one notice says so.
void expect_private_folder(const fs::path& folder, const std::string& reason) {
  std::vector<std::string> notices;
  fs::path path;
  {
    KernelCache cache(folder, 1 << 20, [&](const std::string& text) { notices.push_back(text); });
    EXPECT_FALSE(cache.find(kKey));
    path = cache.store(kKey, kLibrary, "");
    EXPECT_EQ(cache.find(kKey), path);
    EXPECT_EQ(cache.find(kOther), std::nullopt);
    EXPECT_EQ(cache.store(kOther, kLibrary, "").parent_path(), path.parent_path());
    EXPECT_NE(path.parent_path(), folder);
    EXPECT_TRUE(cache.store_source(kKey, "").empty());
  }
  EXPECT_FALSE(fs::exists(path.parent_path()));
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_NE(notices[0].find(reason), std::string::npos) << notices[0];
  EXPECT_NE(notices[0].find(folder.string()), std::string::npos) << notices[0];
}

TEST(KernelCache, WithoutAUsableFolderAPrivateOneServes) {
  Scratch scratch;
  write_file(scratch / "file", "");
  expect_private_folder(scratch / "file", "not a folder");
  expect_private_folder(scratch / "file" / "below", "Not a directory");
  expect_private_folder("/proc/featherstorm", "No such file or directory");
  expect_private_folder("", "none of FEATHERSTORM_CACHE, XDG_CACHE_HOME and HOME is set");
}

TEST(KernelCache, AFolderThatOthersMayWriteIsNotUsed) {
  Scratch scratch;
  fs::create_directory(scratch / "open");
  ::chmod((scratch / "open").c_str(), 0777);
  expect_private_folder(scratch / "open", "other users may write there");
}

TEST(KernelCache, AnotherUsersFolderIsNotUsed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a folder of another user";
  Scratch scratch;
  fs::create_directory(scratch / "theirs");
  ASSERT_EQ(::chown((scratch / "theirs").c_str(), 65534, 65534), 0);
  expect_private_folder(scratch / "theirs", "it belongs to another user");
}

TEST(KernelCache, AFullDiskIsNoObstacle) {
  Scratch scratch;
  const fs::path disk = scratch / "disk";
  fs::create_directory(disk);
  constexpr int cannot_mount = 77;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", disk.c_str(), "tmpfs", 0, "size=16k,mode=700") != 0) {
      ::_exit(cannot_mount);
    }
    std::string notice;
    KernelCache cache(disk / "cache", 1 << 20, [&](const std::string& text) { notice = text; });
    const fs::path path = cache.store(kKey, std::string(100000, 'x'), "");
    EXPECT_NE(notice.find("No space left on device"), std::string::npos) << notice;
    EXPECT_NE(path.parent_path(), disk / "cache");
    EXPECT_EQ(cache.find(kKey), path);
    EXPECT_EQ(count_files(disk / "cache"), 0u) << "a half-written file was left";
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == cannot_mount) GTEST_SKIP() << "no small disk can be mounted here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(KernelCache, RemovesTheEntriesUnusedForLongest) {
  Scratch scratch;
  KernelCache cache(scratch.path(), 10000, nullptr);
  const std::string a(32, '1'), b(32, '2'), c(32, '3'), d(32, '4');
  const auto age = [&](const std::string& key, int minutes) {
    for (const char* extension : {".so", ".cpp"}) {
      fs::last_write_time(scratch / (key + extension),
                          fs::file_time_type::clock::now() - std::chrono::minutes(minutes));
    }
  };
  write_file(scratch / "someone's.txt", std::string(20000, '.'));
  int minutes = 30;
  for (const std::string& key : {a, b, c}) {
    cache.store(key, kLibrary, "text");
    age(key, minutes -= 5);
  }
  ASSERT_TRUE(cache.find(a)) << "all three fit";

  // a was used just now, so b is the oldest
  cache.store(d, kLibrary, "text");
  EXPECT_TRUE(cache.find(a));
  EXPECT_FALSE(cache.find(b));
  EXPECT_FALSE(fs::exists(scratch / (b + ".cpp")));
  EXPECT_TRUE(cache.find(c));
  EXPECT_TRUE(cache.find(d));
  EXPECT_TRUE(fs::exists(scratch / "someone's.txt"));

  cache.store(b, std::string(30000, 'x'), "text");
  EXPECT_TRUE(cache.find(b)) << "the newest stays, whatever its size";
  EXPECT_FALSE(cache.find(d));
}

TEST(KernelCache, RemovesWhatKilledProcessesLeft) {
  Scratch scratch;
  KernelCache cache(scratch.path(), 1 << 20, nullptr);
  write_file(scratch / ".tmp-1-0", "old");
  write_file(scratch / ".tmp-1-1", "being written");
  fs::last_write_time(scratch / ".tmp-1-0", fs::file_time_type::clock::now() - std::chrono::hours(2));
  cache.store(kKey, kLibrary, "");
  EXPECT_FALSE(fs::exists(scratch / ".tmp-1-0"));
  EXPECT_TRUE(fs::exists(scratch / ".tmp-1-1"));
}

TEST(PrivateFolder, RemovesThoseOfKilledProcesses) {
  Scratch scratch;
  const Environment temporary("TMPDIR", scratch.path().string());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  const auto folder = [&](pid_t process) { return scratch / ("featherstorm-" + std::to_string(process) + "-abcdef"); };
  const auto age = [&](const fs::path& path, int hours) {
    fs::create_directories(path);
    write_file(path / "kernel.so", "text");
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  age(folder(child), 2), age(folder(::getpid()), 2), age(scratch / "featherstorm-of-another", 2);
  { const PrivateFolder now; }
  EXPECT_FALSE(fs::exists(folder(child)));
  EXPECT_TRUE(fs::exists(folder(::getpid())) && fs::exists(scratch / "featherstorm-of-another"));
  age(folder(child), 0);
  { const PrivateFolder now; }
  EXPECT_TRUE(fs::exists(folder(child))) << "a process of another container may seem to be gone";
}

TEST(KernelCache, AForkedChildLeavesThePrivateFolderAlone) {
  std::optional<PrivateFolder> folder;
  folder.emplace();
  const pid_t child = ::fork();
  if (child == 0) {
    folder.reset();
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(fs::exists(folder->path()));
  const fs::path path = folder->path();
  folder.reset();
  EXPECT_FALSE(fs::exists(path));
}

TEST(KernelCache, NoTemporaryFolderIsAnError) {
  // a TMPDIR that is not a folder is ignored in favour of /tmp; one that nobody can write to is not
  Environment temporary("TMPDIR", "/proc");
  EXPECT_EQ(testing::message([] {
              PrivateFolder folder;
            }).find("kernel cache: no temporary folder can be made as /proc/featherstorm-"),
            0u);
}

TEST(KernelCache, TheFolderFollowsTheEnvironment) {
  Environment own("FEATHERSTORM_CACHE", "/a b"), xdg("XDG_CACHE_HOME", "/x"), home("HOME", "/h");
  EXPECT_EQ(default_cache_folder(), "/a b");
  Environment no_own("FEATHERSTORM_CACHE", std::nullopt);
  EXPECT_EQ(default_cache_folder(), "/x/featherstorm");
  Environment relative_xdg("XDG_CACHE_HOME", "x");
  EXPECT_EQ(default_cache_folder(), "/h/.cache/featherstorm");
  Environment no_home("HOME", std::nullopt);
  EXPECT_EQ(default_cache_folder(), "");
}

}  // namespace
}  // namespace featherstorm::test_cache
