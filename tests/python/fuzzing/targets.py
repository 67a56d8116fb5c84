"""Targets of fuzzing: functions that run random inputs.

A target prepares its work and returns a function of a random generator. This function runs one input, and returns True if
the engine accepted it.
"""

import io
import json
import os
import pathlib
import re
import tempfile

import mujoco
import numpy as np
from capsules import lying_array

import featherstorm as fs
from featherstorm import _featherstorm
from featherstorm.learning import Policy, training

NUMBERS = (
    0,
    -1,
    1,
    1e-300,
    -0.0,
    1e300,
    -1e300,
    np.nan,
    np.inf,
    -np.inf,
    2**31 - 1,
    2**31,
    -(2**31),
    2**63,
    0.5,
    1e-9,
    3,
)
WORDS = "", "nan", "inf", "-1", "0", "1e308", "1 2", "1 2 3 4 5 6 7", "true", "x", "99999999999", "0 0 0", "1e-320"


def odd(rng):
    return NUMBERS[rng.integers(len(NUMBERS))]


# -- files ------------------------------------------------------------------------------------------------------------------

SCENES = (
    """<mujoco><option timestep="0.002"/><worldbody><geom name="g" type="plane" size="1 1 .1"/>
<body name="a" pos="0 0 1"><freejoint/><geom name="b" type="box" size=".1 .2 .3" pos="0 0 .1" euler="10 20 30"/>
<body name="c" pos="0 0 .4"><joint name="h" type="hinge" axis="0 1 0" range="-1 1" limited="true" damping=".1"
armature=".01" stiffness="1" frictionloss=".1"/><geom name="d" type="capsule" fromto="0 0 0 0 0 .3" size=".05"/>
<site name="s" pos="0 0 .3"/></body></body></worldbody>
<actuator><position name="p" joint="h" kp="10" ctrlrange="-1 1" ctrllimited="true"/></actuator>
<sensor><gyro name="y" site="s"/><jointpos name="j" joint="h"/><touch name="t" site="s"/></sensor></mujoco>""",
    """<mujoco><worldbody><body name="a"><joint name="x" type="slide" axis="1 0 0"/><geom size=".1" mass="1"/>
<body name="b" pos=".3 0 0"><joint name="y" type="ball"/><geom type="ellipsoid" size=".1 .1 .2" mass="1"/></body></body>
<body name="m" mocap="true"><geom type="cylinder" size=".1 .1"/></body></worldbody>
<tendon><fixed name="t" stiffness="1"><joint joint="x" coef=".5"/></fixed></tendon>
<equality><connect body1="b" body2="m" anchor="0 0 0"/></equality>
<actuator><motor name="u" tendon="t" gear="2"/><general joint="x" dyntype="filter" dynprm=".1" biastype="affine" biasprm="0 -1 0"/>
</actuator></mujoco>""",
)

# what has indices: meshes, height fields, tendons along sites and geoms, pairs, keyframes, sensors of several kinds
INDEXED = """<mujoco><asset><mesh name="m" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/><hfield name="h" nrow="3" ncol="3" size="1 1 .1 .1"/></asset>
<worldbody><geom name="f" type="hfield" hfield="h"/><site name="o" pos="0 0 1"/><geom name="w" type="sphere" size=".05" pos="0 0 .8"/>
<body name="a" pos="0 0 .5"><freejoint/><geom name="p" type="mesh" mesh="m"/><site name="s"/><camera name="c"/>
<body name="b" pos=".2 0 0"><joint name="j" axis="0 1 0"/><geom name="q" type="capsule" size=".03 .1"/><site name="e" pos=".1 0 0"/></body>
</body></worldbody><contact><pair geom1="p" geom2="w"/><exclude body1="a" body2="b"/></contact>
<tendon><spatial name="t"><site site="o"/><geom geom="w"/><site site="s"/></spatial></tendon>
<equality><joint joint1="j" polycoef="0 1 0 0 0"/><tendon tendon1="t"/></equality>
<actuator><general tendon="t" dyntype="integrator"/><position name="u" joint="j" kp="3"/><general site="e" gear="0 0 1 0 0 0"/></actuator>
<sensor><framepos objtype="site" objname="e" reftype="body" refname="a"/><tendonpos tendon="t"/><actuatorfrc actuator="u"/>
<rangefinder site="s"/><touch site="e"/><subtreecom body="a"/></sensor><keyframe><key qpos="0 0 1 1 0 0 0 0"/></keyframe></mujoco>"""


def mjcf_text():
    """MJCF files with attributes of odd values, and elements that are removed, repeated or moved."""
    folder = tempfile.TemporaryDirectory()
    path = pathlib.Path(folder.name) / "scene.xml"

    def run(rng, folder=folder):
        text = SCENES[rng.integers(len(SCENES))]
        for _ in range(rng.integers(1, 4)):
            values = list(re.finditer(r'="([^"]*)"', text))
            elements = list(re.finditer(r"<(\w+) [^<>]*/>", text))
            at = values[rng.integers(len(values))]
            kind = rng.integers(4)
            if kind < 2 or not elements:
                word = WORDS[rng.integers(len(WORDS))] if kind == 0 else repr(odd(rng))
                text = text[: at.start(1)] + word + text[at.end(1) :]
            else:
                element = elements[rng.integers(len(elements))]
                again = element.group() * (2 if kind == 2 else 0)
                text = text[: element.start()] + again + text[element.end() :]
        path.write_text(text)
        return steps(fs.load(path, threads=1), rng)

    return run


def steps(model, rng, share=0.05):
    """Step some of the models, whose kernels take tens of milliseconds to make."""
    if rng.random() < share:
        simulation = fs.Simulation(model, 3)
        simulation.step()
        np.asarray(simulation.q)
    return True


def mjcf_tables():
    """Compiled models whose arrays of numbers and of indices have been written to."""
    models = [mujoco.MjModel.from_xml_string(s) for s in (*SCENES, INDEXED)]
    fields = [
        [n for n in dir(m) if isinstance(getattr(m, n), np.ndarray) and getattr(m, n).size and n[0] != "_"]
        for m in models
    ]

    def run(rng):
        which = rng.integers(len(models))
        model, undo = models[which], []
        try:
            for _ in range(rng.integers(1, 4)):
                array = getattr(model, fields[which][rng.integers(len(fields[which]))])
                at = tuple(rng.integers(n) for n in array.shape)
                undo.append((array, at, array[at]))
                with np.errstate(all="ignore"):
                    array[at] = np.array(odd(rng)).astype(array.dtype)
            return steps(fs.from_mujoco(model, threads=1), rng)
        finally:
            for array, at, value in reversed(undo):
                array[at] = value

    return run


def robot_bytes():
    """The bytes of pickled robots, changed and cut."""
    robots = []
    for name, world in (("cartpole", True), ("go2", False), ("panda", True)):
        robots.append(fs.load(name, world=world).robot.__reduce__()[1][0])

    def run(rng):
        text = bytearray(robots[rng.integers(len(robots))])
        for _ in range(rng.integers(1, 4)):
            at = rng.integers(len(text))
            kind = rng.integers(4)
            if kind == 0:
                text[at] ^= 1 << rng.integers(8)
            elif kind == 1:
                del text[at:]
                break
            elif kind == 2:
                text[at : at + 8] = np.float64(odd(rng)).tobytes()
            else:
                text[at : at + 4] = int(rng.choice([0, 1, 255, 2**16, 2**31 - 1, -1])).to_bytes(
                    4, "little", signed=True
                )
        robot = _featherstorm.robot_of_bytes(bytes(text))
        if rng.random() < 0.02:
            q, v = np.tile(np.asarray(robot.q0), (2, 1)), np.zeros((2, robot.nv))
            if q.shape[1] == robot.nq:
                fs.Model(robot, threads=1).evaluator.run("rnea", [q, v, v], [np.zeros((2, robot.nv))])
        return True

    return run


def changed_archive(path, rng):
    """The bytes of a .npz file with other arrays, another header or other bytes."""
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    names = sorted(arrays)
    kind, name = rng.integers(6), names[rng.integers(len(names))]
    old = arrays[name]
    if kind == 0:
        arrays.pop(name)
    elif kind == 1:
        arrays[name] = (
            old.astype(rng.choice(["f2", "f8", "i1", "c8", "?", "U3", ">f4"])) if old.dtype.kind in "fiub" else old
        )
    elif kind == 2 and old.size and old.dtype.kind == "f":
        arrays[name] = old.copy()
        arrays[name].flat[rng.integers(old.size)] = np.float32(odd(rng))
    elif kind == 3:
        emptied, doubled = (old[:0], np.concatenate([old, old])) if old.ndim else (old, old)
        arrays[name] = (old[None], emptied, doubled)[rng.integers(3)]
    elif kind == 4:
        header = json.loads(str(arrays["header"]))
        walk, key = header, None
        while isinstance(walk, (dict, list)) and walk:
            keys = list(walk) if isinstance(walk, dict) else range(len(walk))
            key, parent = keys[rng.integers(len(keys))], walk
            walk = parent[key]
            if rng.random() < 0.3:
                break
        value = [odd(rng), None, [], {}, "x", -1, [[]], True][rng.integers(8)]
        parent[key] = value
        arrays["header"] = np.array(json.dumps(header))
    file = io.BytesIO()
    with np.errstate(all="ignore"):
        (np.savez if rng.random() < 0.5 else np.savez_compressed)(file, **arrays)
    text = bytearray(file.getvalue())
    if kind == 5:
        for _ in range(rng.integers(1, 5)):
            text[rng.integers(len(text))] = rng.integers(256)
        if rng.random() < 0.3:
            del text[rng.integers(len(text)) :]
    return bytes(text)


def policies():
    """Files of policies: other arrays, headers and bytes. An accepted policy acts with finite numbers."""
    folder = tempfile.TemporaryDirectory()
    whole, path = os.path.join(folder.name, "whole.npz"), os.path.join(folder.name, "policy.npz")
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=s).astype(np.float32) for s in ((8, 5), (8,), (2, 8), (2,))]
    one, two = np.ones(5), np.ones(2)
    Policy(weights, "tanh", 0 * one, one, 0 * two, -two, two, task="Hopper-v5", settings={"rate": 1e-3}).save(whole)

    def run(rng, folder=folder):
        pathlib.Path(path).write_bytes(changed_archive(whole, rng))
        policy = Policy.load(path)
        action = policy(np.ones((3, len(policy.mean)), np.float32))
        assert np.isfinite(action).all(), action
        return True

    return run


def checkpoints():
    """Checkpoints of a training: a damaged one is refused, another one goes on or is refused."""
    folder = tempfile.TemporaryDirectory()
    made = training.Training(
        "InvertedPendulum-v5", folder.name, training.tables.settings_of("InvertedPendulum-v5"), 0, 1
    )
    made.iterate()
    made.save()
    path = pathlib.Path(made.path(training.CHECKPOINT))
    whole = pathlib.Path(folder.name) / "whole.npz"
    whole.write_bytes(path.read_bytes())

    def run(rng, folder=folder):
        path.write_bytes(changed_archive(whole, rng))
        resumed = training.resume("InvertedPendulum-v5", folder.name, threads=1)
        if rng.random() < 0.05:
            resumed.iterate()
        return True

    return run


# -- calls ------------------------------------------------------------------------------------------------------------------


def layouts(x, rng):
    """The same numbers in another layout."""
    kind = rng.integers(9)
    if kind == 0:
        return np.asfortranarray(x)
    if kind == 1:
        return np.repeat(np.repeat(x, 2, 0), 3, 1)[::2, ::3]
    if kind == 2:
        return x[::-1, ::-1].copy()[::-1, ::-1]
    if kind == 3:  # not aligned
        y = np.frombuffer(bytearray(x.nbytes + 1), np.uint8)[1:].view(x.dtype).reshape(x.shape)
        y[:] = x
        return y
    if kind == 4:
        y = x.copy()
        y.flags.writeable = False
        return y
    if kind == 5:
        return x.astype(x.dtype.newbyteorder())
    if kind == 6:
        return np.ma.masked_array(x, mask=np.zeros(x.shape, bool))
    if kind == 7:
        y = fs.zeros(x.shape, dtype=x.dtype.name)
        y[:] = x
        return y
    return x


def damaged(x, rng):
    """Another array, or no array."""
    kind = rng.integers(12)
    if kind == 0:
        return x[:, : rng.integers(x.shape[1] + 1)]
    if kind == 1:
        return x[: rng.integers(len(x) + 1)]
    if kind == 2:
        return x.T
    if kind == 3:
        return x.reshape((1,) * rng.integers(1, 9) + x.shape)
    if kind == 4:
        return x.astype(rng.choice(["f2", "f4", "f8", "i4", "u1", "?", "c8", "g", "O", "U4"]))
    if kind == 5:
        y = x.copy()
        y[rng.integers(len(y)), rng.integers(y.shape[1])] = odd(rng)
        return y
    if kind == 6:
        return [x.tolist(), None, 1.0, "q", b"q", {}, [], [[]], object(), np.nan, [None], {1: 2}][rng.integers(12)]
    if kind == 7:
        return np.broadcast_to(x[:1], x.shape)
    if kind == 8:
        shape = tuple(int(n) for n in rng.choice([0, 1, 2, 5, 2**40, 2**62], 2))
        return np.lib.stride_tricks.as_strided(x, shape, (0, 0))
    if kind == 9:
        return x[0]
    if kind == 10:
        return x.view(np.uint8)
    return lying_array(x, rng)


def arrays():
    """Arguments of operations: layouts must give the same bits, all else the same bits or an error."""
    model = fs.load("cartpole", threads=1)
    go2 = fs.load("go2", threads=1)
    calls = [
        (model, fs.fd, ("nq", "nv", "nv")),
        (model, fs.rnea, ("nq", "nv", "nv")),
        (model, fs.crba, ("nq",)),
        (go2, fs.fd, ("nq", "nv", "nv")),
        (go2, fs.energy, ("nq", "nv")),
        (go2, lambda m, q, v: fs.integrate(m, q, v, dt=0.1), ("nq", "nv")),
    ]

    def run(rng):
        m, call, sizes = calls[rng.integers(len(calls))]
        dtype, B = ("float32", "float64")[rng.integers(2)], int(rng.integers(1, 5))
        q, v = fs.random_state(m, B, seed=int(rng.integers(1000)), dtype=dtype)
        given = [q if s == "nq" else v for s in sizes]
        expected = call(m, *given)
        changed = [layouts(x, rng) for x in given]
        hurt = rng.random() < 0.7
        if hurt:
            at = rng.integers(len(changed))
            changed[at] = damaged(given[at], rng)
        result = call(m, *changed)
        if not hurt:
            both = zip(*((r if isinstance(r, tuple) else (r,)) for r in (expected, result)), strict=True)
            assert all(a.tobytes() == b.tobytes() for a, b in both), "other bits for another layout"
        return True

    return run


def expression(rng, x, u, t, p, depth, finite):
    """A random function of traced numbers, which NumPy evaluates too. finite: takes whether each is of a usual
    size: sines of 1e30 have no digits."""
    value = part_of(rng, x, u, t, p, depth, finite)
    if isinstance(value, float):
        finite.append(abs(value) < 1e6)
    return value


def part_of(rng, x, u, t, p, depth, finite):
    if depth == 0 or rng.random() < 0.1:
        leaf = rng.integers(5)
        return (x[rng.integers(len(x))], u[0], t, p[0], float(rng.uniform(-2, 2)))[leaf]
    a = expression(rng, x, u, t, p, depth - 1, finite)
    kind = rng.integers(14)
    one = (np.sin, np.cos, np.sqrt, np.exp, np.log, np.abs, np.tanh, np.arctan)
    if kind < len(one):
        return one[kind](a)
    b = expression(rng, x, u, t, p, depth - 1, finite)
    if kind == 8:
        return a / b if type(b) is not float or b else a  # Python's own floats raise an error
    if kind == 9:
        return np.where(a < b, a, b)
    if kind == 10:
        return np.minimum(a, b)
    if kind == 11:
        return np.maximum(a, b)
    return a * b if kind == 12 else a - b


def traced():
    """Random costs: their values must be those of NumPy, where both are finite."""
    model = fs.load("cartpole", threads=1)

    def run(rng):
        seed = int(rng.integers(2**60))

        finite = []

        def cost(x, u, t, p):
            values = list(x) if isinstance(x, np.ndarray) else [x.q[0], x.q[1], x.v[0], x.v[1]]
            with np.errstate(all="ignore"):
                return expression(np.random.default_rng(seed), values, u, t, p, 5, finite)

        x0, U = rng.uniform(-1, 1, (3, 4)), rng.uniform(-1, 1, (3, 1, 2))
        result = fs.Rollout(model, dt=0.01, cost=cost)(x0, U, p=[0.7])
        for i in range(3):
            finite.clear()
            expected = float(cost(np.array(result.final[i]), U[i, 0], 0.01, np.array([0.7])))
            if all(finite):
                assert abs(result.costs[i] - expected) <= 1e-6 * (1 + abs(expected)), (result.costs[i], expected)
        return True

    return run


TARGETS = {f.__name__: f for f in (mjcf_text, mjcf_tables, robot_bytes, policies, checkpoints, arrays, traced)}
