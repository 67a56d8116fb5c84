"""The node of docs/ros2.md, with stand-ins for the modules of ROS 2."""

import pathlib
import re
import sys
import types

import numpy as np
import pytest

import featherstorm as fs

ROOT = pathlib.Path(__file__).resolve().parents[3]


class Node:
    """Keeps callbacks and published messages by topic."""

    def __init__(self, name):
        self.name, self.callbacks, self.published, self.timers = name, {}, {}, {}

    def create_subscription(self, kind, topic, callback, qos):
        self.callbacks[topic] = callback

    def create_publisher(self, kind, topic, qos):
        return types.SimpleNamespace(publish=lambda message: self.published.setdefault(topic, []).append(message))

    def create_timer(self, period, callback):
        self.timers[period] = callback


class Message(types.SimpleNamespace):
    pass


def stand_ins():
    """Return the modules that the page imports, by name."""
    time = types.SimpleNamespace(from_msg=lambda stamp: types.SimpleNamespace(nanoseconds=stamp))
    members = {
        "rclpy": {},
        "rclpy.node": {"Node": Node},
        "rclpy.qos": {
            "QoSProfile": Message,
            "DurabilityPolicy": types.SimpleNamespace(TRANSIENT_LOCAL=1),
        },
        "rclpy.time": {"Time": time},
        "geometry_msgs.msg": {"PointStamped": Message},
        "sensor_msgs.msg": {"JointState": Message},
        "std_msgs.msg": {"Float64MultiArray": Message, "String": Message},
    }
    modules = {name.partition(".")[0]: types.ModuleType(name.partition(".")[0]) for name in members}
    for name, content in members.items():
        modules.setdefault(name, types.ModuleType(name)).__dict__.update(content)
    return modules


@pytest.fixture
def page(monkeypatch):
    for name, module in stand_ins().items():
        monkeypatch.setitem(sys.modules, name, module)
    (code,) = re.findall(
        r"^```python\n(.*?)^```", (ROOT / "docs/ros2.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    found = {"__name__": "docs"}
    exec(compile(code, "docs/ros2.md", "exec"), found)
    return found


def test_the_node_of_the_page_moves_the_tool_to_its_target(page):
    node = page["Reach"]()
    ((period, plan),) = node.timers.items()
    plan()  # nothing has come yet
    node.callbacks["robot_description"](Message(data=(ROOT / "host/robots/ur5.urdf").read_text(encoding="utf-8")))
    model = node.model
    q, goal = np.array([0.0, -1.2, 1.4, -1.0, 0.3, 0.0]), np.array([0.4, 0.3, 0.4])
    node.callbacks["target"](Message(point=Message(**dict(zip("xyz", goal)))))
    plan()
    assert node.published == {}
    order = [3, 0, 5, 1, 4, 2]  # of the robot's messages

    def distance():
        return np.linalg.norm(fs.forward_kinematics(model, q, "tool0")[0] - goal)

    v, before = np.zeros(6), distance()
    for k in range(150):
        names, stamp = [model.joint_names[j] for j in order], round(1e9 * k * period)
        state = Message(name=names, position=q[order].tolist(), velocity=v[order].tolist(), header=Message(stamp=stamp))
        node.callbacks["joint_states"](state)
        plan()
        v = np.array(node.published["forward_velocity_controller/commands"][-1].data)
        assert v.shape == (6,) and (abs(v) <= 0.5 * model.max_velocity + 1e-6).all()
        q = q + period * v
    assert before > 0.2 and distance() < 0.02
