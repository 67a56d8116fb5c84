"""Rollouts: batches of control sequences simulated over a horizon, with costs that are compiled into the loop.

    def cost(x, u, t, p):
        return np.sum((x.position("panda_hand") - p) ** 2) + 1e-3 * u @ u

    roll = fs.Rollout(model, dt=0.01, cost=cost, substeps=2)
    costs = roll(x0, U, p=target).costs                                # U (B, T, nu)
    costs = roll(x0, fs.Noise(4096, mean, sigma=0.3), p=target).costs  # mean (T, nu); drawn within the rollout
    costs = roll(x0, knots, p=target, horizon=50).costs                # knots (B, K, nu), interpolated

The operation of a step follows from the model: contact_step, loop_step, coupled_step, or step. The world of a model
file is stepped as its file says, under the controls of its actuators:

    def cost(x, u, t, p):                                              # world.state.WorldState
        return -x.sensor("speed")[0] + 1e-3 * x.ctrl @ x.ctrl + np.maximum(x.contact_force("head")[2], 0)

    roll = fs.Rollout(fs.load("scene.xml"), cost=cost, substeps=4)     # a control step has four of the file's timestep

Impulses at contacts are kept from step to step, and begin at zero unless a call is given those of the robot (`warm`). Functions of x, u, t, p are called
once with symbols (symbols.State) and become machine code. Values they use from outside are constants from then on; `p`
may change with every call. A block of instances runs through the whole horizon before the next one begins, so that its
state stays in the processor's caches.

Where x0 or U is on a device, the results are there too. One kernel runs the whole horizon, on the stream of the first
array's library; a model file's world takes several kernels one after the other, with that of its contacts. A Rollout
makes the kernels at its first call of a kind (requested results, noise or arrays), in seconds, and keeps them on disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _featherstorm
from ._evaluation.evaluation import check_quaternions
from ._horizon.prepared import PreparedRollout, Results, RolloutResult, warm_start
from ._horizon.programs import programs_of, squares_of
from ._memory.arguments import Call, if_on_device
from ._memory.arrays import FLOATS, NAMES, shape_error
from ._names import Fixed
from ._robot.closures import Rigid, law_of
from ._robot.numbers import step_numbers, with_numbers
from ._robot.steps import pass_count, step_op
from ._world.passes import refuse_law
from ._world.values import check_bound, parameter_sizes, with_pairs
from .noise import Noise, interpolation_weights
from .typing import Array, Names, Pairs, StepNumbers

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt
    from typing_extensions import Unpack

    from .model import Model

ARRAYS = (("U",), ("x0",), ("p",))  # the arrays that decide the device of a rollout, in order of precedence
KEPT = 64  # number of rollouts that `rollout` keeps for each model


class Rollout(Fixed):
    """Control sequences of a model over a horizon.

    dt        time of a control step [s]; each of `substeps` substeps takes dt / substeps. With a world dt is a multiple
              of the file's timestep; None: `substeps` of it
    cost      cost(x, u, t, p): a number, from the state x after a control step and its controls u; t [s] is the time
              of x. The costs of all control steps are added
    terminal  terminal(x, t, p): a number, added for the last state
    residual  residual(x, u, t, p): numbers r of the same arguments as the cost, whose r^T r / 2 is added to it; a
              dict of arrays has a term of the cost for each name. `planning.ILQR` works best with costs in this form
    terminal_residual  terminal_residual(x, t, p): the same for the last state
    control   control(x, u, t, p): tau (nv), or (tau, q_target) of (nv) each, from the state at the beginning of the
              control step; held during its substeps. None: u is tau, or q_target where kp is given. With a world it
              returns ctrl (n_ctrl); None: u is ctrl
    observe   observe(x, u, t, p): numbers that are returned for each control step, from the same x as the cost
    pairs     which geoms of a world may touch: "floor", with what does not move, or pairs of names of geoms and bodies,
              ("FL_foot", "floor"); None: those of the file. Fewer pairs take less time
    ignore    names among "contacts", "loops", "couplings", "world" that are ignored although the model carries them
    law       of a world's contacts and constraints: "mujoco", or "rigid", "planning" or a `Rigid` (docs/mujoco.md)
    numbers   kp, kd, ...: typing.StepNumbers, which featherstorm.step describes

    lower, upper (nu,)   bounds of the controls U of a world without `control`: ranges of the file's actuators; else
                         None

    x is a symbols.State, with a world a world.state.WorldState; u (nu) and p (np) are symbols with numpy's functions,
    and t is a symbol of shape (). Coupled joints follow their drivers, whatever x0 says.
    Errors: ValueError for a model that carries two of contacts, loops, couplings and world, and does not ignore one.
    """

    @with_numbers(StepNumbers)
    def __init__(
        self,
        model: Model,
        dt: float | None = None,
        cost: Callable[..., Any] | None = None,
        *,
        terminal: Callable[..., Any] | None = None,
        control: Callable[..., Any] | None = None,
        observe: Callable[..., Any] | None = None,
        residual: Callable[..., Any] | None = None,
        terminal_residual: Callable[..., Any] | None = None,
        substeps: int | None = None,
        law: object = "mujoco",
        pairs: Pairs | None = None,
        ignore: Names = (),
        **numbers: Unpack[StepNumbers],
    ) -> None:
        self.op = step_op(model, "Rollout", ignore)
        if pairs is not None:
            if self.op != "world":
                raise ValueError(f"Rollout: pairs are {pairs!r}, which the worlds of model files alone have")
            model = with_pairs(model, pairs)
        self.law = law_of(law, "Rollout")
        if self.op != "world":
            refuse_law("Rollout", law)
        dt, substeps = pass_count("Rollout", model, self.op, dt, substeps)
        functions = {
            "cost": cost, "terminal": terminal, "control": control, "observe": observe, "residual": residual,
            "terminal_residual": terminal_residual,
        }  # fmt: skip
        for name, f in functions.items():
            if f is not None and not callable(f):
                raise TypeError(f"Rollout: {name} is a {type(f).__name__}, expected a function")
        self.model, self.dt, self.substeps = model, dt, substeps
        self.options: dict[str, Any] = {**numbers, "law": law, "pairs": pairs, "ignore": ignore}
        self.cost, self.terminal, self.control, self.observe = cost, terminal, control, observe
        self.residual, self.terminal_residual = residual, terminal_residual
        own = step_numbers("Rollout", model, self.op, numbers, dt / substeps)
        self.numbers: dict[str, list[float]] = {}
        self.parameters: list[tuple[str, int]] = []
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.state = [("q", model.nq), ("v", model.nv)]
        self.lower = self.upper = None
        if self.op == "world":
            check_bound(model, "Rollout")
            self.state.append(("act", model.n_act))
            self.parameters = list(parameter_sizes(model).items())
            self.shapes = {name: tuple(_featherstorm.parameter_shape(model.robot, name)) for name in model.parameters}
            if control is None:
                self.lower, self.upper = model.ctrl_lower, model.ctrl_upper
        else:
            row = model.row(self.op)
            flat = model.uniform_values(self.op, own, "Rollout")
            for name, n in row.uniforms:
                self.numbers[name], flat = flat[:n], flat[n:]
            self.parameters = [(name, n) for name, n in row.inputs if name in model.parameters]
            self.shapes = row.shapes
        self.drives = numbers.get("kp") is not None
        self._terms: tuple[Rollout, list[list[str]]] | None = None
        # (dtype, nu, np, one p for all) -> (Sequence, number of observations)
        self.made: dict[tuple[str, int, int, bool], tuple[_featherstorm.Sequence, int | None]] = {}
        # copies of the parameters on devices
        self.sent: dict[tuple[Any, ...], tuple[npt.NDArray[Any], _featherstorm.Buffer]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Support pickle: the other process makes its own kernels; it must be able to import the functions by name."""
        return {**self.__dict__, "made": {}, "sent": {}, "_terms": None}

    def __repr__(self) -> str:
        functions = ("cost", "terminal", "residual", "terminal_residual", "control", "observe")
        given = ", ".join(name for name in functions if getattr(self, name) is not None) or "no functions"
        return (
            f"<featherstorm.Rollout {self.model.name}: {given}, dt {self.dt:g} s in {self.substeps} substeps, "
            f"{self.model.threads} threads>"
        )

    takes_knots = True  # tells planners that a call accepts knots, with a horizon, and bounds

    def __call__(
        self,
        x0: Array,
        U: Array,
        p: Array = None,
        t0: float = 0.0,
        states: bool = False,
        *,
        horizon: int | None = None,
        interpolation: str = "linear",
        bounds: tuple[list[float], list[float]] = ([], []),
        warm: Array = None,
        controls: bool = False,
        out: RolloutResult | None = None,
    ) -> RolloutResult:
        """Run all control sequences.

        in   x0 (nx,), (1, nx) or (B, nx): q, then v, with a world then act
        in   U (B, T, nu) or (1, T, nu), of the dtype of x0; or Noise of B samples
        in   horizon T: U are K <= T knots (B, K, nu) that are interpolated; None: U has all steps
        in   interpolation  of knots: "linear", "cubic" or "hold", see featherstorm.noise.interpolation_weights
        in   bounds  (lower, upper) of interpolated controls, nu numbers each; []: none
        in   p (np,) for all instances, (B, np), or numbers for each control step, (1, T, np) or (B, T, np): references,
             gains; None: none
        in   t0  the time of x0 [s]
        in   warm  (n,), (1, n) or (B, n): the solution of the contacts' equations that the robot has at x0, from which
             the first substep begins: of a world its acceleration qacc (nv), with declared contacts their impulses
             (3 nc). None: zeros
        in   states, controls  True: return the states after each step, and the controls
        in   out  RolloutResult of a call of the same sizes, whose arrays are overwritten and returned, which avoids new
             allocations (CPU only)
        out  RolloutResult
        On a device: x0, U and p are on the same one, and p may also be (np,) on the CPU. The call does not wait where
        the arrays' library has streams (see featherstorm.device), and quaternions are not checked.
        Errors: ValueError for shapes, an empty horizon and quaternions; TypeError for dtypes and functions that cannot
        be traced. NaN in an instance stays in that instance.
        """
        given = horizon, interpolation, bounds, warm, controls, out
        return self._prepare(x0, U, p, t0, states, *given).run()

    def _prepare(
        self,
        x0: Array,
        U: Array,
        p: Array = None,
        t0: float = 0.0,
        states: bool = False,
        horizon: int | None = None,
        interpolation: str = "linear",
        bounds: tuple[list[float], list[float]] = ([], []),
        warm: Array = None,
        controls: bool = False,
        out: RolloutResult | None = None,
    ) -> PreparedRollout:
        """Return a rollout that may be repeated with other control sequences U."""
        model, nx = self.model, sum(n for _, n in self.state)
        drawn = isinstance(U, Noise)
        call = Call("rollout", ARRAYS, (None if drawn else U, x0, if_on_device(p)), FLOATS[not drawn])
        library = call.library
        state = call.array(x0, "x0")
        given = U if drawn else call.array(U, "U")
        rows, shape = tuple(state.shape), tuple(given.shape)
        if len(shape) != 3:
            raise shape_error("rollout", "U", shape, ("B", "T", "nu"))
        B, T, nu = shape
        if B == 1 and len(rows) == 2 and not drawn:
            B = rows[0]
        if rows not in ((nx,), (1, nx), (B, nx)):
            raise shape_error("rollout", "x0", rows, (B, nx))
        if T == 0:
            raise ValueError(f"rollout: U has shape {shape}, expected a horizon T of 1 or more")
        self.check_horizon(horizon, drawn, T)
        if library.readable and model.quaternions:
            check_quaternions(model, "rollout", "x0", state.reshape(-1, nx))
        memory = library.memory(state, (1, nx) if len(rows) == 1 else rows)
        inputs = []
        if warm is not None:
            inputs.append(warm_start(self.op, model, call, warm, B))
        columns, first = [], 0
        for name, n in self.state:
            columns += [(name, first, n)] if n else []
            first += n
        inputs += [(name, memory, first, n, False) for name, first, n in columns]
        made = U.native() if drawn else None
        if not drawn and nu:
            memory = library.memory(given, shape)
            if horizon is None:
                inputs.append(("u", memory, 0, nu, True))
            else:
                weights = interpolation_weights(horizon, T, interpolation)
                made, T = _featherstorm.knots("u", memory, nu, weights, B, *bounds), int(horizon)
        values, shared = call.numbers(p, "p", "np", B, T)
        np_ = int(values.shape[-1])
        sequence, observed = self.sequence(NAMES[call.dtype.itemsize], nu, np_, shared)
        inputs += [
            (name, call.kept(model.parameter(name), name, n, self.shapes, B, self.sent), 0, n, False)
            for name, n in self.parameters
        ]
        times = self.dt * np.arange(T + 1)
        uniforms = {**self.numbers, "t": (t0 + times[:-1]).tolist(), "t_next": (t0 + times[1:]).tolist()}
        if shared:
            uniforms["p"] = values.ravel().tolist()
        else:
            rows = tuple(values.shape)
            memory = library.memory(values, (1, np_) if len(rows) == 1 else rows)
            inputs.append(("p", memory, 0, np_, len(rows) == 3))
        results = Results(call, B, out)
        results.add("final", [nx], *columns)
        results.add("costs", [], ("total", 0, 1))
        if states:
            results.add("states", [T, nx], *columns)
        if observed is not None:
            results.add("observations", [T, observed], ("observation", 0, observed))
        if controls:
            results.add("controls", [T, nu], ("u", 0, nu))
        native = sequence.prepare(T, B, inputs, uniforms, results.outputs, made)
        controls_read, rows_of_p = None if drawn else given, None if shared else values
        return PreparedRollout(model, native, results, library.stream, state, times, controls_read, rows_of_p)

    def observing_terms(self) -> tuple[Rollout, list[list[str]]]:
        """Return a Rollout that observes the cost of each term, and their names: of a step, of the last state."""
        squares, names = squares_of(self.residual, self.terminal_residual)
        roll = Rollout(
            self.model, self.dt, control=self.control, observe=squares, substeps=self.substeps,
            **{**self.options, "pairs": None},
        )  # fmt: skip
        return roll, names

    def terms(self, x0: Array, U: Array, p: Array = None, t0: float = 0.0) -> dict[str, npt.NDArray[Any]]:
        """Return the costs (B,) of each term of the residuals, summed over the control steps.

        in   x0, U (B, T, nu), p, t0  as for a call, on the CPU
        Errors: ValueError for a rollout without residuals.
        """
        if self.residual is None and self.terminal_residual is None:
            raise ValueError("Rollout: terms are those of a residual, and there is none")
        if self._terms is None:
            self._terms = self.observing_terms()
        roll, names = self._terms
        seen = np.asarray(roll(x0, U, p, t0).observations)
        split = len(names[0])
        total = dict(zip(names[0], seen[:, :, :split].sum(1).T))
        for name, cost in zip(names[1], seen[:, -1, split:].T):
            total[name] = total.get(name, 0.0) + cost
        return total

    def check_horizon(self, horizon: int | None, drawn: bool, T: int) -> None:
        if horizon is not None and (drawn or int(horizon) != horizon or horizon < T):
            raise ValueError(
                "rollout: horizon is for arrays of knots; Noise has knots of its own"
                if drawn
                else f"rollout: horizon is {horizon}, expected {T} or more, the number of knots in U"
            )

    def sequence(self, dtype: str, nu: int, np_: int, shared: bool) -> tuple[_featherstorm.Sequence, int | None]:
        """Return the kernels for arrays of these sizes, made at their first use."""
        key = (dtype, nu, np_, shared)
        if key not in self.made:
            self.made[key] = self.make(*key)
        return self.made[key]

    def make(self, dtype: str, nu: int, np_: int, shared: bool) -> tuple[_featherstorm.Sequence, int | None]:
        programs, observed = programs_of(self, dtype, nu, np_, shared)
        sequence = _featherstorm.rollout_sequence(self.model.evaluator, dtype, programs)
        return sequence, observed


@with_numbers(StepNumbers)
def rollout(
    model: Model,
    x0: Array,
    U: Array,
    dt: float | None = None,
    cost: Callable[..., Any] | None = None,
    *,
    terminal: Callable[..., Any] | None = None,
    control: Callable[..., Any] | None = None,
    observe: Callable[..., Any] | None = None,
    residual: Callable[..., Any] | None = None,
    terminal_residual: Callable[..., Any] | None = None,
    substeps: int | None = None,
    law: object = "mujoco",
    pairs: Pairs | None = None,
    ignore: Names = (),
    p: Array = None,
    t0: float = 0.0,
    states: bool = False,
    horizon: int | None = None,
    interpolation: str = "linear",
    controls: bool = False,
    **numbers: Unpack[StepNumbers],
) -> RolloutResult:
    """Run control sequences over a horizon. `Rollout` explains the functions and options, its call the arrays.

    in   x0 (1 or B, nx), U (B, T, nu), knots (B, K, nu) with a horizon, or Noise
    in   numbers  those of `typing.StepNumbers`
    out  RolloutResult: costs (B,), final (B, nx), states (B, T, nx), nx = nq + nv, with a world + n_act, observations
         (B, T, n), controls (B, T, nu)

    The model keeps the kernels by the identity of the functions: pass the same function objects in every call.
    """
    options: dict[str, Any] = {
        "terminal": terminal, "control": control, "observe": observe, "residual": residual,
        "terminal_residual": terminal_residual, "substeps": substeps,
    }  # fmt: skip
    options.update(
        numbers,
        law=law,
        pairs=pairs if pairs is None or isinstance(pairs, str) else tuple(map(tuple, pairs)),
        ignore=ignore if isinstance(ignore, str) else tuple(ignore),
    )
    key = (cost, dt, *sorted((name, held(value)) for name, value in options.items()))
    kept = model.__dict__.setdefault("_rollouts", {})
    if key not in kept:
        while len(kept) >= KEPT:
            del kept[next(iter(kept))]
        kept[key] = Rollout(model, dt, cost, **options)
    return kept[key](x0, U, p, t0, states, horizon=horizon, interpolation=interpolation, controls=controls)


def held(value: Any) -> Any:
    """Return an option as a part of a dictionary key."""
    if isinstance(value, (str, Rigid)) or (
        isinstance(value, tuple) and all(isinstance(x, (str, tuple)) for x in value)
    ):
        return value
    return value if callable(value) or value is None else tuple(np.ravel(np.asarray(value, dtype=float)).tolist())
