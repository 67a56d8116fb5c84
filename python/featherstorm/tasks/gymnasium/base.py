"""Common parts of Gymnasium's MuJoCo environments."""

from __future__ import annotations

import functools
import importlib.util
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...environment.env import Env
from ...loading import load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...environment.draws import Draws, Memory
    from ...environment.state import EnvironmentState as State
    from ...model import Model

PACKAGE = "gymnasium"
Range = tuple[float, float]


def model_path(xml_file: str) -> str:
    """Return the path of a file in Gymnasium, or a given path that begins with /, . or ~, as in its environments."""
    if xml_file.startswith((".", "/", "~")):
        path = os.path.expanduser(xml_file)
        if not os.path.exists(path):
            raise FileNotFoundError(f"xml_file: there is no file {path}")
        return path
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(
            f"xml_file: {xml_file} comes with the package {PACKAGE}, which is not installed: pip install {PACKAGE}"
        )
    folder = os.path.join(next(iter(spec.submodule_search_locations)), "envs", "mujoco", "assets")
    path = os.path.join(folder, xml_file)
    if not os.path.exists(path):
        there = ", ".join(sorted(f for f in os.listdir(folder) if f.endswith(".xml"))) if os.path.isdir(folder) else ""
        raise FileNotFoundError(f"xml_file: {PACKAGE} has no file {xml_file}; there are: {there or 'none'}")
    return path


@dataclass(eq=False, repr=False, kw_only=True)
class GymnasiumTask(Env):
    """A task with a model file, whose actions are the controls of its actuators. Its fields are arguments by name.

    xml_file            a file of Gymnasium, or a path that begins with /, . or ~
    frame_skip          steps of the physics in a control step
    max_episode_steps   control steps after which an episode is truncated. None: never

    The physics clips controls to their range, as in MuJoCo; costs use the action as given.

    Fields of mjData other than qpos and qvel have the values after mj_step (State.left), and after a reset those of
    mj_forward, as in Gymnasium.
    """

    xml_file: str
    frame_skip: int
    max_episode_steps: int | None = 1000

    clip = False

    def __post_init__(self) -> None:
        skip = self.frame_skip
        if int(skip) != skip or skip < 1:
            raise ValueError(f"{type(self).__name__}: frame_skip is {skip}, expected a whole number, 1 or more")
        for name in [name for name in vars(self) if name.endswith("_range")]:
            setattr(self, name, range_of(name, getattr(self, name)))
        self.substeps, self.steps = int(skip), self.max_episode_steps

    @functools.cached_property
    def robot(self) -> Model:
        return load(model_path(self.xml_file))

    @functools.cached_property
    def compiled(self) -> Any:
        """mujoco.MjModel of the task."""
        return self.robot.compiled

    @functools.cached_property
    def control_time(self) -> float:
        """Duration of a control step [s]."""
        return float(self.compiled.opt.timestep) * int(self.substeps or 1)

    @property
    def first_q(self) -> Any:
        """Configuration of the file (nq)."""
        return np.array(self.compiled.qpos0)

    def model(self) -> Model:
        return self.robot

    # -- shared by several tasks

    def noisy(self, rng: Draws, scale: float, normal: bool = False) -> tuple[Any, Any]:
        """Return q and v of a first state: those of the file plus uniform noise within +-scale.

        normal   velocities have normal noise with standard deviation `scale` instead
        """
        q = self.first_q + rng.uniform(-scale, scale, len(self.first_q))
        nv = self.robot.nv
        return q, rng.normal(0.0, scale, nv) if normal else rng.uniform(-scale, scale, nv)


@dataclass(eq=False, repr=False, kw_only=True)
class Moving(GymnasiumTask):
    """A task of a robot that may move away from its first place, along `axes` axes.

    reset_noise_scale   of the first state; velocities are normal if `normal` is True (`noisy`)
    exclude_current_positions_from_observation   True: the place is not observed
    """

    ctrl_cost_weight: float = 0.1
    reset_noise_scale: float = 0.1
    exclude_current_positions_from_observation: bool = True

    axes, normal = 1, False

    @property
    def skipped(self) -> int:
        """Number of positions that are not observed."""
        return self.axes if self.exclude_current_positions_from_observation else 0

    def reset(self, m: Memory, rng: Draws) -> Any:
        return self.noisy(rng, self.reset_noise_scale, self.normal)

    def observe(self, x: State, m: Memory, rng: Draws) -> Any:
        return [x.q[self.skipped :], x.v]


@dataclass(eq=False, repr=False, kw_only=True)
class Travelling(Moving):
    """A task whose reward is a velocity, the difference of `place` over a control step, minus the cost of the action.

    m.before   `place` at the beginning of the control step (axes) [m]
    metrics    "x_position", "x_velocity", with two axes also "y_position", "y_velocity", "distance_from_origin"
               [m], [m/s]
    """

    forward_reward_weight: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.memory = {"before": self.axes}

    def place(self, x: State) -> Any:
        return x.q[: self.axes]

    def begin(self, x: State, m: Memory, rng: Draws) -> None:
        m.before = self.place(x)

    def after(self, x: State, a: Any, m: Memory, rng: Draws) -> None:
        m.before = self.place(x)

    def speed(self, x: State, m: Memory) -> Any:
        """Return the mean velocity over the control step, for each axis [m/s]."""
        return (self.place(x) - m.before) / self.control_time

    def reward(self, x: State, a: Any, m: Memory) -> Mapping[str, Any]:
        return {
            "reward_forward": self.forward_reward_weight * self.speed(x, m)[0],
            "reward_ctrl": -self.ctrl_cost_weight * square(a),
        }

    def metrics(self, x: State, a: Any, m: Memory) -> Mapping[str, Any]:
        speed = self.speed(x, m)
        if len(speed) == 1:
            return {"x_position": x.q[0], "x_velocity": speed[0]}
        return {
            "x_position": x.q[0],
            "y_position": x.q[1],
            "distance_from_origin": np.linalg.norm(x.q[:2]),
            "x_velocity": speed[0],
            "y_velocity": speed[1],
        }


@dataclass(eq=False, repr=False, kw_only=True)
class Walking(Travelling):
    """A task with a reward while the robot is healthy. The episode may end when it is not."""

    healthy_z_range: Range
    healthy_reward: float = 1.0
    terminate_when_unhealthy: bool = True

    def is_healthy(self, x: State) -> Any:
        """Return a condition, or True if there is none."""
        raise NotImplementedError

    def terminate(self, x: State, m: Memory) -> Any:
        healthy = self.is_healthy(x)
        return 0.0 if healthy is True or not self.terminate_when_unhealthy else np.logical_not(healthy)

    def survival(self, x: State) -> Any:
        healthy = self.is_healthy(x)
        return self.healthy_reward if healthy is True else np.where(healthy, self.healthy_reward, 0.0)


def square(a: Any) -> Any:
    """Return the sum of squares."""
    return (a * a).sum()


def clipped(x: Any, limits: Range) -> Any:
    low, high = limits
    return np.minimum(np.maximum(x, low), high)


def inside(*ranged: tuple[Any, Range]) -> Any:
    """Return the condition that numbers are strictly between limits, or True if no limit is finite."""
    conditions = [np.ravel(x > low) for x, (low, _) in ranged if np.isfinite(low)]
    conditions += [np.ravel(x < high) for x, (_, high) in ranged if np.isfinite(high)]
    return np.logical_and.reduce(np.concatenate(conditions)) if conditions else True


def range_of(name: str, limits: Any) -> Range:
    """Check a range (lower, upper) and return it as floats."""
    if np.shape(limits) != (2,) or not float(limits[0]) <= float(limits[1]):
        raise ValueError(f"{name} is {limits!r}, expected two numbers, the lower one first")
    return float(limits[0]), float(limits[1])
