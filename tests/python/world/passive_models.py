"""Model files that have, together, one of every passive force: springs, dampers, gravity compensation, the medium."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def model(name: str, body: str, option: str = "", rest: str = "") -> str:
    """A file around bodies of the world. Nothing collides."""
    return f"""<mujoco model="{name}">
  <compiler angle="radian"/>
  <option {option}><flag contact="disable"/></option>
  <default><geom contype="0" conaffinity="0" density="800"/></default>
  <worldbody>{body}</worldbody>
  {rest}
</mujoco>"""


# joints of every type, two of them on one body, one on a body that is welded to another
CHAIN = """
  <body name="base" pos="0 0 1" quat="0.9 0.1 -0.3 0.2">
    <joint name="slide" type="slide" axis="1 2 -1" ref="0.2" {slide}/>
    <geom type="box" size=".1 .2 .05" pos=".02 0 .01"/>
    <body name="upper" pos="0.2 0 0.1" euler="0.3 -0.2 0.5">
      <joint name="shoulder" type="ball" pos="0 0.02 0" {ball}/>
      <geom type="capsule" size=".04 .15" pos="0 0 -.1" {fluid}/>
      <body name="lower" pos="0 0 -.3" euler="0.1 0.7 0">
        <joint name="elbow" axis="0 1 0.3" ref="0.4" {hinge}/>
        <joint name="twist" axis="0 0 1" pos="0.05 0 0" {second}/>
        <geom type="cylinder" size=".03 .1" pos=".01 0 -.1" euler="0.4 0 0" {fluid}/>
        <body name="hand" pos="0 .05 -.2" euler="0 0.2 1">
          <geom type="ellipsoid" size=".05 .08 .02" {fluid}/>
          <geom type="sphere" size=".03" pos=".1 0 0" {fluid}/>
          <body name="finger" pos="0.1 0 0"><joint name="grip" type="slide" axis="0 1 0"/><geom type="box" size=".01 .03 .01" {fluid}/></body>
        </body>
      </body>
    </body>
  </body>
  <body name="drone" pos="1 0 2" {gravcomp}>
    <joint name="free" type="free" {free}/>
    <geom type="box" size=".1 .05 .03" pos="0.02 0.01 0" euler="0.2 0.1 0" {fluid}/>
    <body name="rotor" pos="0 .1 .05"><joint name="spin" axis="0 0 1" damping=".001"/><geom type="cylinder" size=".06 .005" {fluid}/></body>
  </body>"""
NOTHING = dict.fromkeys(("slide", "ball", "hinge", "second", "free", "gravcomp", "fluid"), "")


def chain(**with_: str) -> str:
    return CHAIN.format(**{**NOTHING, **with_})


ACTUATORS = """<actuator>
    <motor joint="elbow" gear="3" damping="0.2 0.1 0.05"/>
    <motor joint="elbow" gear="-2" damping="0.3"/>
    <motor jointinparent="shoulder" gear="0 2 1 0 0 0" damping="0.1"/>
    <position joint="slide" kp="10" damping="0.5" gear="0.5"/>
  </actuator>"""
TENDONS = """<tendon>
    <fixed name="linear" stiffness="20" damping="3" springlength="0.1"><joint joint="slide" coef="2"/><joint joint="elbow" coef="-1"/></fixed>
    <fixed name="slack" stiffness="20 5 9" damping="3 2 1" springlength="-0.3 0.4"><joint joint="twist" coef="1"/><joint joint="grip" coef="4"/></fixed>
    <fixed name="plain"><joint joint="twist" coef="1"/></fixed>
    <fixed name="damped" damping="1.5"><joint joint="elbow" coef="0.7"/></fixed>
  </tendon>
  <actuator><motor tendon="plain" gear="2" damping="0.4 0.1"/></actuator>"""
SPRINGS = {
    "slide": 'stiffness="30" springref="0.3" damping="2"',
    "ball": 'stiffness="5" damping="0.3"',
    "hinge": 'stiffness="4" springref="-0.7" damping="0.2"',
    "second": 'stiffness="1.5"',
    "free": 'stiffness="3" damping="0.1"',
}
POLYNOMIALS = {
    "slide": 'stiffness="30 7 11" springref="0.3" damping="2 1 0.5"',
    "ball": 'stiffness="5 1 2" damping="0.3 0.2 0.1"',
    "hinge": 'stiffness="0 3 -1" damping="0 0.3 0"',
    "second": 'stiffness="1.5 0 2" damping="0 0 0.2"',
    "free": 'stiffness="3 2 1" damping="0.1 0.05 0.02"',
}
MEDIUM = 'density="1.2" viscosity="0.01" wind="1 -2 0.5"'
WATER = 'density="1000" viscosity="0.9" gravity="1 2 -9"'
ELLIPSOID = 'fluidshape="ellipsoid" fluidcoef="0.5 0.25 1.5 1.0 0.8"'


def models() -> Iterator[tuple[str, str]]:
    """Name and text of each file."""
    yield "springs", model("springs", chain(**SPRINGS))
    yield "polynomials", model("polynomials", chain(**POLYNOMIALS), rest=ACTUATORS)
    yield "tendons", model("tendons", chain(**SPRINGS), rest=TENDONS)
    for flag in ("spring", "damper", "gravity"):
        text = model(flag, chain(**POLYNOMIALS, gravcomp='gravcomp="0.7"'), MEDIUM, ACTUATORS)
        yield f"no_{flag}", text.replace('contact="disable"', f'contact="disable" {flag}="disable"')
    text = model("neither", chain(**POLYNOMIALS, gravcomp='gravcomp="0.7"'), MEDIUM, ACTUATORS)
    yield (
        "no_spring_no_damper",
        text.replace('contact="disable"', 'contact="disable" spring="disable" damper="disable"'),
    )
    lifted = chain(gravcomp='gravcomp="1.3"').replace('name="hand"', 'name="hand" gravcomp="1"')
    lifted = lifted.replace('name="lower"', 'name="lower" gravcomp="0.4"').replace(
        'name="base"', 'name="base" gravcomp="1"'
    )
    lifted = lifted.replace('name="elbow"', 'name="elbow" actuatorgravcomp="true"')
    yield "lifted", model("lifted", lifted, 'gravity="0.3 -1 -9.5"')
    yield "boxes_in_air", model("boxes_in_air", chain(), MEDIUM)
    yield "boxes_in_oil", model("boxes_in_oil", chain(), 'viscosity="0.3"')
    yield "ellipsoids_in_air", model("ellipsoids_in_air", chain(fluid=ELLIPSOID), MEDIUM)
    yield "ellipsoids_in_water", model("ellipsoids_in_water", chain(fluid=ELLIPSOID, **SPRINGS), WATER)
    mixed = chain(fluid=ELLIPSOID).replace(
        f'size=".03 .1" pos=".01 0 -.1" euler="0.4 0 0" {ELLIPSOID}', 'size=".03 .1"'
    )
    yield "boxes_and_ellipsoids", model("boxes_and_ellipsoids", mixed, 'density="1000" wind="0 0.5 0"')
