// Errors of float32 against double, per operation and robot, as a table in Markdown.
//
//   bench_accuracy [--instances=4096] [ROBOT...]     default: iiwa14 go2 g1 atlas
//
// Both compute from the same inputs, rounded to float (case.h). relative: |X - R| / |R| in the 2-norm over the batch;
// largest: the worst instance, max |x - r| / max |r|.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bench/case.h"
#include "host/load/load.h"

using namespace featherstorm;

int main(int argc, char** argv) {
  long instances = 4096;
  std::vector<std::string> robots;
  for (int k = 1; k < argc; k++) {
    if (std::strncmp(argv[k], "--instances=", 12) == 0) instances = std::atol(argv[k] + 12);
    else robots.push_back(argv[k]);
  }
  if (robots.empty()) robots = {"iiwa14", "go2", "g1", "atlas"};

  std::printf("%ld random states a row. Build: %s\n\n", instances, FEATHERSTORM_BUILD);
  std::printf("| op | robot | run-time: relative | largest | assembled: relative | largest |\n");
  std::printf("|---|---|---|---|---|---|\n");
  for (const std::string& name : robots) {
    const Robot robot = load(name);
    EvaluatorOptions any_robot;
    any_robot.assemble = false;
    Evaluator run_time(robot, any_robot), assembled(robot);
    for (const OpRow& row : run_time.ops()) {
      if (!row.refused.empty()) continue;
      Case c(run_time, row.name, Precision::float32, instances);
      c.run(run_time, true);
      const Case::Error r = c.error();
      std::printf("| %s | %s | %.1e | %.1e |", c.op.c_str(), name.c_str(), r.relative, r.largest);
      c.run(assembled, true);
      if (assembled.specialised(row.name, Precision::float32, c.options.frame)) {
        const Case::Error s = c.error();
        std::printf(" %.1e | %.1e |\n", s.relative, s.largest);
      } else {
        std::printf(" - | - |\n");
      }
      std::fflush(stdout);
    }
  }
}
