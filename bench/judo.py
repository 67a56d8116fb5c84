"""judo's cylinder push and LEAP cube: judo-rai's planner beside ours, on the same robot in MuJoCo C.

    python bench/judo.py --judo PYTHON --meshes FOLDER [--only NAME ...] [--runs 10] [--threads 1]

--judo: an interpreter of an environment of its own with judo-rai 0.1.0, which is not installed beside featherstorm:
`python3.11 -m venv judo && judo/bin/pip install judo-rai==0.1.0`. --meshes: a folder with tip.obj and thumb_tip.obj, the
fingertips that touch: those of judo's own download, or of leap_hand/assets of MuJoCo Menagerie. Meshes that only show are
left out.

Both planners get the state of one robot, judo's simulation model stepped by MuJoCo C; rewards, starts and goals are judo's.
"lock step": 20 plans a second, judo's rate, that act at once. "real time": a plan acts as late as the processor time that
it takes, and no plan begins before the last one has ended. With several threads the delay is the elapsed time, which
needs a quiet machine: the processor time is the sum over the threads. Without a word on prediction, the plan begins from the state
as it was. A row: successes of judo's rule and of ours for the push, and goals that were reached before a drop for the cube.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import mujoco
import numpy as np

import featherstorm as fs
from featherstorm.mujoco import Rigid
from featherstorm.planning import CEM, DIAL, MPPI, PredictiveSampling

SCRIPT = pathlib.Path(__file__).with_name("peers") / "judo_planner.py"
ADVICE = __doc__.split("--judo:")[1].split("Both")[0]
RATE = 20.0  # of judo's plans [Hz]
# the preset "planning" sees 1 cm ahead, where a hand has 64 contacts with itself and the cube
CLOSE = Rigid(look_ahead=0.001, tolerance=1e-3, sweeps=4, polishes=0)


class Push:
    """judo's cylinder push: success is the cart within 0.3 m of its goal, as judo has it, and within 0.1 m; for 1 s."""

    name, files, dt, seconds = "cylinder_push", ("cylinder_push.xml", "cylinder_push.xml"), 0.02, 20.0
    interpolation, ramp, rest, mean = "hold", 2.5, np.zeros(2), False
    ps_sigma, mppi_sigma, temperature, elites = 0.05, 0.1, 0.05, 2
    near = (0.3, 0.1)
    heads = "within 0.3 m; median, worst [s]", "within 0.1 m; median, worst [s]"

    def cost(self, x, u, t, p):
        pusher, cart = x.q[:2], x.q[2:4]
        far = np.sqrt(cart @ cart + 1e-12)
        off = pusher - cart - 0.25 * cart / far
        return 0.25 * (off @ off) + 0.05 * (cart @ cart)

    def begin(self, d, rng):
        a, b = 2 * np.pi * rng.random(2)
        d.qpos[:] = [np.cos(a), np.sin(a), 2 * np.cos(b), 2 * np.sin(b)]
        self.goal, self.since, self.reached = [1.0, 0.0, 0.0, 0.0], [None, None], [None, None]

    def after(self, d, t, rng):
        """Record a step; return False where the run is over."""
        for k, near in enumerate(self.near):
            if np.hypot(*d.qpos[2:4]) >= near:
                self.since[k] = None
            elif self.since[k] is None:
                self.since[k] = t
            if self.since[k] is not None and self.reached[k] is None and t - self.since[k] >= 1.0:
                self.reached[k] = self.since[k]
        return self.reached[-1] is None

    def result(self, t):
        return self.reached

    def cells(self, results):
        for times in zip(*results):
            good = [t for t in times if t is not None]
            yield f"{len(good)}/{len(times)}" + (f"; {np.median(good):.1f}, {max(good):.1f}" if good else "")


class Cube:
    """judo's LEAP cube: goals reached within 0.4 rad, until the cube drops below -0.3 m or the time is over."""

    name, files, dt, seconds = "leap_cube", ("leap_cube.xml", "leap_cube_sim.xml"), 0.01, 20.0
    interpolation, ramp, mean = "cubic", 4.0, True  # mean: the reward is that of an average step
    ps_sigma, mppi_sigma, temperature, elites = 0.2, 0.2, 0.0025, 3
    rest = np.array([0.5, -0.75, 0.75, 0.25, 0.5, 0, 0.75, 0.25, 0.5, 0.75, 0.75, 0.25, 0.65, 0.9, 0.75, 0.6])
    heads = "goals, all runs; of each", "drops", "goals a minute"

    def cost(self, x, u, t, p):
        off, (a, b, c, d) = x.q[:3] - np.array([0, 0.03, 0.1]), x.q[3:7]
        w, i, j, k = p
        turn = np.array([a * i - b * w - c * k + d * j, a * j + b * k - c * w - d * i, a * k - b * j + c * i - d * w])
        angle = 2 * np.arctan2(np.sqrt(turn @ turn), np.abs(a * w + b * i + c * j + d * k))
        return 50 * (off @ off) + 0.05 * angle**2

    def begin(self, d, rng):
        d.qpos[:3], d.qpos[3:7], d.qpos[7:] = [0, 0.03, 0.1], [1, 0, 0, 0], self.rest
        self.goals, self.dropped = 0, False
        self.next(rng)

    def next(self, rng):
        u, v, w = rng.random(3)
        a, b, v, w = np.sqrt(1 - u), np.sqrt(u), 2 * np.pi * v, 2 * np.pi * w
        self.goal = [a * np.sin(v), a * np.cos(v), b * np.sin(w), b * np.cos(w)]

    def after(self, d, t, rng):
        if abs(np.dot(d.qpos[3:7], self.goal)) > np.cos(0.2):
            self.goals += 1
            self.next(rng)
        self.dropped = bool(d.qpos[2] < -0.3)
        return not self.dropped

    def result(self, t):
        return self.goals, self.dropped, t

    def cells(self, results):
        goals, drops, times = zip(*results)
        yield f"{sum(goals)}; {' '.join(map(str, goals))}"
        yield f"{sum(drops)}/{len(drops)}"
        yield f"{60 * sum(goals) / sum(times):.1f}"


class Theirs:
    """judo's controller in its own process."""

    def __init__(self, python, threads, task, method, folder):
        self.task, self.method, self.file, self.spent = task, method, str(folder / task.files[0]), []
        self.process = subprocess.Popen(
            [python, str(SCRIPT), "plan", str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, **asked):
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        reply = self.process.stdout.readline()
        if not reply:
            raise SystemExit("bench/judo.py: judo's process ended; does --judo have judo-rai 0.1.0?")
        return json.loads(reply)

    def begin(self, seed, h):
        asked = self.ask(task=self.task.name, method=self.method, file=self.file, seed=seed)
        self.samples, self.h, self.plans = asked["samples"], h, []

    def plan(self, d, t, latency, period):
        times = (t + latency + self.h * np.arange(period)).tolist()
        made = self.ask(q=d.qpos.tolist(), v=d.qvel.tolist(), t=t, goal=list(self.task.goal), times=times)
        self.spent.append((made["core"], made["wall"]))
        self.plans = [*self.plans[-8:], (t + latency, made["u"])]

    def control(self, t):
        for begin, u in reversed(self.plans):
            if begin <= t + 1e-9:
                return u[min(round((t - begin) / self.h), len(u) - 1)]
        return self.task.rest

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Ours:
    """A planner of ours. method: judo's, with its numbers, or dial; options: those of the planner, which replace them."""

    def __init__(self, task, method, folder, threads, samples=32, law="mujoco", step=None, predict=False, **options):
        m = mujoco.MjModel.from_xml_path(str(folder / task.files[0]))
        m.opt.timestep = step = step or task.dt
        self.task, self.predict, self.spent, self.samples = task, predict, [], samples
        parts = round(1 / step) if task.mean else 1

        def cost(x, u, t, p):
            return task.cost(x, u, t, p) / parts

        self.rollout = fs.Rollout(fs.from_mujoco(m, threads=threads), step, cost, law=law)
        ramp = task.ramp * np.linspace(0.25, 1, 4)[:, None] * np.ones(m.nu)
        kinds = {
            "ps": (PredictiveSampling, {"sigma": ramp * task.ps_sigma}),
            "mppi": (MPPI, {"sigma": ramp * task.mppi_sigma, "temperature": task.temperature}),
            "cem": (CEM, {"sigma": np.clip(0.55 * ramp, 0.1, 1.0), "elites": task.elites, "iterations": 1}),
            "dial": (DIAL, {}),
        }
        self.kind, given = kinds[method]
        given = {"knots": 4, "interpolation": task.interpolation, "horizon": round(1 / step), **given, **options}
        self.options, self.begins = {"samples": samples, **given}, np.zeros(m.nu)  # judo's plans begin with zeros

    def begin(self, seed, h):
        horizon = self.options["horizon"]
        options = {name: value for name, value in self.options.items() if name != "horizon"}
        self.planner = self.kind(self.rollout, horizon, seed=seed, **options)
        self.planner.reset(np.tile(self.begins, (horizon, 1)))

    def plan(self, d, t, latency, period):
        x = np.concatenate([d.qpos, d.qvel])
        core, wall = time.process_time(), time.perf_counter()
        self.planner.command(x, t, latency=latency, predict=self.predict, p=np.array(self.task.goal))
        self.spent.append((time.process_time() - core, time.perf_counter() - wall))

    def control(self, t):
        return self.planner.control(t)

    def close(self):
        pass


def models(judo, meshes, folder):
    """Write judo's models without the meshes that only show into a folder, by judo's own MuJoCo."""
    try:
        command = [judo, str(SCRIPT), "models", str(meshes), str(folder)]
        subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", error)
        raise SystemExit(f"bench/judo.py: {judo} did not write judo's models:\n{said}\n--judo:{ADVICE}") from error


def drive(task, planner, folder, seed, rate, latency):
    """Run a task in closed loop, and return its result."""
    m = mujoco.MjModel.from_xml_path(str(folder / task.files[1]))
    d, h, rng = mujoco.MjData(m), m.opt.timestep, np.random.default_rng(seed)
    task.begin(d, rng)
    mujoco.mj_forward(m, d)
    planner.begin(seed, h)
    period, lag = round(1 / rate / h), h * round(latency / h)
    for k in range(round(task.seconds / h)):
        if k % period == 0:
            planner.plan(d, k * h, lag, period)
        d.ctrl[:] = planner.control(k * h)
        mujoco.mj_step(m, d)
        if not task.after(d, d.time, rng):
            break
    return task.result(d.time)


def row(task, planner, label, folder, runs, real, threads):
    """Run seeds 0 to `runs` - 1, and print their row."""
    rate, latency = RATE, 0.0
    if real:
        seconds, task.seconds = task.seconds, 0.5
        drive(task, planner, folder, 0, RATE, 0.0)
        times = [wall if threads > 1 else core for core, wall in planner.spent[1:]]
        latency, task.seconds = float(np.median(times)), seconds
        h = mujoco.MjModel.from_xml_path(str(folder / task.files[1])).opt.timestep
        latency = h * np.ceil(latency / h)
        rate = min(RATE, 1 / latency)
    planner.spent.clear()
    results = [drive(task, planner, folder, seed, rate, latency) for seed in range(runs)]
    core, wall = 1e3 * np.array(planner.spent[1:]).T
    cells = [
        task.name, f"{'real time' if real else 'lock step'}, {rate:.1f}/s, {1e3 * latency:.0f} ms", label, planner.samples,
        f"{np.percentile(core, 50):.1f}, {np.percentile(core, 99):.1f}", f"{np.percentile(wall, 50):.1f}",
        *task.cells(results),
    ]  # fmt: skip
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    planner.close()


# ours: judo's own settings, then the best that we found
METHODS = ("cem", "mppi", "ps")
BEST = {
    "cylinder_push": {
        "featherstorm dial, 96 x 2, sigma 1, linear, predicted": {
            "method": "dial", "samples": 96, "iterations": 2, "sigma": 1.0, "temperature": 0.1,
            "interpolation": "linear", "predict": True,
        },
    },
    "leap_cube": {
        "featherstorm ps, rigid law, 20 ms, predicted": {
            "method": "ps", "samples": 64, "law": CLOSE, "step": 0.02, "predict": True,
        },
    },
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judo", required=True)
    parser.add_argument("--meshes", required=True)
    parser.add_argument(
        "--only", nargs="+", choices=["cylinder_push", "leap_cube"], default=["cylinder_push", "leap_cube"]
    )
    parser.add_argument("--who", nargs="+", choices=["judo", "same", "best"], default=["judo", "same", "best"])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS, metavar="METHOD")
    parser.add_argument("--modes", nargs="+", choices=["lock", "real"], default=["lock", "real"])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        models(given.judo, given.meshes, folder)
        for task in (Push(), Cube()):
            if task.name not in given.only:
                continue
            task.seconds = given.seconds or task.seconds
            heads = (
                "task", "mode, plans, latency", "planner", "samples", "core p50, p99 [ms]", "wall p50 [ms]", *task.heads,
            )  # fmt: skip
            print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
            for real in [mode == "real" for mode in given.modes]:
                for method in given.methods if "judo" in given.who else ():
                    planner = Theirs(given.judo, given.threads, task, method, folder)
                    row(task, planner, f"judo {method}", folder, given.runs, real, given.threads)
                for method in given.methods if "same" in given.who else ():
                    planner = Ours(task, method, folder, given.threads)
                    row(task, planner, f"featherstorm {method}", folder, given.runs, real, given.threads)
                for label, options in BEST[task.name].items() if "best" in given.who else ():
                    planner = Ours(task, folder=folder, threads=given.threads, **options)
                    row(task, planner, label, folder, given.runs, real, given.threads)


if __name__ == "__main__":
    main()
