#include "host/system/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "host/system/interruption.h"

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

void close_files_from(int first) {
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, static_cast<unsigned>(first), ~0U, 0U) == 0) return;
#endif
  for (int file = first; file < 1024; file++) ::close(file);
}

// Ends a program, all processes of the group, and the calling supervisor.
[[noreturn]] void end_group(pid_t program) {
  ::kill(program, SIGKILL);
  ::waitpid(program, nullptr, 0);  // the first process of a container may not collect it
  ::kill(0, SIGKILL);
  ::_exit(127);
}

// A child process that starts the program and watches it: it ends the program and all that this has started when the
// time is up, or when the parent dies, which closes the write end of `parent`. It exits as the program does. It comes
// from a fork of a process with threads, so it makes system calls only.
//
// in  time_limit [s];  failure  a pipe that takes the errno with which the program could not be started
[[noreturn]] void supervise(char* const* arguments, char* const* environment, int output, int parent, int failure,
                            double time_limit) {
  ::setpgid(0, 0);
  // the program does not inherit the caller's blocked and ignored signals
  sigset_t none;
  sigemptyset(&none);
  for (int s : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD, SIGHUP}) ::signal(s, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const pid_t program = ::fork();
  if (program == 0) {
    const int empty = ::open("/dev/null", O_RDONLY);
    ::dup2(empty, STDIN_FILENO), ::dup2(output, STDOUT_FILENO), ::dup2(output, STDERR_FILENO);
    ::execve(arguments[0], arguments, environment);
  }
  if (program <= 0) {
    const int error = errno;
    if (::write(failure, &error, sizeof error) < 0) ::_exit(126);
    ::_exit(127);
  }
  // no other file of the parent is held open: not the ends of other programs' pipes, and not its locks
  ::dup2(parent, 0);
  close_files_from(1);
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time_limit));
  for (int status = 0;;) {
    pollfd p{0, POLLIN, 0};
    if (::poll(&p, 1, 5) > 0 || Clock::now() > deadline) end_group(program);
    const pid_t ended = ::waitpid(program, &status, WNOHANG);
    if (ended != program) continue;
    if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
    ::signal(WTERMSIG(status), SIG_DFL);
    ::raise(WTERMSIG(status));
    ::_exit(128 + WTERMSIG(status));
  }
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments, double time_limit) {
  ProcessResult result;
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time_limit));
  Pipe pipe, life, failure;
  const auto fails = [&](int error) {
    result.output = std::strerror(error);
    return result;
  };
  if (pipe.read_end < 0 || life.read_end < 0 || failure.read_end < 0) return fails(errno);
  std::vector<std::string> words = arguments, variables = english_environment();
  const std::vector<char*> argv = pointers(words), environment = pointers(variables);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(life.write_end);
    supervise(argv.data(), environment.data(), pipe.write_end, life.read_end, failure.write_end, time_limit + 1);
  }
  if (pid < 0) return fails(errno);
  ::setpgid(pid, pid);  // also here, so that the group is there at once
  pipe.close_write_end(), failure.close_write_end();
  // the other end closes when the program begins
  ::fcntl(failure.read_end, F_SETFL, 0);
  int error = 0;
  ssize_t told;
  while ((told = ::read(failure.read_end, &error, sizeof error)) < 0 && errno == EINTR) {}
  if (told == sizeof error) {
    ::waitpid(pid, nullptr, 0);
    return fails(error);
  }
  result.started = true;

  // Read until the program has ended. EOF is no condition: a server left behind by the program may hold the pipe open
  // forever.
  bool open = true;
  int status = 0;
  LongCall running;
  bool interrupted = false;
  for (;;) {
    if (running.ends() && !std::exchange(interrupted, true)) ::kill(-pid, SIGKILL);
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
  running.rethrow();
  if (open) drain(pipe.read_end, result.output);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace featherstorm
