"""Models whose geoms touch, for fields of contacts and sensors of forces."""

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
}  # fmt: skip
