// docs/cpp.md: forward dynamics of 4096 quadrupeds.
#include <cstdio>

#include <featherstorm/featherstorm.h>

using namespace featherstorm;

int main() {
  const Robot robot = load("go2");  // or a path: load("robot.urdf", {.floating_base = true})
  Evaluator dynamics(robot);

  const long B = 4096;
  const int nq = robot.model.nq, nv = robot.model.nv;
  Buffer q(Precision::float32, B, nq), v(Precision::float32, B, nv);  // zero-filled, [component][instance]
  Buffer tau(Precision::float32, B, nv), a(Precision::float32, B, nv);
  for (int c = 0; c < nq; c++)
    for (long i = 0; i < B; i++) q.component<float>(c)[i] = static_cast<float>(robot.q0[c]);

  dynamics.run("fd", {q.ref(), v.ref(), tau.ref()}, {a.ref()});  // its first use makes the robot's kernel
  std::printf("instance 17 falls with %.2f m/s^2\n", a.component<float>(2)[17]);

  // what the table has, what it needs
  for (const OpRow& op : dynamics.ops())
    if (op.name == "crba") std::printf("crba gives %d numbers an instance\n", op.out[0].components);
  return 0;
}
