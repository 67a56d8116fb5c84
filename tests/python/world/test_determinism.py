"""The same bits on each machine with the same instruction set, for any batch, order and number of threads."""

import determinism
import numpy as np
import pytest

import featherstorm as fs
from featherstorm import _featherstorm

SHORT, ISAS = min(determinism.STEPS), _featherstorm.instruction_sets()


def bits(name, isa, threads=1, **arrangement):
    return determinism.hashes(determinism.run(determinism.load(name, isa, threads), SHORT, **arrangement))[SHORT]


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("name", fs.robots())
def test_steps_have_the_known_bits(name, isa):
    assert bits(name, isa) == determinism.known()[name, isa][SHORT]


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("name", ["go2", "panda"])
def test_bits_do_not_depend_on_batch_order_and_threads(name, isa):
    known = determinism.known()[name, isa][SHORT]
    order = np.random.default_rng(2).permutation(determinism.B)
    assert bits(name, isa, order=order) == known
    assert bits(name, isa, threads=3, copies=37 if isa != "base" else 3) == known


def test_every_robot_of_the_package_has_hashes_of_all_instruction_sets():
    expected = {(name, isa) for name in fs.robots() for isa in ("avx2", "avx512", "base")}
    assert determinism.known().keys() == expected
