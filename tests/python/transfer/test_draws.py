"""What is drawn with numbers, beside the engine's stages and beside Random123's known answers."""

import numpy as np
import pytest

pytest.importorskip("mujoco")

from featherstorm.transfer.draws import NumberDraws, philox, uniforms
from featherstorm.transfer.numbers import NumberMemory, Numbers, numbers


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ((0, 0, 0, 0), (0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0), "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ],
)  # fmt: skip
def test_words_are_those_of_philox(counter, key, words):
    """Known answers of Random123 (kat_vectors, philox4x32-10)."""
    found = philox(counter[:3], np.array(counter[3:]), key[0] | key[1] << 32)
    assert [f"{x:08x}" for x in found[0]] == words.split()


def test_numbers_do_not_depend_on_how_they_are_asked_for():
    """One by one, in pieces, more than were foreseen, and once it is known how many there are."""
    taken = {}
    all_of = NumberDraws(7, 3, 2, 5, "after", taken).random(1000)
    assert len(np.unique(all_of)) > 990 and 0 < all_of.min() < all_of.max() < 1
    np.testing.assert_array_equal(all_of, uniforms(7, 3, 2, 5, 2, 0, 250))
    for pieces in ([1] * 20, [7, 300, 2, 691], [999]):
        rng = NumberDraws(7, 3, 2, 5, "after", taken)
        found = np.concatenate([rng.random(n) for n in pieces])
        np.testing.assert_array_equal(found, all_of[: len(found)])
        assert rng.count == len(found)


def test_counters_that_differ_have_other_numbers():
    one = (7, 3, 2, 5, "after")
    first = NumberDraws(*one, {}).random(8)
    for k, other in enumerate((8, 4, 3, 6, "observe")):
        changed = NumberDraws(*one[:k], other, *one[k + 1 :], {}).random(8)
        assert not np.isin(changed, first).any()
    assert isinstance(first, Numbers)


def test_arrays_of_objects_become_numbers():
    x = numbers([1.0, 2.0])
    mixed = np.array([x[0], np.asarray(3.0)], dtype=object)
    assert isinstance(np.sqrt(mixed * x), Numbers) and np.sqrt(mixed * x).dtype == float
    np.testing.assert_allclose(np.exp(np.array([0.0, 1.0], object).view(Numbers)), [1, np.e])
    mixed *= x
    assert mixed.tolist() == [1.0, 6.0]
    y = x.copy()
    y += mixed
    assert y.tolist() == [2.0, 8.0] and isinstance(y, Numbers)


def test_memory_keeps_shapes():
    m = NumberMemory({"a": (2,), "b": (2, 2)}, [0.0] * 6)
    m.a = 3
    m.b = [1, 2, 3, 4]
    m.a[0] = 7  # what is written into it is no assignment
    assert m.a.tolist() == [3, 3] and m.b.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match=r"memory: b is given the shape \(3,\), expected \(2, 2\)"):
        m.b = np.ones(3)
    with pytest.raises(AttributeError, match="no memory 'c'; there are: a, b"):
        m.c = 1
