"""MuJoCo's own tests of mujoco.batch and mujoco.rollout, as they come with the installed wheel, run on featherstorm.mujoco.

What is put in their place: the module that is tested, float64 as its precision, and what "equal" means of floating-point numbers,
since the engine's are not MuJoCo's to the last bit: within 1e-9 of the greatest number of the array.

"rollout without contacts" are the tests of rollouts once more with contacts off in their models.
"""

import functools
import importlib.util
import pathlib
import types
import unittest

import mujoco
import numpy as np

import featherstorm.mujoco.batch
import featherstorm.mujoco.rollout
from featherstorm.mujoco import arguments, named

CLOSE = 1e-9
WITHOUT_CONTACTS = "rollout without contacts"
FILES = {"batch": "batch_test.py", "rollout": "rollout_test.py", WITHOUT_CONTACTS: "rollout_test.py"}
NO_CONTACTS = '<mujoco>\n  <option><flag contact="disable"/></option>\n'


def equal(actual, desired, *arguments, **options):
    """np.testing.assert_array_equal, but close for floating-point numbers."""
    both = np.asarray(actual), np.asarray(desired)
    if any(x.dtype.kind == "f" for x in both) and both[0].shape == both[1].shape and both[1].size:
        finite = np.abs(both[1][np.isfinite(both[1])])
        scale = max(finite.max(initial=0.0), 1.0)
        np.testing.assert_allclose(*both, rtol=0, atol=CLOSE * scale, equal_nan=True)
    else:
        np.testing.assert_array_equal(actual, desired, *arguments, **options)


def numpy_with(**functions):
    """numpy with other functions in numpy.testing."""

    class Part(types.SimpleNamespace):
        def __getattr__(self, name):
            return getattr(self.whole, name)

    return Part(whole=np, testing=Part(whole=np.testing, **functions))


def substitute(which):
    if which != "batch":
        return featherstorm.mujoco.rollout
    ours = featherstorm.mujoco.batch
    return types.SimpleNamespace(
        Batch=functools.partial(ours.Batch, dtype="float64"),
        SimulationError=ours.SimulationError,
        DATA_FIELDS=ours.DATA_FIELDS,
        MODEL_FIELDS=ours.MODEL_FIELDS,
        # functions of the module's own that its tests call
        _ids=arguments.selected,
        _structural=named.structural,
    )


@functools.cache
def module(which):
    """The test module with ours in the place of MuJoCo's."""
    place = pathlib.Path(mujoco.__file__).parent / FILES[which]
    spec = importlib.util.spec_from_file_location(f"of_mujoco_{which.replace(' ', '_')}", place)
    found = importlib.util.module_from_spec(spec)
    tested = which.split()[0]
    theirs = importlib.import_module(f"mujoco.{tested}")
    setattr(mujoco, tested, substitute(which))
    try:
        spec.loader.exec_module(found)
    finally:
        setattr(mujoco, tested, theirs)
    found.np = numpy_with(assert_array_equal=equal)
    if which == WITHOUT_CONTACTS:
        for name, xml in list(found.ALL_MODELS.items()):
            found.ALL_MODELS[name] = xml.replace("<mujoco>\n", NO_CONTACTS)
            setattr(found, name, found.ALL_MODELS[name])
    return found


@functools.cache
def cases(which):
    """name -> test case."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(module(which))
    return {case._testMethodName: case for group in suite for case in group}


def run(which, name):
    """What is wrong with ours in a test: "" nothing, None it was skipped."""
    result = unittest.TestResult()
    cases(which)[name].run(result)
    if result.skipped:
        return None
    return "\n".join(text for _, text in result.failures + result.errors)
