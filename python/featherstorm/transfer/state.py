"""State of a robot in MuJoCo for an environment's functions, with numeric values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .._evaluation.evaluation import run
from .._world.names import number_of
from .._world.state import contact_place, is_felt, measured_apart, measured_size
from ..environment.state import is_of_forces
from ..mujoco.fields.table import STAGES
from .numbers import Numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Self

    from ..model import Model
    from ..typing import Frame, Names
    from .simulated import Simulated

BODY, SITE = mujoco.mjtObj.mjOBJ_XBODY, mujoco.mjtObj.mjOBJ_SITE


class NumberState(Numbers):
    """Numeric counterpart of environment.state.EnvironmentState, from MuJoCo's data: x (nq + nv + n_act)."""

    simulated: Simulated
    model: Model
    steps: float
    time: Numbers
    begins: bool
    has_ctrl: bool
    parameters: Mapping[str, Numbers]
    driven: Numbers

    @classmethod
    def of(
        cls,
        simulated: Simulated,
        model: Model,
        steps: float,
        dt: float,
        parameters: Mapping[str, Numbers],
        ctrl: Any = None,
    ) -> Self:
        """Make the state of a simulation.

        steps, dt   control steps since the episode began, and their time [s]
        ctrl        controls of the last substep. None: not computed yet
        """
        d = simulated.data
        self = np.concatenate([d.qpos, d.qvel, d.act]).view(cls)
        self.simulated, self.model, self.steps, self.parameters = simulated, model, steps, parameters
        self.time, self.begins = np.asarray(steps * dt).view(Numbers), simulated.begins
        self.has_ctrl = ctrl is not None
        if ctrl is not None:
            self.driven = ctrl
        return self

    def __getitem__(self, key: Any) -> Any:
        return self.view(Numbers)[key]

    @property
    def q(self) -> Any:
        return self[: self.model.nq]

    @property
    def v(self) -> Any:
        return self[self.model.nq : self.model.nq + self.model.nv]

    @property
    def act(self) -> Any:
        return self[self.model.nq + self.model.nv :]

    qpos, qvel = q, v

    @property
    def ctrl(self) -> Any:
        if not self.has_ctrl:
            raise TypeError("control makes x.ctrl, and cannot read it")
        return self.driven.copy()

    @property
    def qacc(self) -> Any:
        return shown(self.simulated.felt.qacc)

    # -- frames

    def found(self, frame: Frame) -> tuple[Any, int] | None:
        """Return MuJoCo's object type and number of a frame; None if only the engine has the frame."""
        name = self.model.frame_names[self.model.frame(frame)]
        for kind in (BODY, SITE):
            k = mujoco.mj_name2id(self.simulated.m, kind, name)
            if k >= 0:
                return kind, k
        return None

    def pose(self, frame: Frame) -> tuple[Any, Any]:
        d, found = self.simulated.now, self.found(frame)
        if found is None:
            k = 12 * self.model.frame(frame)
            numbers = self.run("forward_kinematics", self.q)[k : k + 12]
            return numbers[:3], numbers[3:].reshape(3, 3)
        kind, k = found
        place, turn = (d.xpos, d.xmat) if kind == BODY else (d.site_xpos, d.site_xmat)
        return shown(place[k]), shown(turn[k]).reshape(3, 3)

    def position(self, frame: Frame) -> Any:
        return self.pose(frame)[0]

    def rotation(self, frame: Frame) -> Any:
        return self.pose(frame)[1]

    def velocity(self, frame: Frame) -> Any:
        found = self.found(frame)
        if found is None:
            return self.run("frame_velocity", self.q, self.v, frame=frame)
        velocity = np.zeros(6)
        mujoco.mj_objectVelocity(self.simulated.m, self.simulated.now, *found, velocity, 0)
        return velocity.view(Numbers)

    def run(self, op: str, *arrays: Any, frame: Frame | None = None) -> Any:
        """Run an operation of the engine on these numbers, in float64."""
        rows = [np.array(a, float)[None] for a in arrays]
        model = self.model.bind(**{name: np.array(x) for name, x in self.parameters.items()})
        found = run(model, op, *rows, frame=frame)
        flat = [shown(np.ravel(y)) for y in (found if isinstance(found, tuple) else (found,))]
        return flat[0] if len(flat) == 1 else tuple(flat)

    # -- world of the model file

    def site(self, name: Frame) -> Any:
        return shown(self.simulated.now.site_xpos[number_of(self.model, "site", name)[1]])

    def sensor(self, name: str | int) -> Any:
        s, m = self.simulated, self.simulated.m
        if name not in s.sensors:
            _, k = number_of(self.model, "sensor", name)
            size, first = measured_size(self.model, k), int(m.sensor_adr[k])
            if what := measured_apart(self.model, k):
                raise ValueError(f"sensor {name} {what}: functions of environments do not measure it")
            s.sensors[name] = slice(first, first + size), is_felt(m, k)
        place, felt = s.sensors[name]
        return shown((s.felt if felt else s.now).sensordata[place])

    def contact_force(self, name: str | int, kind: str | None = None, other: str | int | None = None) -> Any:
        second = None if other is None else number_of(self.model, "geom", other)[1]
        return shown(self.simulated.contact_force(*contact_place(self.model, name, kind), second))

    def touches(self, name: str | int, other: str | int | None = None) -> Any:
        geom = number_of(self.model, "geom", name)[1]
        second = None if other is None else number_of(self.model, "geom", other)[1]
        s = self.simulated
        return np.float64(s.touches(geom, second))

    def field(self, name: str) -> Any:
        if name not in STAGES:
            raise ValueError(f"x.field: mjData has no field '{name}' that is computed; there are {', '.join(STAGES)}")
        s = self.simulated
        return shown(s.field(s.felt if is_of_forces(name) else s.now, name))

    def left(self, name: str) -> Any:
        if name not in STAGES:
            raise ValueError(f"x.left: mjData has no field '{name}' that is computed; there are {', '.join(STAGES)}")
        return shown(self.simulated.field(self.simulated.left, name))

    def parameter(self, name: str) -> Any:
        if name not in self.parameters:
            known = ", ".join(self.parameters) or "none"
            raise ValueError(f"x.parameter: '{name}' is no parameter of the environment; there are: {known}")
        return self.parameters[name].copy()

    def ray(self, point: Any, direction: Any, geoms: Names | Sequence[int], far: float = 100.0) -> Any:
        from ..environment.rays import cast

        names: Sequence[str | int] = [geoms] if isinstance(geoms, (str, int)) else list(geoms)
        return cast(self, point, direction, names, far)

    def instance(self) -> Fields:
        """Return the fields that environment.rays reads."""
        return Fields(self.simulated)


class Fields:
    """Geom fields for ray casting."""

    def __init__(self, simulated: Simulated) -> None:
        self.simulated = simulated

    def geom_xpos(self) -> Any:
        return self.simulated.now.geom_xpos

    def geom_xmat(self) -> Any:
        return self.simulated.now.geom_xmat

    def of(self, name: str) -> Any:
        return getattr(self.simulated.m, name)


def shown(x: Any) -> Numbers:
    """Return a copy as Numbers."""
    return np.array(x, float).view(Numbers)
