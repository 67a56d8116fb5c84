"""Tasks by their names, and what is refused."""

import importlib.util
import subprocess
import sys

import pytest

import featherstorm as fs
from featherstorm.tasks import registry


def test_names_are_looked_up_without_their_packages():
    code = "import sys, featherstorm as fs; assert 'Ant-v5' in fs.tasks.NAMES; assert 'gymnasium' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_name_is_refused_with_those_near_it():
    with pytest.raises(ValueError, match=r"make: there is no task 'Ant-v6'; did you mean Ant-v5"):
        fs.tasks.make("Ant-v6")
    with pytest.raises(ValueError, match=r"there is no task '###'; there are: Ant-v5, "):
        fs.tasks.make("###")


def test_tasks_of_users_have_names_too(monkeypatch):
    monkeypatch.setattr(registry, "NAMES", registry.Registry())

    class Mine(fs.Env):
        def __init__(self, speed=1.0):
            self.speed = speed

    registry.register("Mine-v0", Mine)
    registry.register("Mine-v0", Mine)
    assert registry.make("Mine-v0", speed=3.0).speed == 3.0
    assert "Mine-v0" in list(registry.NAMES) and len(registry.NAMES) == 1 + len(registry.Registry())
    with pytest.raises(ValueError, match="register: there is a task 'Ant-v5' already"):
        registry.register("Ant-v5", Mine)


@pytest.mark.parametrize(
    ("name", "arguments", "error", "message"),
    [
        ("Ant-v5", {"render_mode": "human"}, TypeError, "render_mode"),
        ("Ant-v5", {"frame_skip": 0}, ValueError, "Ant: frame_skip is 0, expected a whole number, 1 or more"),
        (
            "Ant-v5",
            {"healthy_z_range": (2, 1)},
            ValueError,
            "healthy_z_range is (2, 1), expected two numbers, the lower",
        ),
        ("Hopper-v5", {"healthy_state_range": 3}, ValueError, "healthy_state_range is 3, expected two numbers"),
        ("Humanoid-v5", {"contact_cost_range": (1, 2, 3)}, ValueError, "contact_cost_range is (1, 2, 3)"),
    ],
)
def test_wrong_arguments_are_named(name, arguments, error, message):
    with pytest.raises(error) as raised:
        fs.tasks.make(name, **arguments)
    assert message in str(raised.value)


def test_a_missing_file_is_named():
    with pytest.raises(FileNotFoundError, match=r"xml_file: there is no file \./none\.xml"):
        fs.tasks.make("Ant-v5", xml_file="./none.xml").batch(1)
    if importlib.util.find_spec("gymnasium"):
        with pytest.raises(FileNotFoundError, match=r"gymnasium has no file none\.xml; there are: ant\.xml"):
            fs.tasks.make("Ant-v5", xml_file="none.xml").batch(1)


def test_a_missing_package_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        FileNotFoundError,
        match="ant.xml comes with the package gymnasium, which is not installed: pip install gymnasium",
    ):
        fs.tasks.make("Ant-v5").batch(1)


def test_a_file_of_ones_own_is_taken(tmp_path):
    path = tmp_path / "cart.xml"
    path.write_text(
        """
<mujoco><worldbody><body><joint type="slide" axis="1 0 0"/><geom size=".1"/><body>
  <joint type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 1" size=".05"/></body></body></worldbody>
  <actuator><motor joint="" /></actuator></mujoco>""".replace('joint=""', 'joint="cart"').replace(
            '<joint type="slide"', '<joint name="cart" type="slide"'
        )
    )
    task = fs.tasks.make("InvertedPendulum-v5", xml_file=str(path), frame_skip=3)
    task.reset = None
    env = task.batch(1)
    assert env.reset()[0].shape == (1, 4) and env.dt == pytest.approx(3 * 0.002)
