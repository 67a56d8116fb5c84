"""Scenes of the physics checks: small MJCF files, lengths in metres, masses in kilograms. The ground is z = 0."""

import math

SCENE = """<mujoco><option integrator="{integrator}"/><default><geom friction="{friction}" condim="{condim}" {geom}/></default>
<worldbody>{ground}{bodies}</worldbody>{rest}</mujoco>"""
GROUND = '<geom name="ground" type="plane" size="20 20 1"/>'


def scene(bodies, friction="0.5 0.005 0.0001", condim=3, rest="", geom="", ground=GROUND, integrator="Euler"):
    return SCENE.format(
        bodies=bodies, friction=friction, condim=condim, rest=rest, geom=geom, ground=ground, integrator=integrator
    )


def free(name, pos, geoms):
    return f'<body name="{name}" pos="{pos}"><freejoint/>{geoms}</body>'


def box(name, pos, size, mass):
    return free(name, pos, f'<geom name="{name}" type="box" size="{size}" mass="{mass}"/>')


def ball(name, pos, radius, mass):
    return free(name, pos, f'<geom name="{name}" type="sphere" size="{radius}" mass="{mass}"/>')


def brick(friction=0.5):
    return scene(box("brick", "0 0 .05", ".1 .1 .05", 1), f"{friction} 0.005 0.0001")


def cube(friction=0.5):
    return scene(box("cube", "0 0 .05", ".05 .05 .05", 1), f"{friction} 0.005 0.0001")


def rolling(friction="0.5 0.005 0.0001", condim=3):
    return scene(ball("ball", "0 0 .1", 0.1, 1), friction, condim)


def falling_ball(height, reference=""):
    return scene(ball("ball", f"0 0 {0.1 + height}", 0.1, 1), geom=reference)


def cradle(reference=""):
    """Five balls on a line, the first with a little room before the others."""
    balls = "".join(
        f'<body name="ball{k}" pos="{0.2 * k - (0.05 if k == 0 else 0)} 0 1"><joint type="slide" axis="1 0 0"/>'
        f'<geom type="sphere" size=".1" mass="1"/></body>'
        for k in range(5)
    )
    return scene(balls, geom=reference, ground="", rest='<option gravity="0 0 0"/>')


def rod(friction):
    """A thin rod, its lower end on the ground."""
    capsule = '<geom type="capsule" fromto="-.5 0 0 .5 0 0" size=".01" mass="1"/>'
    joints = '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint type="hinge" axis="0 1 0"/>'
    return scene(f'<body name="rod">{joints}{capsule}</body>', f"{friction} 0.005 0.0001")


def stack(masses, half=0.05, aside=0.002):
    """Boxes on each other, a little aside by turns."""
    boxes = [
        box(f"box{k}", f"{aside * (k % 2)} {-0.5 * aside * (k % 2)} {half * (2 * k + 1)}", f"{half} {half} {half}", m)
        for k, m in enumerate(masses)
    ]
    return scene("".join(boxes), "0.6 0.005 0.0001")


def dominoes(count=6, gap=0.12):
    return scene(
        "".join(box(f"domino{k}", f"{gap * k} 0 .1", ".02 .05 .1", 0.5) for k in range(count)), "0.4 0.005 0.0001"
    )


def leaning(friction=0.8, angle=20):
    """Two boards that lean against each other: they stand where friction is more than tan(angle) / 2."""
    a = math.radians(angle)
    half, thick = 0.2, 0.02
    # the lower outer edges on the ground, the upper inner edges at x = 0
    x = half * math.sin(a) + thick * math.cos(a)
    z = half * math.cos(a) + thick * math.sin(a)
    boards = "".join(
        f'<body name="board{k}" pos="{s * x} 0 {z}" euler="0 {-s * angle} 0"><freejoint/>'
        f'<geom type="box" size="{thick} .1 {half}" mass="1"/></body>'
        for k, s in enumerate((-1, 1))
    )
    return scene(boards, f"{friction} 0.005 0.0001")


def table():
    """A table on four feet, one of the ways to share its weight among them."""
    legs = "".join(
        f'<geom type="sphere" size=".02" pos="{x} {y} -.3" mass=".1"/>' for x in (-0.3, 0.3) for y in (-0.2, 0.2)
    )
    return scene(free("table", "0 0 .32", f'<geom type="box" size=".35 .25 .02" mass="5"/>{legs}'))


def disc(friction="0.5 0.01 0.0001", condim=4):
    """A ball that spins on the spot."""
    return scene(ball("ball", "0 0 .1", 0.1, 1), friction, condim)


def top():
    """A disc on a thin axle whose end stands on the ground, without friction."""
    parts = (
        '<geom type="cylinder" size=".1 .005" pos="0 0 .03" mass=".1"/>'
        '<geom type="sphere" size=".005" pos="0 0 0" mass="1e-6"/>'
    )
    return scene(free("top", "0 0 .005", parts), condim=1)


def pinch(force=20, mass=0.045, friction=0.7):
    """A box between two fingers that press it."""
    finger = (
        '<body name="finger{k}" pos="{x} 0 1"><joint name="press{k}" type="slide" axis="{axis} 0 0"/>'
        '<geom type="box" size=".01 .015 .015" mass=".1"/></body>'
    )
    fingers = "".join(finger.format(k=k, x=x, axis=a) for k, (x, a) in enumerate([(-0.04, 1), (0.04, -1)]))
    motors = "".join(f'<motor joint="press{k}" ctrlrange="0 100"/>' for k in range(2))
    return scene(
        fingers + box("held", "0 0 1", ".03 .02 .02", mass),
        f"{friction} 0.005 0.0001",
        ground="",
        rest=f"<actuator>{motors}</actuator>",
    )


def two_arms():
    """Two chains that float towards each other, without gravity."""

    def chain(name, x, way):
        return (
            f'<body name="{name}" pos="{x} 0 0"><freejoint/><geom type="sphere" size=".1" mass="1"/>'
            f'<body pos="0 0 .1"><joint type="hinge" axis="0 1 0" damping=".01"/>'
            f'<geom type="capsule" fromto="0 0 0 {0.3 * way} 0 .1" size=".04" mass=".5"/></body></body>'
        )

    return scene(chain("left", -0.5, 1) + chain("right", 0.5, -1), ground="", rest='<option gravity="0 0 0"/>')


def quadruped(friction=0.6, gain=80, damping=2):
    """A trunk on four legs of three joints, each held where it begins by a motor with a gain."""
    legs, motors = "", ""
    for x, front in ((0.2, "f"), (-0.2, "b")):
        for y, side in ((0.1, "l"), (-0.1, "r")):
            name = front + side
            legs += (
                f'<body name="{name}" pos="{x} {y} 0"><joint name="{name}0" axis="1 0 0" armature=".01"/>'
                f'<geom type="sphere" size=".04" mass=".6" contype="0" conaffinity="0"/>'
                f'<body euler="0 45 0"><joint name="{name}1" axis="0 1 0" armature=".01"/>'
                f'<geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" mass=".8" contype="0" conaffinity="0"/>'
                f'<body pos="0 0 -.2" euler="0 -90 0"><joint name="{name}2" axis="0 1 0" armature=".01"/>'
                f'<geom type="capsule" fromto="0 0 0 0 0 -.2" size=".015" mass=".2" contype="0" conaffinity="0"/>'
                f'<geom name="{name}" type="sphere" size=".02" pos="0 0 -.2" mass=".05"/></body></body></body>'
            )
            motors += "".join(f'<position joint="{name}{k}" kp="{gain}" kv="{damping}"/>' for k in range(3))
    height = 0.4 * math.cos(math.radians(45)) + 0.02
    trunk = free(
        "trunk",
        f"0 0 {height}",
        f'<geom type="box" size=".25 .08 .05" mass="6" contype="0" conaffinity="0"/>{legs}',
    )
    return scene(
        trunk,
        f"{friction} 0.005 0.0001",
        rest=f"<actuator>{motors}</actuator>",
        integrator="implicitfast",
        geom='solimp=".9 .95 .001"',
    )
