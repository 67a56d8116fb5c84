"""Plans a second by MPPI on this machine's GPU, and what a call from Python takes, as CSV lines: planning.py [quick]

Plans: the whole call of a planner in receding horizon: noise, rollouts, costs, weights, the new plan on the CPU. Controls are
held against a planner's on the CPU with as many samples, for the smallest number of them.
Latency: a call and the wait for its result; `graph` is a step captured before.
"""

import pathlib
import sys
import time

import numpy as np

import featherstorm as fs
from featherstorm import _featherstorm
from featherstorm.examples import panda_reach, quadruped_cost
from featherstorm.planning import MPPI

quick = sys.argv[1:] == ["quick"]
SAMPLES = (64,) if quick else (1024, 4096, 16384, 65536)
HORIZONS = (3,) if quick else (20, 50, 100)
INSTANCES = (16,) if quick else (16, 256, 4096)
ROBOTS = ("iiwa14",) if quick else ("iiwa14", "go2", "atlas")
REPETITIONS = 3 if quick else 15
devices, why_none = _featherstorm.cuda_devices()
if not devices:
    raise SystemExit(f"planning: {why_none}")
failures = 0

if devices[0][0].startswith("fake-cuda"):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
    import fake_cuda

    sys.modules["torch"] = fake_cuda.torch_like()

    def to_device(x):
        return fake_cuda.array(fake_cuda.Tensor, x)
else:
    import torch

    def to_device(x):
        return torch.from_numpy(np.ascontiguousarray(x)).cuda()


def to_cpu(x):
    return x.cpu().numpy() if hasattr(x, "cpu") else np.array(x)


def row(what, robot, form, instances, horizon, seconds, per_second, answers=""):
    s = sorted(seconds)
    print(
        f"{what},{robot},{form},{instances},{horizon},{s[len(s) // 2] * 1e6:.1f},{s[0] * 1e6:.1f},{s[-1] * 1e6:.1f},"
        f"{per_second / s[len(s) // 2]:.4g},{answers}",
        flush=True,
    )


def spent(work, repetitions=REPETITIONS):
    """Seconds of each call, after some that are not counted."""
    seconds = []
    for _k in range(repetitions + 2):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return seconds[2:]


def reach():
    model = fs.load("panda")
    x = np.r_[panda_reach.START, np.zeros(model.nv)]
    fastest = 0.9 * model.max_velocity[:7]
    return "panda", panda_reach.make(model), x, 7, {"sigma": 0.15, "lower": -fastest, "upper": fastest}, {}


def stand():
    roll = quadruped_cost.rollout(threads=0)
    x = np.r_[roll.model.q0, np.zeros(roll.model.nv)]
    return "go2", roll, x, 12, {"sigma": 0.1, "lower": -1, "upper": 1}, {"p": [0.3]}


def plans(task):
    global failures
    robot, roll, x, nu, options, given = task()
    x = x.astype(np.float32)
    there = to_device(x)
    for T in HORIZONS:
        for samples in SAMPLES:
            new = [MPPI(roll, T, nu, samples=samples, temperature=0.1, seed=1, **options) for _ in range(2)]
            u, answers = to_cpu(new[0].command(there, **given)), ""
            if samples == SAMPLES[0]:
                off = np.abs(u - new[1].command(x, **given)).max() / (1e-6 + np.abs(new[1].U).max())
                answers = "same" if off < 2e-2 else f"DIFFERENT by {off:.1e}"
                failures += off >= 2e-2 or not np.isfinite(u).all()
            # p and t0 stay: the same work at each call
            row("plan", robot, "MPPI", samples, T, spent(lambda: to_cpu(new[0].command(there, **given))), 1, answers)


def latency(robot):
    """A step or fd of few instances, in each way there is to ask for it; per second: instances."""
    model = fs.load(robot)
    model.specialise(("fd", "step"), device="cuda")
    for B in INSTANCES:
        stream = fs.device.Stream()
        q, v = fs.random_state(model, B, seed=1, dtype="float32")
        own = [fs.zeros((B, n), device="cuda", stream=stream.number) for n in (model.nq, model.nv, model.nv, model.nv)]
        own[0][:], own[1][:] = q, v
        sim = fs.Simulation(model, B, 2e-3, device="cuda", stream=stream.number)
        sim.reset(q=q, v=v)
        arrays = [to_device(x) for x in (q, v, v)]
        forms = {
            "fs.run fd, out": lambda: fs.run(model, "fd", *own[:3], out=own[3]),
            "fs.fd": lambda: fs.fd(model, *arrays),
            "Simulation.step": sim.step,
        }
        for work in forms.values():
            work()
        sim.reset(q=q, v=v)
        forms["graph of 2 steps"] = stream.capture(lambda: [sim.step() for _ in range(2)]).launch
        for form, work in forms.items():

            def once(work=work):
                work()
                _featherstorm.synchronise(0, stream.number)
                if work is forms["fs.fd"]:
                    _featherstorm.synchronise(0, 0)

            row("latency", robot, form, B, "", spent(once, 5 if quick else 200), B)


def main():
    global failures
    print("what,robot,form,instances,horizon,us median,least,most,per second,answers")
    for work, argument in [(plans, task) for task in (reach, stand)] + [(latency, robot) for robot in ROBOTS]:
        try:
            work(argument)
        except Exception as why:  # the next one may do
            failures += 1
            name = getattr(argument, "__name__", argument)
            print(f"FAILED {work.__name__} {name}: {type(why).__name__}: {' '.join(str(why).split())}", flush=True)
    print(f"# {failures} failures")
    return failures > 0


if __name__ == "__main__":
    raise SystemExit(main())
