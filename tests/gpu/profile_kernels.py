"""Launches each specialised kernel once, for ncu to count: `ncu -k regex:featherstorm_kernel python profile_kernels.py [quick]`.

Its name is not `profile`, which is one of Python's own modules.
"""

import sys

import featherstorm as fs

quick = sys.argv[1:] == ["quick"]
B = 64 if quick else 262144  # enough for whole waves, and little enough for ncu, which saves the memory it repeats
OPERATIONS = ("rnea", "crba", "fd")

for robot in ("iiwa14",) if quick else ("iiwa14", "go2", "g1", "atlas"):
    model = fs.load(robot)
    model.specialise((*OPERATIONS, "step"), device="cuda")
    q, v, third = (fs.zeros((B, n), device="cuda") for n in (model.nq, model.nv, model.nv))
    q[:], v[:] = fs.random_state(model, B, seed=1, dtype="float32")
    for op in OPERATIONS:
        fs.run(model, op, *((q,) if op == "crba" else (q, v, third)))
    sim = fs.Simulation(model, B, 2e-3, device="cuda")
    sim.reset(q=q.numpy(), v=v.numpy())
    sim.step()
    assert not sim.status.any(), f"{robot}: the step gave a state that is not finite"
    print(f"{robot}: {', '.join(OPERATIONS)}, step, {B} instances", flush=True)
