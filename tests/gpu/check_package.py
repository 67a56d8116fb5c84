"""The Python package on this machine's GPU, with numpy alone: a few operations and a simulation against the CPU: check_package.py [quick]

By the kernels for any robot and by the robot's own; test_torch.py has the rest, with PyTorch's arrays.
"""

import sys

import numpy as np

import featherstorm as fs
from featherstorm import _featherstorm

B, STEPS, DT = 1027, 10, 2e-3
TOLERANCE = {"float32": 5e-3, "float64": 1e-8}
OUTPUTS = {"rnea": "tau", "crba": "M", "fd": "a"}
checks = failures = 0


def check(where, found, expected, dtype):
    global checks, failures
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    error = (np.abs(found - expected).max(axis=tuple(range(1, expected.ndim))) / (np.abs(expected).max() + 1e-3)).max()
    checks += 1
    right = bool(error < TOLERANCE[dtype])
    failures += not right
    print(f"{'' if right else 'FAILED  '}{where}: error {error:.1e}", flush=True)


def batch(model, dtype, device):
    b = fs.Batch(model, B, dtype=dtype, device=device)
    b.q, b.v = fs.random_state(model, B, seed=1, dtype=dtype)
    b.a = fs.random_state(model, B, seed=2, dtype=dtype)[1]
    return b


def operations(robot, dtype, own):
    """Each with inputs of its own: the output of one is the input of another."""
    model = fs.load(robot)
    if own:
        model.specialise(tuple(OUTPUTS), dtype=dtype, device="cuda")
    for op, output in OUTPUTS.items():
        results = []
        for device in ("cpu", "cuda"):
            b = batch(model, dtype, device)
            b.run(op)
            results.append(np.array(getattr(b, output)))
        if model.specialised(op, dtype, device="cuda") != own:
            raise RuntimeError(f"{op}/{robot}: expected the kernel {'of its own' if own else 'for any robot'}")
        check(f"{op}/{robot}/{dtype}/{'own' if own else 'any robot'}", results[1], results[0], dtype)


def simulation(robot):
    """Steps as calls, then the same as a graph."""
    model, stream = fs.load(robot), fs.device.Stream()
    sims = [fs.Simulation(model, B, DT), fs.Simulation(model, B, DT, device="cuda", stream=stream.number)]
    q, v = fs.random_state(model, B, seed=3, dtype="float32")
    for sim in sims:
        sim.reset(q=q, v=0.1 * v)
        for _ in range(STEPS):
            sim.step()
    check(f"steps/{robot}", sims[1].q, sims[0].q, "float32")
    graph = stream.capture(lambda: [sims[1].step() for _ in range(STEPS)])
    graph.launch()
    for _ in range(STEPS):
        sims[0].step()
    check(f"graph/{robot}", sims[1].q, sims[0].q, "float32")


def main():
    global failures
    devices, missing = _featherstorm.cuda_devices()
    print(f"featherstorm {fs.__version__}; devices {devices or missing}; instruction sets {fs.instruction_sets()}")
    for robot in ("iiwa14",) if sys.argv[1:] == ["quick"] else ("iiwa14", "go2", "atlas"):
        for own in (False, True):
            for dtype in ("float32", "float64") if robot == "go2" else ("float32",):
                try:
                    operations(robot, dtype, own)
                except Exception as why:  # the next one may do
                    failures += 1
                    print(
                        f"FAILED  {robot}/{dtype}/{'own' if own else 'any robot'}: {type(why).__name__}: {why}",
                        flush=True,
                    )
        try:
            simulation(robot)
        except Exception as why:
            failures += 1
            print(f"FAILED  simulation/{robot}: {type(why).__name__}: {why}", flush=True)
    print(f"{checks} results compared, {failures} failures")
    return failures > 0 or checks == 0


if __name__ == "__main__":
    raise SystemExit(main())
