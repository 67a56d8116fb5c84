"""Kernels of a task: its control step, and the begin of episodes; the same for any number of environments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _featherstorm
from .._robot.closures import law_of
from .._robot.mjcf import robot_from_mujoco
from .._robot.numbers import step_numbers
from .._robot.steps import step_op
from .._world.passes import refuse_law, solver
from .._world.values import clear_same_frames
from ..model import Model
from .recording import DONE, FUNCTIONS, MASK, PENDING, Recording, Stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .task import Task

# the mask of environments whose episodes begin again within a step
AUTORESET = {"same_step": DONE, "next_step": PENDING, "disabled": ""}


class Kernels:
    """Kernels of a task.

    stepping     the sequence of a control step; uniforms: its numbers
    restarting   the sequence that begins episodes, by a mask
    """

    def __init__(self, task: Task, model: Model, dtype: str, autoreset: str) -> None:
        name = type(task).__name__
        if task.randomise_at not in ("reset", "start"):
            raise ValueError(f"{name}: randomise_at is {task.randomise_at!r}, expected 'reset' or 'start'")
        self.model, self.dtype, self.op = model, dtype, step_op(model, name)
        self.law = law_of(task.law, name)
        if self.op != "world":
            refuse_law(name, task.law)
        self.recording = Recording(task, model, self.op)
        self.uniforms = self.step_uniforms(name)
        needed = AUTORESET[autoreset]
        again = [self.recording.restart(needed, task.randomise_at == "reset")] if needed else []
        self.after = [*self.recording.after, *again]
        self.stepping = self.sequence(self.after, True)
        self.collecting: dict[Any, Any] = {}  # policy and shapes of its weights -> its recording, its sequence
        self.programs: dict[bool, Any] = {}  # of gradients, made on request, on the CPU and on devices
        self.restarting = self.sequence([self.recording.restart(MASK, True)], False)

    def step_uniforms(self, name: str) -> dict[str, list[float]]:
        if self.op == "world":
            return {}
        flat = self.model.uniform_values(
            self.op, step_numbers("step", self.model, self.op, {}, self.recording.pass_time), name
        )
        found = {}
        for number, n in self.model.row(self.op).uniforms:
            found[number], flat = flat[:n], flat[n:]
        return found

    def with_policy(self, policy: Stage) -> Any:
        """Return a control step that begins with a policy's stage, which makes the action."""
        return self.sequence(self.after, True, [policy])

    def sequence(self, after: list[Stage], steps: bool, first: Sequence[Stage] = ()) -> Any:
        r = self.recording
        at_solve = at_last_stage = None
        if steps and r.world:
            before = (r.substeps - 1) * r.pass_time
            at_solve, at_last_stage = (kept.record(before, r.clock) for kept in (r.at_solve, r.at_last_stage))  # type: ignore[union-attr]
        begin, each = ([*first, *r.before], r.each_pass) if steps else ([], [])
        return self.made(begin, each, after, at_solve, at_last_stage, steps, r.substeps)

    def made(
        self,
        before: Sequence[Stage],
        each_pass: Sequence[Stage],
        after: Sequence[Stage],
        at_solve: Any = None,
        at_last_stage: Any = None,
        steps: bool = False,
        substeps: int = 1,
    ) -> Any:
        """Return the stages of the task's robot; steps: True if the robot is stepped between them."""
        more = solver(self.model, self.dtype, self.law) if self.recording.world else {}
        return _featherstorm.environment_sequence(
            self.model.evaluator, self.dtype, self.op, substeps, stages(before), stages(each_pass), stages(after),
            at_solve, at_last_stage, steps, **more,
        )  # fmt: skip


def stages(all_of: Sequence[Stage]) -> list[tuple[Any, ...]]:
    return [
        (
            s.trace,
            s.swaps,
            s.needed,
            [(FUNCTIONS[name], array, count, name == "reset") for name, array, count in s.draws],
            [n[:6] for n in s.networks],
        )
        for s in all_of
    ]


def engine_of(task: Task, threads: int | None) -> Model:
    """Return the task's robot, with its parameters as inputs."""
    model = task.model()
    if not isinstance(model, Model):
        raise TypeError(f"{type(task).__name__}: model returned a {type(model).__name__}, expected a Model")
    names = (task.parameters,) if isinstance(task.parameters, str) else tuple(task.parameters)
    options: dict[str, Any] = dict(model._options)
    if threads is None and not set(names) - set(model.parameters):
        return model
    options["parameters"] = tuple(dict.fromkeys((*model.parameters, *names)))
    if threads is not None:
        options["threads"] = threads
    robot, file = with_own_frames(model, options["parameters"])
    return Model(robot, **options, file=file)


def with_own_frames(model: Model, parameters: tuple[str, ...]) -> tuple[Any, Any]:
    """Return the robot and its file, with frames read from their numbers where these are parameters."""
    if model.compiled is None or not model.has_world:
        return model.robot, model.file
    compiled = model.compiled.__copy__()
    if not clear_same_frames(compiled, parameters):
        return model.robot, model.file
    return robot_from_mujoco(compiled, model.name)
