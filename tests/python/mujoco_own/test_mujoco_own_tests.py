"""MuJoCo's own tests of its batches and rollouts, from the installed wheel, against ours (own_tests.py).

FAILING has the tests that do not pass, with the reason. One of them that passes is an error as well: take it out of the list.
"""

import pytest

pytest.importorskip("mujoco.batch", reason="needs MuJoCo 4.0 or later")
pytest.importorskip("absl.testing.absltest", reason="MuJoCo's tests need absl: pip install absl-py")

import own_tests

PRIVATE = "calls MuJoCo's binding beneath mujoco.batch, which ours has not"
CALLBACKS = "the engine does not call MuJoCo's callbacks, neither of Python nor of C"

FAILING = {
    "batch": {
        "test_error_messages": PRIVATE,
        "test_integer_arguments_checked": PRIVATE,
        "test_private_binding_does_not_convert": PRIVATE,
        "test_rollout_checks_buffers": PRIVATE,
        "test_callbacks_checked_on_construction": CALLBACKS,
        "test_python_callbacks_rejected": CALLBACKS,
        "test_count_outputs": "all but its last line: the list of scalars has no nA, a size of matrices that the engine has not",
        "test_sleep_needs_persistent": "bodies stay awake here, with a Notice, and need no memory of their own for that",
    },
    "rollout": {},
    "rollout without contacts": {},
}


@pytest.mark.parametrize(("which", "name"), [(which, name) for which in FAILING for name in own_tests.cases(which)])
@pytest.mark.filterwarnings("ignore::featherstorm.Notice")
def test_of_mujoco(which, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log
    wrong = own_tests.run(which, name)
    if wrong is None:
        pytest.skip("MuJoCo skips it")
    if name in FAILING[which]:
        assert wrong, f"{name} passes: take it out of FAILING"
    else:
        assert not wrong, wrong


@pytest.mark.parametrize("which", FAILING)
def test_the_list_names_tests(which):
    assert set(FAILING[which]) <= set(own_tests.cases(which))
    assert len(own_tests.cases(which)) > 10


def test_equal_is_not_everything():
    own_tests.equal([1.0, 2.0], [1.0, 2.0 + 1e-10])
    own_tests.equal([1, 2], [1, 2])
    for wrong in ([1.0, 2.0 + 1e-8], [1.0, float("nan")], [1.0], [[1.0], [2.0]]):
        with pytest.raises(AssertionError):
            own_tests.equal([1.0, 2.0], wrong)
    with pytest.raises(AssertionError):
        own_tests.equal([1, 2], [1, 3])
