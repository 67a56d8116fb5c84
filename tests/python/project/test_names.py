"""Names of attributes and arguments: what may be set, and hints at the right name for a wrong one."""

import copy
import pickle
import re
import subprocess
import sys

import mujoco
import numpy as np
import pytest

import featherstorm as fs
from featherstorm import _names
from featherstorm.control import Receding
from featherstorm.learning.policy import Policy
from featherstorm.mujoco import Batch
from featherstorm.planning import CEM, MPPI
from robots import load

XML = "<mujoco><worldbody><body><joint name='a'/><geom size='.1'/></body></worldbody><actuator><motor joint='a'/></actuator></mujoco>"


def cost(x, u, t, p):
    return u @ u


def objects():
    arm = load("iiwa14")
    roll = fs.Rollout(arm, 0.01, cost)
    task = fs.tasks.make("InvertedPendulum-v5")
    return {
        "Model": arm,
        "Simulation": fs.Simulation(arm, 2, dt=1e-3),
        "Rollout": roll,
        "MPPI": MPPI(roll, 4, 7, samples=8),
        "CEM": CEM(roll, 4, 7, samples=8, elites=2),
        "EnvBatch": task.batch(2),
        "Batch": Batch(mujoco.MjModel.from_xml_string(XML), 2),
        "Noise": fs.Noise(8, np.zeros((5, 7)), knots=3, seed=9),
    }


@pytest.fixture(scope="module")
def made():
    return objects()


@pytest.mark.parametrize(
    ("kind", "name", "text"),
    [
        ("Model", "gravity", r"Model: gravity cannot be set; .*load\(\.\.\., parameters=\.\.\.\) are changed by bind"),
        ("Model", "nq", r"Model: nq cannot be set; load\("),
        ("Model", "isa", r"Model: isa cannot be set afterwards; give it to load\(\.\.\., isa="),
        ("Model", "mass", r"Model has no attribute 'mass'; here it is model\.total_mass"),
        ("Model", "gravty", r"Model has no attribute 'gravty'; did you mean gravity\?"),
        ("Simulation", "dt", r"Simulation: dt cannot be set afterwards; give it to Simulation\(\.\.\., dt="),
        ("Simulation", "kp", r"Simulation: kp cannot be set afterwards"),
        ("Simulation", "qpos", r"Simulation has no attribute 'qpos'; here it is sim\.q"),
        ("Simulation", "qq", r"Simulation has no attribute 'qq'; did you mean q"),
        ("Simulation", "step", r"Simulation: step cannot be set"),
        ("Rollout", "cost", r"Rollout: cost cannot be set afterwards"),
        ("MPPI", "samples", r"MPPI: samples cannot be set afterwards; give it to MPPI\("),
        ("MPPI", "horzon", r"MPPI has no attribute 'horzon'; did you mean horizon"),
        ("CEM", "sigma_min", r"CEM: sigma_min cannot be set afterwards"),
        ("EnvBatch", "num_envs", r"EnvBatch: num_envs cannot be set afterwards; give it to task.batch\(\.\.\., num_envs="),
        ("EnvBatch", "dt", r"EnvBatch: dt cannot be set"),
        ("Batch", "nsim", r"Batch: nsim cannot be set afterwards"),
        ("Batch", "qpoz", r"Batch has no attribute 'qpoz'; did you mean .*qpos"),
    ],
)  # fmt: skip
def test_settings_that_would_be_ignored_are_refused(made, kind, name, text):
    with pytest.raises(AttributeError, match=text):
        setattr(made[kind], name, 1)


def test_attributes_that_are_read_anew_may_be_set(made):
    sim, batch = made["Simulation"], made["Batch"]
    sim.time, sim.v = 0.5, np.ones((2, 7), "f4")
    batch.qpos = 0.25
    made["MPPI"].temperature, made["CEM"].elites = 0.5, 3
    assert sim.time == 0.5 and (sim.v == 1).all() and (batch.qpos == 0.25).all()
    made["MPPI"].command = abs  # a function replaces a method
    assert made["MPPI"].command is abs
    del made["MPPI"].command


def test_copies_and_pickles_are_fixed_too(made):
    model = made["Model"]
    for twin in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        with pytest.raises(AttributeError, match="cannot be set"):
            twin.nq = 1
    with pytest.raises(AttributeError, match="cannot be set"):
        copy.copy(made["Rollout"]).substeps = 1
    planner = pickle.loads(pickle.dumps(made["CEM"]))
    with pytest.raises(AttributeError, match="cannot be set"):
        planner.samples = 1
    assert planner.command(np.zeros(14, "f4")).shape == (7,)


class Counting(MPPI):
    """A subclass of a user, with attributes of its own."""

    def __init__(self, *arguments, **options):
        self.count = 0
        super().__init__(*arguments, **options)
        self.last = None

    def command(self, x, *arguments, **given):
        self.count, self.last = self.count + 1, x
        return super().command(x, *arguments, **given)


def test_subclasses_have_attributes_of_their_own(made):
    planner = Counting(made["Rollout"], 4, 7, samples=8)
    planner.command(np.zeros(14, "f4"))
    planner.mine = 3
    assert (planner.count, planner.mine) == (1, 3) and pickle.loads(pickle.dumps(planner)).count == 1
    with pytest.raises(AttributeError, match="Counting: horizon cannot be set"):
        planner.horizon = 3


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (lambda m, s: fs.forward_dynamics, "module 'featherstorm' has no attribute 'forward_dynamics'; here it is fs.fd("),
        (lambda m, s: fs.mass_matrix, "here it is fs.crba(model, q)"),
        (lambda m, s: fs.inverse_dynamics, "here it is fs.rnea("),
        (lambda m, s: fs.load_urdf, "here it is fs.load(path)"),
        (lambda m, s: fs.make, "here it is fs.tasks.make(name)"),
        (lambda m, s: fs.frames, "here it is model.frame_names"),
        (lambda m, s: fs.Simulatoin, "did you mean Simulation"),
        (lambda m, s: fs.centroidal_momentm, "did you mean"),
        (lambda m, s: m.mass, "'Model' object has no attribute 'mass'; here it is model.total_mass"),
        (lambda m, s: m.frames, "here it is model.frame_names"),
        (lambda m, s: s.qpos, "'Simulation' object has no attribute 'qpos'; here it is sim.q"),
    ],
)  # fmt: skip
def test_words_of_the_field_are_answered_with_the_names_here(made, read, text):
    with pytest.raises(AttributeError) as caught:
        read(made["Model"], made["Simulation"])
    assert text in str(caught.value)


def test_python_corrects_misspelt_attributes():
    """Without a __getattr__, which would cost every read 0.1 us."""
    code = "import featherstorm as fs; fs.load('iiwa14').gravty"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stderr.endswith("AttributeError: 'Model' object has no attribute 'gravty'. Did you mean: 'gravity'?\n")


def test_words_point_at_names_that_exist(made):
    objects = {"fs": fs, "model": made["Model"], "sim": made["Simulation"], "env": made["EnvBatch"]}
    for kind, words in _names.WORDS.items():
        for word, text in words.items():
            assert not hasattr(made.get(kind, fs), word), word
            assert word not in dir(made.get(kind, fs))
            for owner, name in re.findall(r"\b(fs|model|sim|env)\.(\w+)", text):
                assert hasattr(objects[owner], name), (kind, word, text)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda m, s: s.step(torque=1), "step: there is no argument 'torque'; did you mean tau?"),
        (lambda m, s: s.reset(msk=None), "reset: there is no argument 'msk'; did you mean mask?"),
        (lambda m, s: fs.step(m, 0, 0, 1e-3, torque=1), "step: torque is not an argument; did you mean tau?"),
        (lambda m, s: fs.random_state(m, batch=4), "random_state: there is no argument 'batch'; did you mean instances?"),
        (lambda m, s: fs.fd(m, qpos=0), "fd: there is no argument 'qpos'; did you mean q?"),
        (lambda m, s: fs.load("go2", flotaing_base=True), "load: there is no argument 'flotaing_base'; did you mean floating_base?"),
        (lambda m, s: MPPI(abs, 4, 1, sampels=3), "MPPI: there is no argument 'sampels'; did you mean samples"),
        (lambda m, s: Batch(None, nsims=3), "Batch: there is no argument 'nsims'; did you mean nsim"),
    ],
)  # fmt: skip
def test_misspelt_arguments_get_a_suggestion(made, call, text):
    with pytest.raises(TypeError) as caught:
        call(made["Model"], made["Simulation"])
    assert text in str(caught.value)


def test_a_type_error_of_the_function_itself_is_kept():
    def inner(x):
        return x

    @_names.with_hints
    def outer():
        return inner(y=1)

    with pytest.raises(TypeError, match=r"inner\(\) got an unexpected keyword argument 'y'"):
        outer()


@pytest.mark.parametrize("name", ["control", "jax", "mujoco", "planning", "torch", "transfer", "viewing"])
def test_packages_are_imported_at_first_use(name):
    pytest.importorskip(name) if name in ("jax", "torch") else None
    code = f"import featherstorm as fs; print(fs.{name}.__name__, '{name}' in dir(fs))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == f"featherstorm.{name} True\n", done.stderr


def test_objects_show_what_they_are(made):
    policy = Policy([np.zeros((1, 4)), np.zeros(1)], "tanh", *np.zeros((2, 4)), *np.zeros((3, 1)), task="Hopper-v5", origin={"evaluation": 12.5})  # fmt: skip
    expected = {
        "Simulation": r"<featherstorm.Simulation iiwa14: 2 instances, float32, dt 0\.001 s in 1 substeps, cpu, time [\d.]+ s>",
        "Rollout": r"<featherstorm.Rollout iiwa14: cost, dt 0\.01 s in 1 substeps, \d+ threads>",
        "MPPI": r"<featherstorm.planning.MPPI: horizon 4 steps of 0\.01 s, 7 controls, 8 samples, 1 iterations, float32>",
        "EnvBatch": r"<featherstorm.EnvBatch \w+: 2 environments of \w+, float32, dt 0\.04 s in 2 substeps, cpu>",
        "Batch": r"<featherstorm.mujoco.Batch: 2 simulations, nq 1, nv 1, nu 1, float32, timestep 0\.002 s, cpu>",
        "Env": r"<featherstorm task InvertedPendulum: episodes of at most 1000 control steps>",
        "Receding": r"<featherstorm.control.Receding: latency 0\.02 s, <featherstorm.planning.MPPI: .*>>",
        "Noise": r"<featherstorm.Noise: 8 samples of 5 steps of 7 controls, 3 knots, seed 9>",
    }
    shown = {**made, "Env": made["EnvBatch"].task, "Receding": Receding(made["MPPI"], latency=0.02)}
    for name, text in expected.items():
        assert re.fullmatch(text, repr(shown[name])), repr(shown[name])
    assert repr(policy) == "<featherstorm.learning.Policy Hopper-v5: 4-1, tanh, return 12.5>"


class Telling:
    """An evaluator with a notice."""

    def __init__(self, evaluator):
        self.evaluator = evaluator

    def __getattr__(self, name):
        return getattr(self.evaluator, name)

    def take_notices(self):
        return ["a slower path"]


def test_notices_are_placed_at_the_callers_line():
    model = copy.copy(load("iiwa14"))
    sim = fs.Simulation(model, 1, dt=1e-3)
    vars(model)["evaluator"] = Telling(model.evaluator)
    q = np.zeros((1, 7))
    for call in (
        lambda: fs.fd(model, q, q, q),
        lambda: fs.run(model, "bias", q, q),
        sim.step,
        lambda: fs.energy(model, q, q),
    ):
        with pytest.warns(fs.Notice, match="a slower path") as told:
            call()
        assert {w.filename for w in told} == {__file__}
