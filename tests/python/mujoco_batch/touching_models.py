"""Models whose geoms touch, for fields of contacts and sensors of forces, and for fields that differ between simulations."""

import mujoco
import numpy as np

ZONES = {"sphere": ".3", "capsule": ".2 .15", "ellipsoid": ".3 .25 .2", "cylinder": ".25 .1", "box": ".2 .25 .1"}


def touching(cone="pyramidal", dim=3, options=""):
    """A tray with touch sensors of every zone, on which a box lies and balls drop, and an arm against its limits."""
    zones = "".join(
        f'<site name="{kind}" type="{kind}" size="{size}" pos=".1 -.05 -.06" euler="20 10 0"/>'
        for kind, size in ZONES.items()
    )
    touch = "".join(f'<touch site="{kind}" cutoff="{c}"/>' for kind, c in zip(ZONES, (0, 0, 3, 0, 0)))
    return f"""
<mujoco>
  <option cone="{cone}" timestep="0.002" {options}/>
  <default><geom condim="{dim}" friction="0.7 0.02 0.01"/></default>
  <worldbody>
    <geom type="plane" size="3 3 .1"/>
    <body name="tray" pos="0 0 .1">
      <freejoint/>
      <geom type="box" size=".4 .4 .05" mass="2"/>
      {zones}
      <body name="post" pos=".3 0 .05">
        <joint name="lean" axis="0 1 0" range="-20 20" limited="true" stiffness="2"/>
        <joint name="turn" type="ball" range="0 15" limited="true" pos="0 0 .1"/>
        <geom type="capsule" fromto="0 0 .05 0 0 .3" size=".03" mass=".3"/>
        <site name="joint" pos=".01 .02 .03" euler="10 20 30"/>
      </body>
    </body>
    <body name="ball" pos="0 0 .25">
      <freejoint/>
      <geom type="sphere" size=".1" mass="1"/>
      <site name="middle"/>
    </body>
    <body name="other" pos="-.15 .1 .25">
      <freejoint/>
      <geom type="capsule" size=".05 .1" mass=".5" euler="90 0 0"/>
    </body>
  </worldbody>
  <tendon>
    <fixed name="cord" limited="true" range="-.1 .1"><joint joint="lean" coef="1.5"/></fixed>
  </tendon>
  <equality>
    <weld name="held" body1="ball" body2="other" relpose=".15 -.1 0 1 0 0 0" torquescale=".3" active="false"/>
    <connect name="tied" body1="ball" body2="tray" anchor="0 0 -.1" active="false"/>
  </equality>
  <sensor>
    {touch}
    <force site="joint"/><torque site="joint" cutoff="2"/><force site="middle"/><accelerometer site="middle"/>
    <jointlimitpos joint="lean"/><jointlimitvel joint="lean"/><jointlimitfrc joint="lean"/>
    <jointlimitpos joint="turn"/><jointlimitvel joint="turn"/><jointlimitfrc joint="turn"/>
    <tendonlimitpos tendon="cord"/><tendonlimitvel tendon="cord"/><tendonlimitfrc tendon="cord"/>
  </sensor>
</mujoco>
"""


def with_dry_friction(xml):
    return xml.replace('stiffness="2"', 'stiffness="2" frictionloss=".2"').replace(
        '<fixed name="cord"', '<fixed name="cord" frictionloss=".1"'
    )


def with_moving_surfaces(xml):
    """The ground is a belt that turns as well, and so is the ball's surface."""
    return xml.replace('size="3 3 .1"', 'size="3 3 .1" surfacevel=".3 -.2 .1 .1 .2 .4"').replace(
        'size=".1" mass="1"', 'size=".1" mass="1" surfacevel=".1 .2 0 3 1 2"'
    )


def hard_feet(height=0.37, ratio=100.0):
    """A quadruped with elliptic cones, whose feet stand on the ground at the height .37.

    From 3 cm in the ground the impedance is 0.9999, and A D of the first tangents is 1e4 times the impedance ratio.
    """
    leg = """<body pos="{x} {y} 0"><joint axis="1 0 0" armature=".01"/><geom type="sphere" size=".05" mass=".7"/>
      <body><joint axis="0 1 0" armature=".01"/><geom type="capsule" size=".03" fromto="0 0 0 -.15 0 -.25" mass="2.5"/>
        <body pos="-.15 0 -.25"><joint axis="0 1 0" armature=".01"/>
          <geom type="capsule" size=".02" fromto="0 0 0 .15 0 -.25" mass=".3"/>
          <geom class="foot" type="sphere" size=".03" pos=".15 0 -.27"/></body></body></body>"""
    legs = "".join(leg.format(x=x, y=y) for x in (-0.3, 0.3) for y in (-0.15, 0.15))
    return f"""<mujoco><option cone="elliptic" impratio="{ratio}"/>
      <default><geom contype="0"/><default class="foot"><geom solimp=".015 1 .03" priority="1" condim="6"
        friction=".8 .02 .01" mass=".1"/></default></default>
      <worldbody><geom type="plane" size="0 0 1" contype="1"/><body pos="0 0 {height}"><freejoint/>
        <geom type="box" size=".35 .15 .1" mass="20"/>{legs}</body></worldbody></mujoco>"""


MODELS = {
    **{f"pyramids-{dim}": touching(dim=dim) for dim in (1, 3, 4, 6)},
    **{f"cones-{dim}": touching("elliptic", dim) for dim in (1, 3, 4, 6)},
    "implicit": touching(options='integrator="implicit"'),
    "implicitfast": touching(options='integrator="implicitfast" impratio="3"'),
    "runge_kutta": touching(options='integrator="RK4"'),
    "welded": touching().replace('torquescale=".3" active="false"', 'torquescale=".3"'),
    "connected": touching().replace('anchor="0 0 -.1" active="false"', 'anchor="0 0 -.1"'),
    "welded_sites": touching().replace(
        '<connect name="tied" body1="ball" body2="tray" anchor="0 0 -.1" active="false"/>', '<weld site1="middle" site2="joint"/>'
    ),
    "noslip-pyramids": with_dry_friction(touching(dim=4, options='noslip_iterations="5" noslip_tolerance="0"')),
    "noslip-cones": with_dry_friction(touching("elliptic", 6, 'noslip_iterations="3" noslip_tolerance="0"')),
    "noslip-until_done": with_dry_friction(touching("elliptic", 3, 'noslip_iterations="50"')),
    "noslip-implicitfast": touching("elliptic", 4, 'noslip_iterations="4" integrator="implicitfast" impratio="3"'),
    "moving_surfaces-pyramids": with_moving_surfaces(touching(dim=6)),
    "moving_surfaces-cones": with_moving_surfaces(touching("elliptic", 4)),
}  # fmt: skip


LEGGED = """
<mujoco>
  <option integrator="{integrator}" cone="{cone}" jacobian="dense" tolerance="0" iterations="200" density="{density}" wind=".3 0 .1"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1" solref=".03 1" solimp=".8 .9 .01"/>
    <body pos="0 0 .45" gravcomp=".1">
      <freejoint/>
      <geom type="box" size=".2 .1 .05" mass="3"/>
      <geom type="sphere" size=".05" pos=".2 0 .06" mass=".4"/>
      <site name="imu" pos=".1 0 .02"/>
      <camera name="eye" pos=".2 0 .1"/>
      <body pos=".2 .1 0">
        <joint name="a" axis="0 1 0" damping=".2" stiffness="2" armature=".01" frictionloss="30" range="-60 60"/>
        <geom type="capsule" fromto="0 0 0 .02 0 -.3" size=".03" mass=".3"/>
        <body pos=".02 0 -.3">
          <joint name="b" axis="1 0 0" range="-1 1" damping=".05" solreflimit=".01 1"/>
          <geom name="toe" type="sphere" size=".04" mass=".1"/>
          <geom type="sphere" pos="0 .02 .03" size=".02" mass=".02"/>
        </body>
      </body>
      <body pos="-.2 -.1 0">
        <joint name="c" axis="0 1 0" damping=".1" range="-60 60" actuatorfrcrange="-.75 .75"/>
        <geom type="capsule" fromto="0 0 0 -.02 0 -.3" size=".03" mass=".3"/>
      </body>
      <body pos="-.2 .1 0">
        <joint name="d" axis="0 1 .2" damping=".1"/>
        <geom name="hind" type="capsule" fromto="0 0 0 -.02 .01 -.3" size=".03" mass=".3" condim="6" friction=".5 .02 .01"/>
        <geom type="sphere" pos="-.02 .03 -.3" size=".03" mass=".05"/>
      </body>
    </body>
  </worldbody>
  <contact><pair geom1="floor" geom2="toe" friction=".6 .7 .01 .001 .001" solref=".03 1" solreffriction=".02 .9"/></contact>
  <tendon>
    <fixed name="t" stiffness="3" damping=".1" frictionloss="1" limited="true" range="-.02 .02" springlength="-.01 .01" margin=".01" solreffriction=".1 1" solimpfriction=".7 .8 .01" actuatorfrcrange="-.001 .001">
      <joint joint="c" coef="1"/><joint joint="d" coef="-.5"/>
    </fixed>
    <fixed name="u" armature=".01"><joint joint="d" coef="1"/></fixed>
  </tendon>
  <equality><joint joint1="a" joint2="c" polycoef="0 .1 0 0 0"/><tendon tendon1="u" polycoef=".1 0 0 0 0" solref=".1 1"/></equality>
  <actuator>
    <position joint="a" kp="20" kv=".5" ctrlrange="-1 1" forcerange="-2 2"/>
    <motor joint="c" gear="3" ctrllimited="true" ctrlrange="-.25 .25"/>
    <general joint="d" dyntype="filter" dynprm=".1" gainprm="5" biastype="affine" biasprm=".1 -3 -.2" actlimited="true" actrange="-.05 .05"/>
    <muscle tendon="t" lengthrange="-1 1" scale="3"/>
  </actuator>
  <sensor>
    <accelerometer site="imu"/><magnetometer site="imu"/><framepos objtype="camera" objname="eye"/><framequat objtype="camera" objname="eye"/>
    <jointlimitfrc joint="b"/><tendonlimitpos tendon="t"/><subtreecom body="world"/>
  </sensor>
</mujoco>
"""  # fmt: skip


def legged(integrator="implicitfast", cone="pyramidal", density=1.2):
    """A body on four legs with something of every kind that a model may have for itself in a simulation."""
    return mujoco.MjModel.from_xml_string(LEGGED.format(integrator=integrator, cone=cone, density=density))


def varied(name, x, rng):
    """Other numbers for each simulation that the field may have."""
    if name.endswith("quat"):
        x = x + 0.05 * rng.normal(size=x.shape)
        return x / np.linalg.norm(x, axis=-1, keepdims=True)
    if name.endswith(("pos", "qpos0", "spring", "gravity", "wind", "magnetic", "lengthspring")):
        return x + 0.02 * rng.normal(size=(*x.shape[:-1], 1) if name.endswith("lengthspring") else x.shape)
    if name.endswith(("solimp", "solimp_lim", "solimp_fri")):
        x = x.copy()
        x[..., 0] *= rng.uniform(0.9, 1, x.shape[:-1])
        x[..., 1] *= rng.uniform(0.98, 1, x.shape[:-1])
        x[..., 4] *= rng.uniform(1, 1.5, x.shape[:-1])
        return x
    if name == "actuator_armature":  # of those that act on hinges
        return x + rng.uniform(0, 0.02, x.shape) * (np.arange(x.shape[1]) < 3)
    if name.endswith("poly") or name == "actuator_damping":
        return x + rng.uniform(0, 0.1, x.shape)
    if name == "dof_armature":
        return x + rng.uniform(0, 0.02, x.shape)
    if name in ("dof_frictionloss", "jnt_stiffness", "tendon_frictionloss", "tendon_damping", "tendon_stiffness"):
        return x * (rng.uniform(size=x.shape) < 0.7) * rng.uniform(0.5, 1.5, x.shape)
    if name.endswith(("margin", "gap", "viscosity")):
        return x + rng.uniform(0, 0.05, x.shape)
    return x * rng.uniform(0.8, 1.2, x.shape)


def stirred(*batches, seed=1):
    rng = np.random.default_rng(seed)
    b = batches[0]
    q = np.array(b.qpos)
    q[:, 2] -= rng.uniform(0.08, 0.14, len(q))
    q[:, 7:] += rng.uniform(-0.2, 0.2, q[:, 7:].shape)
    v, u = 0.3 * rng.normal(size=b.qvel.shape), rng.uniform(-1, 1, b.ctrl.shape)
    act = rng.uniform(-0.3, 0.3, b.act.shape)
    for x in batches:
        x.qpos[...], x.qvel[...], x.ctrl[...], x.act[...] = q, v, u, act


LINKED = """
<mujoco>
  <option jacobian="dense" tolerance="0" iterations="200" density="1.2" wind=".3 0 .1"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <light pos="0 0 3" mode="targetbody" target="rod"/><camera pos="1 1 1" mode="targetbody" target="rod"/>
    <body name="crank"><joint name="hinge" axis="0 1 0"/><geom type="capsule" size=".01" fromto="0 0 0 0 0 .2"/><site name="pin" pos=".02 0 .1"/>
      <body name="rod" pos="0 0 .2"><camera name="eye" pos=".1 0 0"/><joint axis="0 1 0"/><geom type="capsule" size=".01" fromto="0 0 0 .5 0 0"/><site name="end" pos=".5 0 0"/></body>
    </body>
    <body name="rocker" pos=".5 0 0"><joint axis="0 1 0"/><geom type="capsule" size=".01" fromto="0 0 0 0 0 .2"/><site name="top" pos="0 0 .2"/></body>
    <body name="base" pos="0 1 0"><freejoint/><geom type="box" size=".1 .05 .04" pos=".02 0 0" fluidshape="ellipsoid"/></body>
    <body name="load" pos="0 1 .3" quat=".9 .1 0 .2"><freejoint/><geom type="ellipsoid" size=".1 .05 .04" fluidshape="ellipsoid"/><site name="hook" pos=".1 0 0"/></body>
  </worldbody>
  <tendon><spatial name="cord" stiffness="4" damping=".1" limited="true" range="0 .4"><site site="pin"/><site site="top"/></spatial></tendon>
  <equality>
    <connect body1="rod" body2="rocker" anchor=".5 0 0"/><weld body1="base" body2="load" anchor="0 0 .1" torquescale=".3"/>
    <connect site1="end" site2="top"/><weld site1="pin" site2="hook" active="false"/>
  </equality>
  <actuator><position joint="hinge" kp="3" dampratio="1"/><general tendon="cord" gainprm="2"/></actuator>
  <sensor><framepos objtype="camera" objname="eye"/><tendonpos tendon="cord"/></sensor>
</mujoco>
"""  # fmt: skip
# fields that are drawn together before set_const
LINKED_FIELDS = {
    "anchors": ("eq_data",),
    "relative poses": ("eq_data",),
    "places": ("body_pos", "body_quat"),
    "references": ("qpos0",),
    "masses": ("body_mass", "body_inertia", "dof_armature"),
    "sites": ("site_pos", "site_quat"),
    "sizes": ("geom_size",),
    "all": ("eq_data", "body_pos", "body_mass", "site_pos", "qpos0"),
}


def linked():
    """A four-bar, two bodies in a medium that are welded, a tendon: something of everything that mj_setConst derives."""
    return mujoco.MjModel.from_xml_string(LINKED)


def linked_numbers(drawn, n, seed=8):
    """Numbers (n, ...) of fields of `linked` by name, from which set_const derives others."""
    m, rng = linked(), np.random.default_rng(seed)
    found = {}
    for name in LINKED_FIELDS[drawn]:
        x = np.repeat(getattr(m, name)[None], n, axis=0)
        if name == "eq_data":
            x[:, 0, :3] += 0.01 * rng.normal(size=(n, 3))
            if drawn == "relative poses":
                x[1::2, 1, 6:10] = 0  # which asks for the relative pose at qpos0
                x[::2, 1, 6:10] *= 2
        elif name == "dof_armature":
            x[:, :3] += rng.uniform(0, 0.02, (n, 3))
        else:
            x = varied(name, x, rng)
        found[name] = x
    return found
