"""Robots made of robots, and masses of shapes."""

import numpy as np
import pytest

import featherstorm as fs


def arm():
    b = fs.RobotBuilder("arm")
    b.add_link("upper", fs.inertia.cylinder(2.0, 0.05, 0.4).placed([0, 0, 0.2]))
    b.add_link("lower", fs.inertia.box(1.0, [0.1, 0.1, 0.3]))
    b.add_joint("shoulder", "revolute", "", "upper", axis=[0, 1, 0], position=[0, 0, 0.5])
    b.add_joint("elbow", "revolute", "upper", "lower", axis=[1, 0, 0], position=[0, 0, 0.4])
    b.add_frame("tip", "lower", position=[0, 0, 0.15])
    return b


def hand():
    b = fs.RobotBuilder("hand")
    b.add_link("palm", fs.inertia.sphere(0.5, 0.04))
    b.add_link("finger", fs.inertia.rod(0.1, 0.1))
    b.add_joint("knuckle", "revolute", "palm", "finger", axis=[0, 1, 0])
    return b


def test_merged_and_cut():
    both = arm().merged(hand(), fs.Joint("flange", "fixed", "tip", "palm"), "hand_")
    assert both.link_names == ["upper", "lower", "hand_palm", "hand_finger"]
    assert both.joint_names == ["shoulder", "elbow", "flange", "hand_knuckle"]
    model = fs.Model(both.build())
    assert model.nv == 3 and abs(model.total_mass - 3.6) < 1e-12
    rest, part, joint = both.cut("flange")
    assert rest.link_names == ["upper", "lower"] and part.link_names == ["hand_palm", "hand_finger"]
    assert (joint.name, joint.type, joint.child) == ("flange", "fixed", "hand_palm")
    again = fs.Model(rest.merged(part, joint).build())
    q, v = fs.random_state(model, 5)
    assert np.abs(fs.rnea(again, q, v, v) - fs.rnea(model, q, v, v)).max() < 1e-12


def test_locked_replaced_and_reordered():
    full = fs.Model(arm().build())
    q, v = fs.random_state(full, 5)
    fixed = fs.Model(arm().locked("elbow", [0.3]).build())
    assert fixed.nv == 1
    with_elbow = np.column_stack([q[:, 0], np.full(5, 0.3)])
    still = np.column_stack([v[:, 0], np.zeros(5)])
    assert np.allclose(
        fs.rnea(fixed, q[:, :1], v[:, :1], v[:, :1])[:, 0], fs.rnea(full, with_elbow, still, still)[:, 0]
    )
    slider = arm().replaced(fs.Joint("elbow", "prismatic", "", "", axis=[0, 0, 1], position=[0, 0, 0.4]))
    assert [b["type"] for b in fs.Model(slider.build()).bodies] == ["revolute", "prismatic"]
    assert arm().reordered(["elbow", "shoulder"]).joint_names == ["elbow", "shoulder"]


def test_rerooted_floats_at_another_link():
    builder = arm()
    builder.cut("shoulder")  # leaves the builder as it was
    assert builder.joint_names == ["shoulder", "elbow"]
    free = fs.RobotBuilder("two")
    free.add_link("a", fs.inertia.sphere(1.0, 0.1)), free.add_link("b", fs.inertia.cone(2.0, 0.1, 0.3))
    free.add_joint("hinge", "revolute", "a", "b", axis=[0, 0, 1], position=[0.2, 0, 0])
    free.float_root("a")
    model, other = fs.Model(free.build()), fs.Model(free.rerooted("b").build())
    assert model.nv == other.nv == 7 and abs(model.total_mass - other.total_mass) < 1e-12
    assert other.body_names[1] == "b"


def test_a_description_builds_the_robot_again():
    model = fs.load("panda")
    again = fs.Model(model.robot.description().build())
    assert again.joint_names == model.joint_names
    q, v = fs.random_state(model, 4)
    assert np.abs(fs.rnea(again, q, v, v) - fs.rnea(model, q, v, v)).max() < 1e-9


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (lambda: arm().cut("wrist"), "joint 'wrist': does not exist"),
        (lambda: arm().locked("elbow", [1.0, 2.0]), "position has 2 numbers, expected 1"),
        (lambda: arm().reordered(["elbow"]), "1 names of joints, expected each of 2 once"),
        (lambda: arm().merged(hand(), fs.Joint("j", "fixed", "nothing", "palm")), "is no link or frame of robot 'arm'"),
        (lambda: fs.Joint("j", "hinge", "", "palm"), "type 'hinge' is unknown"),
        (lambda: fs.inertia.sphere(1.0, -0.1), "radius"),
        (lambda: fs.inertia.mesh(1.0, [[0, 0, 0]], [[0, 1]]), r"triangles has shape \(1, 2\), expected \(n, 3\)"),
    ],
)
def test_errors_say_what_is_wrong(what, message):
    with pytest.raises(ValueError, match=message):
        what()


def test_inertia_of_shapes():
    box = fs.inertia.box(6.0, [1, 2, 3])
    assert np.allclose(box.inertia, np.diag([6.5, 5.0, 2.5])) and np.allclose(box.com, 0)
    corners = [[x, y, z] for x in (-0.5, 0.5) for y in (-1, 1) for z in (-1.5, 1.5)]
    faces = [
        [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
        [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ]  # fmt: skip
    mesh = fs.inertia.mesh(1.0, np.array(corners), np.array(faces))
    assert abs(mesh.mass - 6) < 1e-12 and np.allclose(mesh.inertia, box.inertia)
    # two halves are the whole
    half = fs.inertia.box(3.0, [0.5, 2, 3])
    whole = half.placed([0.25, 0, 0]) + half.placed([-0.25, 0, 0])
    assert np.allclose(whole.inertia, box.inertia) and abs(whole.mass - 6) < 1e-12
    turned = fs.inertia.rod(1.0, 2.0).placed([0, 0, 0], [[0, 0, 1], [0, 1, 0], [-1, 0, 0]])
    assert np.allclose(np.diag(turned.inertia), [0, 1 / 3, 1 / 3])
    dumb_bell = fs.inertia.particles([1.0, 3.0], [[0, 0, -1], [0, 0, 1]])
    assert np.allclose(dumb_bell.com, [0, 0, 0.5]) and np.allclose(np.diag(dumb_bell.inertia), [3, 3, 0])
    assert fs.inertia.disc(1.0, 2.0).with_mass(3.0).inertia[2][2] == pytest.approx(6.0)
