"""Model files that have, together, one of every sensor that is supported."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# a fixed post, a free body with an arm, and things welded to each other on all of them
BODIES = """
  <site name="origin" pos="0.3 0.1 0" euler="0.1 0.2 0.3" size="0.5"/>
  <geom name="floor" type="plane" size="5 5 1"/>
  <body name="post" pos="0 1 0" euler="0.3 0 0.2">
    <geom type="box" size=".1 .1 .5"/>
    <site name="post" pos="0 0 .5" euler="0 0.4 0" type="box" size=".6 .5 .7"/>
    <body name="shelf" pos="0 0 .5" quat="0.5 0.5 -0.1 0.7">
      <geom type="box" size=".3 .1 .02"/>
      <site name="shelf" pos="0.1 0 0" euler="1 2 3"/>
      <body name="swing" pos=".3 0 0" euler="0.2 0 0">
        <joint name="swing" axis="0.2 1 0" stiffness="4" springref="0.2" ref="0.3" armature="0.02"/>
        <geom type="capsule" size=".03 .2" pos="0 0 -.2"/>
        <site name="swing" pos="0 0 -.4" euler="0.5 0 0.1"/>
        <body name="weight" pos="0 0 -.4">
          <geom type="sphere" size=".06"/>
          <site name="weight" pos="0 .05 0"/>
          <body name="wheel" pos=".1 0 0"><joint name="wheel" axis="1 0 0" range="-1 1" limited="false"/><geom type="cylinder" size=".1 .02" euler="0 1.57 0"/></body>
        </body>
      </body>
    </body>
  </body>
  <body name="hub" pos="1 0 1" euler="0 0.3 0">
    <site name="hub" pos="0 0 .1"/>
    <body name="pendulum"><joint axis="1 0 0.2" stiffness="2 1 3"/><geom type="sphere" size=".08" pos="0 0 -.5"/></body>
    <body name="empty" pos="0 1 0"/>
  </body>
  <body name="trunk" pos="0 0 1.2" quat="0.2 -0.4 0.6 0.1">
    <freejoint name="trunk"/>
    <geom name="trunk" type="box" size=".2 .1 .05" pos="0.03 0 0.01"/>
    <site name="imu" pos=".05 .01 .02" quat="0.6 0.3 -0.7 0.1"/>
    <camera name="eye" pos=".2 0 0" euler="1 0 0.3"/>
    <body name="backpack" pos="0 0 .1" euler="0.1 0.2 0.3">
      <geom type="box" size=".08 .06 .05"/>
      <site name="backpack" pos="0.01 0.02 0.03" euler="0.3 0 0"/>
      <body name="box" pos="0 0 .1" euler="0 0 0.5"><geom type="box" size=".03 .03 .03"/><site name="box" pos="0 0 .02" type="ellipsoid" size=".3 .6 .9"/></body>
    </body>
    <body name="thigh" pos="-.2 0 0">
      <joint name="hip" type="ball" pos="0 0 .02" stiffness="3"/>
      <geom type="capsule" size=".04 .15" pos="0 0 -.15"/>
      <site name="thigh" pos="0 0 -.1" euler="0.7 0.1 0" type="cylinder" size=".5 .4"/>
      <body name="shin" pos="0 0 -.3">
        <joint name="knee" axis="0 1 0" range="-2.5 0" limited="true"/>
        <joint name="turn" axis="0 0.6 0.8" pos="0.02 0 0"/>
        <geom name="shin" type="capsule" size=".03 .15" pos="0 0 -.15" euler="0.1 0 0"/>
        <site name="shin" pos="0 0 -.1" euler="0 0.3 0" type="capsule" size=".4 .3"/>
        <body name="foot" pos=".05 0 -.3">
          <geom type="box" size=".1 .05 .02"/>
          <site name="foot" pos="0.02 0 -.02" euler="0 0.1 0.1"/>
          <body name="toe" pos=".1 0 0"><joint name="toe" type="slide" axis="1 0 0.1" ref="0.05"/><geom type="sphere" size=".02"/><site name="toe" type="sphere" size=".7"/></body>
        </body>
      </body>
    </body>
  </body>"""
TENDONS = """<tendon>
    <fixed name="cord" stiffness="20 3 1" springlength="0.1 0.2" damping="1" armature="{armature}"><joint joint="swing" coef="1"/><joint joint="toe" coef="2"/></fixed>
    <fixed name="belt" limited="true" range="-1 1"><joint joint="wheel" coef="1"/><joint joint="knee" coef="-1"/></fixed>
  </tendon>
  <actuator>
    <motor name="drive" joint="knee" gear="5"/>
    <motor name="pull" tendon="belt" gear="2"/>
    <motor name="pull_more" tendon="belt" gear="-1"/>
    <motor name="wind" tendon="cord"/>
    <motor name="thruster" site="imu" gear="0 0 1 0.1 0 0"/>
    <position name="swing" joint="swing" kp="20" dampratio="1"/>
  </actuator>"""
# objects whose frames are measured, and frames to measure in: of the world, welded, moving, on the same body
OBJECTS = [
    ("body", "trunk"),
    ("xbody", "shin"),
    ("geom", "shin"),
    ("site", "imu"),
    ("camera", "eye"),
    ("site", "origin"),
]
OBJECTS += [
    ("site", "shelf"),
    ("body", "weight"),
    ("xbody", "toe"),
    ("body", "wheel"),
    ("site", "box"),
    ("body", "world"),
]
REFERENCES = [
    None,
    ("body", "trunk"),
    ("xbody", "swing"),
    ("site", "origin"),
    ("site", "toe"),
    ("geom", "trunk"),
    ("camera", "eye"),
]
SITES = ("origin", "post", "shelf", "swing", "weight", "imu", "backpack", "box", "thigh", "shin", "foot", "toe", "hub")
OF_SITES = ("accelerometer", "velocimeter", "gyro", "force", "torque", "magnetometer")
OF_FRAMES = ("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel")
DIRECTIONS = ("framequat", "framexaxis", "frameyaxis", "framezaxis")
LINKS = (
    "world",
    "post",
    "shelf",
    "swing",
    "weight",
    "wheel",
    "trunk",
    "backpack",
    "thigh",
    "foot",
    "toe",
    "hub",
    "empty",
)


def file(name: str, sensors: str, armature: float = 0, flag: str = "") -> str:
    return f"""<mujoco model="{name}">
  <compiler angle="radian"/>
  <option magnetic="0.1 -0.4 0.3" gravity="0.2 -0.1 -9.7"><flag contact="disable" {flag}/></option>
  <worldbody>{BODIES}</worldbody>
  {TENDONS.format(armature=armature)}
  <sensor>{sensors}</sensor>
</mujoco>"""


def of_sites(cutoff: str = "") -> str:
    # a torque of the world has no meaning in MuJoCo: it sums moments of its trees about different points
    of = [(site, kind) for site in SITES for kind in OF_SITES if (site, kind) != ("origin", "torque")]
    return "".join(f'<{kind} site="{site}" {cutoff}/>' for site, kind in of)


def of_frames(cutoff: str = "") -> str:
    text = ""
    for type_, name in OBJECTS:
        of = f'objtype="{type_}" objname="{name}" {cutoff}'
        text += f"<framelinacc {of}/><frameangacc {of}/>"
        for reference in REFERENCES:
            to = f'reftype="{reference[0]}" refname="{reference[1]}"' if reference else ""
            for kind in OF_FRAMES:  # directions are not cut off
                text += f'<{kind} objtype="{type_}" objname="{name}" {"" if kind in DIRECTIONS else cutoff} {to}/>'
    return text


def of_coordinates(cutoff: str = "") -> str:
    text = ""
    for joint in ("swing", "wheel", "knee", "turn", "toe"):
        text += "".join(f'<{kind} joint="{joint}" {cutoff}/>' for kind in ("jointpos", "jointvel", "jointactuatorfrc"))
    text += f'<ballquat joint="hip"/><ballangvel joint="hip" {cutoff}/>'
    for tendon in ("cord", "belt"):
        text += "".join(
            f'<{kind} tendon="{tendon}" {cutoff}/>' for kind in ("tendonpos", "tendonvel", "tendonactuatorfrc")
        )
    for actuator in ("drive", "pull", "pull_more", "wind", "thruster", "swing"):
        kinds = ("actuatorpos", "actuatorvel", "actuatorfrc")
        text += "".join(f'<{kind} actuator="{actuator}" {cutoff}/>' for kind in kinds)
    return text + f"<clock {cutoff}/><e_kinetic {cutoff}/><e_potential {cutoff}/>"


def of_subtrees(cutoff: str = "") -> str:
    kinds = ("subtreecom", "subtreelinvel", "subtreeangmom")
    return "".join(f'<{kind} body="{body}" {cutoff}/>' for body in LINKS for kind in kinds)


def of_zones() -> str:
    zones = ("post", "box", "thigh", "shin", "toe", "origin")
    objects = (
        ("xbody", "trunk"),
        ("body", "shin"),
        ("site", "toe"),
        ("geom", "trunk"),
        ("site", "swing"),
        ("body", "hub"),
    )
    return "".join(f'<insidesite site="{z}" objtype="{t}" objname="{n}"/>' for z in zones for t, n in objects)


def of_distances(cutoff: float) -> str:
    """Distances of pairs of shapes with closed forms; a box and a capsule are two objects of a body too."""
    pairs = (
        ('geom1="floor"', 'geom2="trunk"'),
        ('geom1="shin"', 'geom2="trunk"'),
        ('geom1="shin"', 'geom2="floor"'),
        ('body1="thigh"', 'body2="shin"'),
        ('geom1="shin"', 'body2="weight"'),
        ('body1="post"', 'body2="shin"'),
        ('body1="wheel"', 'body2="weight"'),
        ('body1="empty"', 'geom2="shin"'),
    )
    kinds = ("distance", "normal", "fromto")
    return "".join(f'<{kind} {a} {b} cutoff="{cutoff}"/>' for a, b in pairs for kind in kinds)


def of_images() -> str:
    text = "".join(f'<camprojection site="{site}" camera="eye"/>' for site in SITES)
    return text + '<user dim="2"/><camprojection site="toe" camera="eye" cutoff="100"/>'


# their numbers come with contacts, limits and geometry
OPEN = """<touch site="foot"/><rangefinder site="imu"/><jointlimitpos joint="knee"/><jointlimitvel joint="knee"/>
  <jointlimitfrc joint="knee"/><tendonlimitpos tendon="belt"/><tendonlimitvel tendon="belt"/><tendonlimitfrc tendon="belt"/>"""


def models() -> Iterator[tuple[str, str]]:
    """Name and text of each file."""
    yield "of_sites", file("of_sites", of_sites())
    yield "of_frames", file("of_frames", of_frames())
    yield "of_coordinates", file("of_coordinates", of_coordinates())
    yield "of_subtrees", file("of_subtrees", of_subtrees())
    yield "of_zones", file("of_zones", of_zones())
    everything = of_sites('cutoff="0.7"') + of_frames('cutoff="0.4"') + of_coordinates('cutoff="0.5"')
    yield "cut_off", file("cut_off", everything + of_subtrees('cutoff="0.3"'))
    yield "open", file("open", OPEN)
    yield "no_sensors", file("no_sensors", of_sites() + of_coordinates(), flag='sensor="disable"')
    yield "no_gravity", file("no_gravity", of_sites() + of_coordinates(), flag='gravity="disable" spring="disable"')
    yield "of_distances", file("of_distances", of_distances(1.5))
    yield "of_near_distances", file("of_near_distances", of_distances(0.2))
    yield "of_images", file("of_images", of_images())
    # plugin: refused by name


def refused() -> Iterator[tuple[str, str]]:
    """Sensors that are not supported, each with what the message must name."""
    yield (
        '<gyro name="late" site="imu" nsample="4" delay="0.01"/>',
        "sensor 'late': nsample, delay and interval are not supported",
    )
