#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "host/compile/compile.h"
#include "host/system/process.h"
#include "tests/support/tools/message.h"
#include "tests/support/tools/scratch.h"

namespace featherstorm::test_compile {
namespace {

namespace fs = std::filesystem;
using test::Environment;
using test::read_file;
using test::Scratch;
using test::write_file;

using Kernel = void (*)(const float*, float*);
const std::string kSource = R"(#include <cmath>
extern "C" void featherstorm_kernel(const float* x, float* y) { *y = 2.0f * *x + std::sqrt(9.0f); }
)";

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

float run(const LoadedLibrary& library, float x) {
  float y = 0;
  reinterpret_cast<Kernel>(library.kernel())(&x, &y);
  return y;
}

// A compiler that is a shell script and notes each compilation in the file `calls`.
struct Compile : ::testing::Test {
  Scratch scratch;
  CompileOptions options;
  std::vector<std::string> notices;

  Compile() {
    options.cache_folder = scratch / "cache";
    options.flags = {"-O1"};
    options.notice = [this](const std::string& text) { notices.push_back(text); };
    use_script("exec c++ \"$@\"");
  }

  void use_script(const std::string& text) {
    const fs::path script = scratch / "my compiler";
    write_file(script, "#!/bin/sh\n[ \"$1\" = --version ] && exec c++ --version\necho call >> '" +
                           quoted(scratch / "calls") + "'\n" + text + "\n");
    ::chmod(script.c_str(), 0700);
    options.compiler = {script.string()};
  }

  static std::string quoted(const fs::path& path) {
    std::string text;
    for (const char c : path.string()) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text;
  }

  int calls() const {
    const std::string text = read_file(scratch / "calls");
    return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  }

  // The message of the Error that compiling ends in.
  std::string error_of(const std::string& source) {
    return testing::message([&] { compile_and_load(source, options); });
  }
};

TEST_F(Compile, AKernelRuns) {
  const auto library = compile_and_load(kSource, options);
  ASSERT_TRUE(library);
  EXPECT_FALSE(library->from_cache);
  EXPECT_EQ(run(*library, 2), 7);
  EXPECT_EQ(library->path().parent_path(), options.cache_folder);
  EXPECT_EQ(library->symbol("no_such_symbol"), nullptr);
  EXPECT_EQ(read_file(fs::path(library->path()).replace_extension(".cpp")), kSource);
  EXPECT_TRUE(notices.empty());
}

TEST_F(Compile, TheSecondTimeTheCacheServes) {
  compile_and_load(kSource, options);
  for (int i = 0; i < 3; ++i) {
    const auto library = compile_and_load(kSource, options);
    EXPECT_TRUE(library->from_cache);
    EXPECT_EQ(run(*library, 2), 7);
  }
  EXPECT_EQ(calls(), 1);
}

TEST_F(Compile, TextFlagsAndCompilerMakeTheKey) {
  HostCompiler compiler(options);
  const auto path = [&](const std::string& source, const std::vector<std::string>& flags) {
    return compiler.compile_and_load(source, flags)->path();
  };
  const fs::path first = path(kSource, {});
  EXPECT_EQ(path(kSource, {}), first);
  EXPECT_NE(path(kSource + "\n", {}), first);
  EXPECT_NE(path(kSource, {"-O2"}), first);
  EXPECT_NE(path(kSource, {"-DA", "-DB"}), path(kSource, {"-DB", "-DA"}));

  // the same script written anew may be another compiler
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  use_script("exec c++ \"$@\"");
  EXPECT_NE(compile_and_load(kSource, options)->path(), first);
  options.symbol = "other";
  EXPECT_NE(error_of(kSource).find("does not define extern \"C\" other"), std::string::npos);
}

TEST_F(Compile, AMissingCompilerIsReported) {
  const auto reason = [&] {
    std::string missing;
    EXPECT_EQ(compile_and_load(kSource, options, &missing), nullptr);
    return missing;
  };
  options.compiler = {"/no/such compiler"};
  EXPECT_EQ(reason(), "no C++ compiler found: '/no/such compiler' is not a program");
  options.compiler.clear();
  {
    Environment own("FEATHERSTORM_CXX", "none");
    EXPECT_EQ(reason(), "no C++ compiler found: FEATHERSTORM_CXX='none' is not a program");
  }
  Environment own("FEATHERSTORM_CXX", std::nullopt), cxx("CXX", "no-cxx -m64"), path("PATH", scratch.path().string());
  EXPECT_EQ(reason(),
            "no C++ compiler found: CXX='no-cxx -m64' is not a program, c++ is not a program, g++ is not a program, "
            "clang++ is not a program");
  write_file(scratch / "c++", "#!/bin/sh\nexit 1\n");
  ::chmod((scratch / "c++").c_str(), 0700);
  EXPECT_NE(reason().find("c++ does not run"), std::string::npos);
}

TEST_F(Compile, TheEnvironmentNamesTheCompiler) {
  const std::string script = options.compiler[0];
  options.compiler.clear();
  Environment own("FEATHERSTORM_CXX", script), cxx("CXX", "c++ -DFROM_CXX");
  EXPECT_EQ(HostCompiler(options).command(), std::vector<std::string>{script}) << "a path with blanks is one word";

  Environment no_own("FEATHERSTORM_CXX", std::nullopt);
  const HostCompiler compiler(options);
  ASSERT_EQ(compiler.command().size(), 2u);
  EXPECT_EQ(compiler.command()[1], "-DFROM_CXX");
  EXPECT_TRUE(compile_and_load("#ifndef FROM_CXX\n#error\n#endif\n" + kSource, options));
}

TEST_F(Compile, TheCompilersWordsAreInTheError) {
  const std::string message = error_of("extern \"C\" int featherstorm_kernel() { return unknown_name; }");
  EXPECT_NE(message.find("my compiler failed with exit code 1"), std::string::npos) << message;
  EXPECT_NE(message.find("unknown_name"), std::string::npos) << message;
  const std::size_t at = message.find("(program text: ") + 15;
  EXPECT_NE(read_file(message.substr(at, message.find(".cpp)") + 4 - at)).find("unknown_name"), std::string::npos);
  EXPECT_EQ(std::distance(fs::directory_iterator(options.cache_folder), fs::directory_iterator()), 1);
}

TEST_F(Compile, AFloodOfWordsIsCut) {
  use_script("yes complaint | head -c 10000000; exit 3");
  const std::string message = error_of(kSource);
  EXPECT_NE(message.find("failed with exit code 3"), std::string::npos);
  EXPECT_LT(message.size(), 6000u);
}

TEST_F(Compile, ASilentCompilerIsAnError) {
  use_script("exit 0");
  EXPECT_NE(error_of(kSource).find("wrote no library"), std::string::npos);
  // what it wrote is no library
  use_script("for out; do :; done; echo rubbish > \"$out\"");
  EXPECT_NE(error_of(kSource).find("cannot load"), std::string::npos);
}

TEST_F(Compile, AHangingCompilerIsStopped) {
  use_script("sleep 1000");
  options.time_limit = 0.5;
  const std::string message = error_of(kSource);
  EXPECT_NE(message.find("was stopped after 0.5 s"), std::string::npos) << message;
}

TEST_F(Compile, AServerLeftBehindIsNotWaitedFor) {
  use_script("sleep 30 & echo $! > '" + quoted(scratch / "child") + "'; exec c++ \"$@\"");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(compile_and_load(kSource, options));
  EXPECT_LT(seconds_since(start), 25);
  ::kill(std::stoi(read_file(scratch / "child")), SIGKILL);
}

TEST_F(Compile, WithoutAUsableCacheEachHostCompilerKeepsItsOwn) {
  write_file(scratch / "file", "");
  options.cache_folder = scratch / "file" / "below";
  HostCompiler compiler(options);
  const auto first = compiler.compile_and_load(kSource);
  const auto second = compiler.compile_and_load(kSource);
  EXPECT_EQ(run(*first, 2), 7);
  EXPECT_TRUE(second->from_cache);
  compiler.compile_and_load(kSource, {"-O2"});
  EXPECT_EQ(calls(), 2);
  EXPECT_EQ(notices.size(), 1u);
}

TEST_F(Compile, CodeOutlivesTheCompilerAndItsFolder) {
  write_file(scratch / "file", "");
  options.cache_folder = scratch / "file";  // cannot be used, so the folder is the compiler's own
  std::shared_ptr<LoadedLibrary> library;
  {
    HostCompiler compiler(options);
    library = compiler.compile_and_load(kSource);
  }
  EXPECT_FALSE(fs::exists(library->path()));
  EXPECT_EQ(run(*library, 2), 7);
}

TEST_F(Compile, ProcessesMayShareTheCache) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    bool good = true;
    for (int k = 0; k < 3; ++k) {
      const auto library = compile_and_load(kSource + "// " + std::to_string(k) + "\n", options);
      good = good && library && run(*library, static_cast<float>(i)) == 2.0f * static_cast<float>(i) + 3.0f;
    }
    ::_exit(good ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const int before = calls();
  EXPECT_GE(before, 3);
  EXPECT_TRUE(compile_and_load(kSource + "// 1\n", options)->from_cache);
  EXPECT_EQ(calls(), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(options.cache_folder), fs::directory_iterator()), 6)
      << "three kernels, three texts, no temporary files";
}

TEST_F(Compile, ThreadsMayShareTheCompiler) {
  HostCompiler compiler(options);
  std::vector<std::thread> threads;
  std::vector<float> results(4);
  for (std::size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] { results[i] = run(*compiler.compile_and_load(kSource), static_cast<float>(i)); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(results, (std::vector<float>{3, 5, 7, 9}));
}

TEST(Process, ArgumentsArriveAsTheyAre) {
  const std::string odd = "a b  'c' \"d\" $HOME * \\ \n";
  const ProcessResult result = run_process({"/bin/sh", "-c", "printf '%s|' \"$@\"; exit 7", "sh", odd, ""}, 10);
  EXPECT_EQ(result.output, odd + "||");
  EXPECT_EQ(result.exit_code, 7);
}

TEST(Process, SignalsAndMissingProgramsAreTold) {
  EXPECT_EQ(run_process({"/bin/sh", "-c", "kill -9 $$"}, 10).exit_code, 128 + 9);
  const ProcessResult missing = run_process({"/no/such/program"}, 10);
  EXPECT_FALSE(missing.started);
  EXPECT_EQ(missing.output, "No such file or directory");
}

TEST(Process, WorksWhereChildrenAreIgnored) {
  const auto old = ::signal(SIGCHLD, SIG_IGN);
  const ProcessResult result = run_process({"/bin/sh", "-c", "echo done"}, 10);
  ::signal(SIGCHLD, old);
  EXPECT_EQ(result.output, "done\n");
  EXPECT_FALSE(result.timed_out);
}

}  // namespace
}  // namespace featherstorm::test_compile
