// The program that featherstorm_add_robot runs when a project is built: writes the files of generate.h.
//
//   featherstorm_generate FOLDER NAME (float32|float64) (host|cuda) WIDTH (usual|fixed|floating) ROBOT OPERATION...
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "host/compile/generate.h"
#include "host/load/load.h"

namespace {

// Does not touch a file whose contents are right, so that nothing is compiled again.
void write(const std::filesystem::path& path, const std::string& text) {
  std::ifstream before(path, std::ios::binary);
  if (before && std::string(std::istreambuf_iterator<char>(before), {}) == text) return;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace

int main(int n, char** argument) {
  using namespace featherstorm;
  if (n < 9) return std::fprintf(stderr, "featherstorm_generate: see host/compile/generate_main.cpp\n"), 2;
  try {
    LoadOptions load_options;
    const std::string base = argument[6];
    if (base != "usual") load_options.floating_base = base == "floating";
    const Robot robot = load(argument[7], load_options);
    GenerateOptions o;
    o.name = argument[2];
    o.precision = std::string(argument[3]) == "float64" ? Precision::float64 : Precision::float32;
    o.cuda = std::string(argument[4]) == "cuda";
    o.width = std::stoi(argument[5]);
    o.ops.assign(argument + 8, argument + n);
    std::filesystem::create_directories(argument[1]);
    for (const GeneratedFile& f : generate(robot, o)) write(std::filesystem::path(argument[1]) / f.name, f.text);
  } catch (const std::exception& e) { return std::fprintf(stderr, "featherstorm_generate: %s\n", e.what()), 1; }
}
