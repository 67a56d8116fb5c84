"""Robots that tests share. A module of its own: every folder of tests may have a conftest, so none can be imported by that name."""

import functools
import os
import pathlib

import featherstorm as fs

# published robot files that lie beside the project on some machines
BESIDE = pathlib.Path(__file__).resolve().parents[3] / "shared" / "models"
SHARED_MODELS = pathlib.Path(os.environ.get("FEATHERSTORM_MODELS", BESIDE))


@functools.cache
def load(name, floating_base=None):
    return fs.load(name, floating_base)


class CartTask(fs.Env):
    """A task of the cart-pole, whose cart alone has a motor."""

    dt, substeps, actions = 0.02, 2, 1

    def model(self):
        return fs.load("cartpole")

    def actuate(self, x, a, m):
        return [a[0], 0.0]
