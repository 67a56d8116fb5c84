#include "host/system/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

extern char** environ;

namespace featherstorm {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kOutputLimit = 256 * 1024;

// The two ends of a pipe, closed when they go out of scope.
struct Pipe {
  int read_end = -1;
  int write_end = -1;

  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    read_end = ends[0];
    write_end = ends[1];
    ::fcntl(read_end, F_SETFL, O_NONBLOCK);
  }
  ~Pipe() {
    if (read_end >= 0) ::close(read_end);
    close_write_end();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void close_write_end() {
    if (write_end >= 0) ::close(write_end);
    write_end = -1;
  }
};

// Reads the data that the pipe holds now. Returns false once every writer has closed it.
bool drain(int pipe_end, std::string& output) {
  char buffer[8192];
  for (;;) {
    const ssize_t n = ::read(pipe_end, buffer, sizeof buffer);
    if (n > 0) {
      const std::size_t room = kOutputLimit - output.size();
      output.append(buffer, std::min(room, static_cast<std::size_t>(n)));
    } else if (n == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN;
    }
  }
}

// The environment with LC_ALL=C, so that messages quoted in errors are the same everywhere.
std::vector<std::string> english_environment() {
  std::vector<std::string> variables;
  for (char** e = environ; *e != nullptr; ++e) {
    if (std::strncmp(*e, "LC_ALL=", 7) != 0) variables.emplace_back(*e);
  }
  variables.emplace_back("LC_ALL=C");
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> p;
  for (std::string& s : strings) p.push_back(s.data());
  p.push_back(nullptr);
  return p;
}

// Starts the program with its output in the pipe. Returns 0 or an errno.
int spawn(std::vector<std::string> arguments, int output, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);

  // the program does not inherit the caller's blocked and ignored signals
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (int s : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD, SIGHUP}) sigaddset(&usual, s);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  std::vector<std::string> environment = english_environment();
  const int error = ::posix_spawn(&pid, arguments[0].c_str(), &files, &attributes, pointers(arguments).data(),
                                  pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments, double time_limit) {
  ProcessResult result;
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time_limit));
  Pipe pipe;
  pid_t pid = -1;
  const int error = pipe.read_end < 0 ? errno : spawn(arguments, pipe.write_end, pid);
  if (error != 0) {
    result.output = std::strerror(error);
    return result;
  }
  result.started = true;
  pipe.close_write_end();

  // Read until the program has ended. EOF is no condition: a server left behind by the program may hold the pipe open
  // forever.
  bool open = true;
  int status = 0;
  for (;;) {
    if (open) {
      pollfd p{pipe.read_end, POLLIN, 0};
      ::poll(&p, 1, 10);
      open = drain(pipe.read_end, result.output);
    } else {
      ::poll(nullptr, 0, 1);
    }
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended == pid) break;
    // ECHILD: the caller ignores SIGCHLD and the status is lost; callers then check the files that were written
    if (ended < 0 && errno != EINTR) {
      status = 0;
      break;
    }
    if (!result.timed_out && Clock::now() > deadline) {
      result.timed_out = true;
      ::kill(-pid, SIGKILL);
    }
  }
  if (open) drain(pipe.read_end, result.output);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace featherstorm
