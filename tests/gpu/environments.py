"""Time of a control step of environments on this machine's GPU: environments.py [quick] [--seconds N]

Writes CSV lines. Robots lie and stand about after a hundred random steps.

form                "graph": two steps captured and launched again; "calls": from Python, with the wait for the last one;
                    "collect": 16 in a call, with a network of two hidden layers of 64
us                  of a control step of all environments, median, least and most
steps/s, passes/s   control steps and passes of the physics, of all environments together
us physics          the same without the task: an action, `actuate`, physics, and an observation of one number
us task             the difference
contacts            of an environment, on average
answers             a step's, compared with the CPU's; tests/python/environment/test_device_tasks.py compares more

quick: one small task, as a test of this program. NOT RUN: the package with a task's model is not installed.
"""

import pathlib
import sys
import time

import numpy as np

import featherstorm as fs
from featherstorm import _featherstorm

sys.path += [str(pathlib.Path(__file__).resolve().parent.parent / "python" / folder) for folder in ("", "environment")]
from device_tasks import TASKS, Falling, Pair, network, sent

TOLERANCE = 5e-3  # of nine environments in ten, in float32
quick = "quick" in sys.argv[1:]
COLLECTED = 2 if quick else 16  # steps in a call
SIZES = (64,) if quick else (1024, 4096, 16384, 65536)
KINDS = {"Box": Falling} if quick else TASKS


class Physics(fs.Env):
    """The physics of a task alone: its robot, its passes, its `actuate`."""

    steps = None

    def __init__(self, task, model):
        self.robot, self.dt, self.substeps, self.memory = model, task.dt, task.substeps, task.memory
        self.actions, self.action_range, self.clip, self.law = task.actions, task.action_range, task.clip, task.law
        self.parameters, self.actuate = task.parameters, task.actuate

    def model(self):
        return self.robot

    def reward(self, x, a, m):
        return 0.0

    def observe(self, x, m, rng):
        return x.q[:1]


def begun(batch, other=None):
    """The batch in the middle of its episodes, by random steps, or in the state of another one."""
    batch.reset()
    if other is None:
        rng = np.random.default_rng(2)
        for _ in range(5 if quick else 100):
            batch.step(sent(actions(batch, rng)))
    else:
        for name in set(batch.state) & set(other.state) - {"env_sums"}:
            batch.storage.put(name, np.asarray(other.view(name)))
    return batch


def actions(batch, rng):
    return rng.uniform(-1, 1, (batch.num_envs, batch.recording.actions)).astype(batch.dtype)


def timed(batch):
    """Seconds of a control step, (form, all of them)."""
    stream, rng = fs.device.Stream("cuda:0"), np.random.default_rng(3)
    a = [sent(actions(batch, rng), stream.number) for _ in range(2)]
    for x in a:
        batch.step(x)
    graph = stream.capture(lambda: [batch.step(x) for x in a])
    once = max(stream.elapsed(graph.launch), 1e-6)
    times = 1 if quick else max(1, min(50, round(0.1 / once)))
    graphs = [
        stream.elapsed(lambda: [graph.launch() for _ in range(times)]) / (2 * times) for _ in range(3 if quick else 9)
    ]
    calls = []
    for _ in range(3 if quick else 9):
        start = time.perf_counter()
        for _ in range(times):
            for x in a:
                batch.step(x)
        stream.synchronise()
        calls.append((time.perf_counter() - start) / (2 * times))
    policy, weights = network(batch)
    batch.collect(COLLECTED, policy, weights, finals=False)
    collected = [
        stream.elapsed(lambda: batch.collect(COLLECTED, policy, weights, finals=False)) / COLLECTED
        for _ in range(3 if quick else 5)
    ]
    return {"graph": graphs, "calls": calls, "collect": collected}


def contacts(here, there):
    """Of environments on a device, by as many on the CPU as there are in `here`."""
    for name in here.state:
        here.storage.put(name, np.asarray(there.view(name))[: here.num_envs])
    return float(np.mean(here.report().contacts))


def speeds(name, until):
    """Whether answers were right."""
    task = KINDS[name]()
    pair = Pair(task, 64, "float32")
    pair.fall(5)
    pair.step()
    off = float(np.quantile(pair.errors(), 0.9))
    answers = "same" if off <= TOLERANCE else f"DIFFERENT by {off:.1e}"
    bare = Physics(task, pair.here.model).batch(1, dtype="float32", device="cuda:0")
    for B in SIZES:
        if time.perf_counter() > until:
            print(f"# {name}: no time was left for {B} environments", flush=True)
            break
        whole = begun(pair.there.resized(B, seed=4))
        touching, alone = contacts(pair.here, whole), timed(begun(bare.resized(B, seed=4), whole))
        for form, seconds in timed(whole).items():
            s, physics = sorted(seconds), sorted(alone[form])[len(alone[form]) // 2]
            middle = s[len(s) // 2]
            print(
                f"{name},float32,{B},{form},{middle * 1e6:.1f},{s[0] * 1e6:.1f},{s[-1] * 1e6:.1f},{B / middle:.4g},"
                f"{B * whole.substeps / middle:.4g},{physics * 1e6:.1f},{(middle - physics) * 1e6:.1f},{touching:.1f},{answers}",
                flush=True,
            )
    return answers == "same"


def fast(seconds):
    failures, begin = 0, time.perf_counter()
    print("task,real,environments,form,us,least,most,steps/s,passes/s,us physics,us task,contacts,answers")
    for k, name in enumerate(KINDS, 1):
        try:
            failures += not speeds(name, begin + seconds * k / len(KINDS))
        except (FileNotFoundError, ImportError) as why:
            print(f"# NOT RUN {name}: {why}", flush=True)
        except Exception as why:  # the next one may do
            failures += 1
            print(f"FAILED {name}: {type(why).__name__}: {' '.join(str(why).split())}", flush=True)
    print(f"# {failures} failures")
    return failures > 0


def main(arguments):
    devices, why_none = _featherstorm.cuda_devices()
    if not devices:
        raise SystemExit(f"environments: {why_none}")
    return fast(float(arguments[arguments.index("--seconds") + 1]) if "--seconds" in arguments else 400.0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
