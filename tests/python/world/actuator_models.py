"""Small MJCF models that together have one of every actuator and tendon, without contacts: for x in models(): name, xml = x."""

import itertools

# A free trunk with a limb of a ball, a hinge, and a slide and a hinge of one body; another limb of hinges. Sites are turned.
TREE = """
<worldbody>
  <site name="world" pos=".3 .2 1.4" euler="20 30 40"/>
  <body name="trunk" pos="0 0 1">
    <freejoint name="free"/>
    <geom type="box" size=".1 .08 .05" mass="3"/>
    <site name="trunk" pos=".1 .02 .03" euler="10 -20 30"/>
    <body name="upper" pos=".15 .05 0" euler="0 20 5" gravcomp=".4">
      <joint name="ball" type="ball" damping=".1"/>
      <geom type="capsule" fromto="0 0 0 .02 0 -.3" size=".03" mass="1"/>
      <site name="upper" pos=".03 .01 -.1" euler="-15 25 35"/>
      <body name="lower" pos=".02 0 -.3" gravcomp="1">
        <joint name="hinge" axis="0 1 .2" pos="0 .02 .01" {limits}/>
        <geom type="capsule" fromto="0 0 0 0 .02 -.25" size=".025" mass=".6"/>
        <site name="lower" pos=".02 .03 -.12" euler="5 45 -70"/>
        <body name="foot" pos="0 .02 -.25" euler="0 0 30">
          <joint name="slide" type="slide" axis=".2 0 1" {limits}/>
          <joint name="turn" axis="1 .3 0" pos=".01 0 .02"/>
          <geom type="sphere" size=".04" pos=".02 0 -.03" mass=".3"/>
          <site name="foot" pos=".04 .01 -.05" euler="60 -10 80"/>
        </body>
      </body>
    </body>
    <body name="arm" pos="-.12 .05 .04">
      <joint name="yaw" axis="0 0 1"/>
      <geom type="capsule" fromto="0 0 0 -.2 0 0" size=".02" mass=".5"/>
      <site name="arm" pos="-.05 .03 .02" euler="15 15 15"/>
      <body name="hand" pos="-.2 0 0">
        <joint name="pitch" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 -.15 0 .03" size=".015" mass=".2"/>
        <site name="hand" pos="-.1 .01 .04" euler="-30 40 10"/>
      </body>
    </body>
  </body>
</worldbody>
"""


def model(actuators, tendons="", flags="", options="", limits="", tree=TREE):
    return f"""
<mujoco>
  <option timestep=".004" {options}><flag contact="disable" {flags}/></option>
  {tree.format(limits=limits)}
  <tendon>{tendons}</tendon>
  <actuator>{actuators}</actuator>
</mujoco>
"""


def general(**attributes):
    return "<general " + " ".join(f'{k}="{v}"' for k, v in attributes.items()) + "/>"


def gains_and_biases():
    """Every activation with every gain and bias, with and without ranges and early activation."""
    muscle = ".75 1.05 {force} 200 .5 1.6 1.5 1.3 1.2"
    gain = {"fixed": "3.5", "affine": "2 -1.2 .7", "muscle": None}
    bias = {"none": "0", "affine": ".4 -3 -.6", "muscle": None}
    dynamics = {"none": "1", "integrator": "1", "filter": ".05", "filterexact": ".03", "muscle": ".01 .04 {smooth}"}
    actuators = ""
    for n, (d, g, b) in enumerate(itertools.product(dynamics, gain, bias)):
        of_muscle = muscle.format(force=(-1, 40)[n % 2])
        a = {
            "joint": ("hinge", "turn", "yaw", "pitch", "slide")[n % 5],
            "gear": (1, -2.5, 0.7)[n % 3],
            "dyntype": d,
            "gaintype": g,
            "biastype": b,
            "dynprm": dynamics[d].format(smooth=(0, 0.3)[n // 9 % 2]),
            "gainprm": gain[g] or of_muscle,
            "biasprm": bias[b] or of_muscle,
            "lengthrange": "-2 2.2",
        }
        if n % 2:
            a["ctrlrange"] = "-.6 .8"
        if n % 3 == 0:
            a["forcerange"] = "-1.5 2"
        if d != "none":
            a["actearly"] = ("true", "false")[n % 4 // 2]
            if n % 5 < 2:
                a["actrange"] = "-.5 .7"
        actuators += general(**a)
    # a smooth change between the muscle's time constants, and shortcuts
    actuators += """
      <muscle joint="hinge" timeconst=".02 .06" tausmooth=".4" lengthrange="-2 2"/>
      <muscle joint="yaw" lengthrange="-2 2" force="30"/>
      <motor joint="yaw" gear="4"/> <velocity joint="pitch" kv="2"/> <damper joint="turn" kv="3" ctrlrange="0 1"/>
      <position joint="pitch" kp="20" dampratio="1"/> <position joint="pitch" kp="20" kv="1" timeconst=".1"/>
      <intvelocity joint="yaw" kp="10" kv=".3" actrange="-1 1"/> <cylinder joint="slide" timeconst=".2" area=".3" bias=".1 .2 .3"/>
    """
    return model(actuators)


def transmissions():
    gear6 = "1.1 -.4 .7 .3 .6 -.9"
    sites = ("trunk", "upper", "lower", "foot", "arm", "hand", "world")
    actuators = ""
    for joint in ("free", "ball", "hinge", "slide", "turn"):
        for attribute in ("joint", "jointinparent"):
            actuators += f'<motor {attribute}="{joint}" gear="{gear6}"/>'
    for site in sites[:6]:
        actuators += f'<motor site="{site}" gear="{gear6}"/>'
    for site, reference in itertools.permutations(sites, 2):
        gear = (gear6, "1 2 3 0 0 0", "0 0 0 1 2 3")[len(site + reference) % 3]
        if site == "world":
            gear = "1 2 -3 0 0 0"
        actuators += f'<motor site="{site}" refsite="{reference}" gear="{gear}"/>'
    for crank, slider in (
        ("foot", "trunk"),
        ("hand", "foot"),
        ("arm", "world"),
        ("upper", "lower"),
        ("world", "trunk"),
    ):
        for rod in (0.2, 0.9, 3):
            actuators += f'<motor cranksite="{crank}" slidersite="{slider}" cranklength="{rod}" gear="1.7"/>'
    actuators += '<motor tendon="sum" gear="-2"/> <motor tendon="string" gear="3"/>'
    tendons = """
      <fixed name="sum"><joint joint="hinge" coef="1.5"/><joint joint="pitch" coef="-.7"/><joint joint="slide" coef="2"/></fixed>
      <spatial name="string"><site site="foot"/><site site="upper"/><site site="hand"/><site site="world"/></spatial>
    """
    return model(actuators, tendons)


def servos():
    """Setpoints that come round, slew and wind up; orientation servos."""
    rotation, mixed = "0 0 0 .8 .5 -.6", "0 .1 0 .8 .5 -.6"
    actuators = ""
    # an orientation servo first: it has several outputs, so later actuators and outputs have different numbers
    for target in (
        'joint="ball"',
        'site="foot" refsite="trunk"',
        'site="hand" refsite="lower"',
        'site="upper" refsite="world"',
    ):
        actuators += f"""
          <orientation {target} kp="5" kv=".4"/>
          <orientation {target} kp="5" kv=".4" input="quat" forcerange="0 3"/>
          <general {target} gaintype="so3" biastype="so3" gainprm="4" biasprm=".2 -4 -.3" dyntype="integrator" actdim="3"/>
          <general {target} gaintype="so3" biastype="so3" gainprm="4" biasprm="0 -4 -.3" dyntype="integrator" actdim="3"
            actearly="true" actrange="-3 3" ctrlrange="-1 1"/>
        """
    for target in (
        'joint="ball" gear="1 .5 -.3"',
        'jointinparent="ball" gear="0 0 2"',
        f'site="foot" refsite="arm" gear="{rotation}"',
        f'site="foot" refsite="arm" gear="{mixed}"',
        'joint="hinge" gear="1.3"',
        'tendon="string"',
        'cranksite="hand" slidersite="trunk" cranklength=".8"',
    ):
        actuators += f"""
          <position {target} kp="12" kv=".5"/>
          <intvelocity {target} kp="12" kv=".5"/>
          <intvelocity {target} kp="12" actrange="-2 2"/>
          <general {target} gainprm="7" biastype="affine" biasprm="0 -7 0" dyntype="integrator" actearly="true"/>
          <position {target} kp="12" timeconst=".1"/>
          <general {target} gainprm="7" biastype="affine" biasprm=".2 -7 -.1" dyntype="filter" dynprm=".2"/>
          <general {target} gainprm="7" biastype="affine" biasprm=".2 -7 -.1" dyntype="filterexact" dynprm=".2" actearly="true" actrange="-3 3"/>
          <general {target} gainprm="7" biastype="affine" biasprm="0 -7 0" dyntype="muscle" dynprm=".01 .04"/>
          <pid {target} kp="9" kv="1.1"/>
          <pid {target} kp="9" kv="1.1" ki="3" imax=".4"/>
          <pid {target} kp="9" kv="1.1" ki="3" slewmax="2" posrange="-1 1" velrange="-.5 .5"/>
          <pid {target} kp="9" kv="1.1" slewmax="5" input="pos ff" ffrange="-.3 .3" forcerange="-4 5"/>
          <pid {target} kp="9" kv="1.1" input="vel"/>
          <pid {target} kp="9" kv="1.1" ki="2" imax=".1" slewmax="1" input="pos vel ff"/>
          <general {target} gaintype="pid" biastype="affine" dyntype="pid" biasprm=".1 -9 -1" gainprm="2" dynprm=".2 3" actearly="true"
            actrange="-.3 .3"/>
        """
    tendons = '<spatial name="string"><site site="foot"/><site site="hand"/></spatial>'
    return model(actuators, tendons)


def dc_motors():
    heat, friction = 'thermal="2 30 0 .004 25 20"', 'lugre="60 .5 .2 .35 .1"'
    cogging, choke = 'cogging=".05 7 .3"', 'inductance="0 .01"'
    parts = (
        "",
        'input="none"',
        choke,
        'inductance=".02" saturation=".6 0 40"',
        heat,
        f"{heat} {choke}",
        friction,
        f"{friction} {cogging}",
        f'{friction} {heat} {choke} {cogging} input="pos vel ff voltage" controller="8 2 .3 4 .2 6" saturation="1.2 0 30"',
        'controller="8 0 .3 0 0 5" input="pos vel"',
        'controller="8 2 .3 0 .1 0" input="pos vel ff"',
        f'controller="8 2 0 3 0 9" input="pos" {heat}',
        'controller="0 0 .5 0 0 3" input="vel voltage" saturation="0 2"',
        'input="ff"',
        f'input="none" {friction} {cogging}',
        'ctrlrange="-1 1" damping=".3" armature=".01"',
    )
    targets = ('joint="hinge" gear="2"', 'joint="yaw" gear="-3"', 'tendon="sum" gear="1.5"', 'joint="pitch"')
    actuators = "".join(
        f'<dcmotor {targets[n % 4]} motorconst=".3" resistance="1.4" {part}/>' for n, part in enumerate(parts)
    )
    actuators += '<dcmotor joint="yaw" nominal="12 3 40"/> <dcmotor joint="yaw" motorconst=".2 .4" resistance="2"/>'
    # the motor's circuit with other gains, its gain without dynamics
    actuators += general(
        joint="hinge", gaintype="dcmotor", biastype="dcmotor", dynprm="0", gainprm="2 .4", biasprm=".1 3 0"
    )
    return model(
        actuators, '<fixed name="sum"><joint joint="hinge" coef="1.5"/><joint joint="pitch" coef="-.7"/></fixed>'
    )


# Sites that swing around objects to wrap around, in one plane and out of it.
def wrap_tree(objects):
    return f"""
<worldbody>
  <site name="anchor" pos="-.25 .02 .9"/> <site name="anchor2" pos=".3 -.1 1.2"/>
  <body name="base" pos="0 0 1">
    <joint name="j0" axis="0 1 .1"/>
    <geom type="sphere" size=".04" mass="1"/>
    <site name="base" pos="-.12 .02 .08"/> <site name="base2" pos=".02 .05 .16"/>
    {objects}
    <body name="rod" pos=".02 0 -.02">
      <joint name="j1" type="ball"/>
      <geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass=".7"/>
      <site name="rod" pos=".16 .02 .06"/> <site name="rod2" pos=".1 -.07 -.02"/>
      <body name="tip" pos=".3 0 0">
        <joint name="j2" axis="0 1 0"/> <joint name="j3" type="slide" axis="1 0 0"/>
        <geom type="capsule" fromto="0 0 0 .2 0 0" size=".02" mass=".3"/>
        <site name="tip" pos=".1 0 .03"/>
        <geom name="far" type="sphere" size=".05" pos=".02 .01 .01" mass=".1"/>
      </body>
    </body>
  </body>
</worldbody>
"""


def wrapping(shape):
    """Tendons past an object of the base, without a side, with one outside, inside, and in line with the centre."""
    size, turn = (".07", "") if shape == "sphere" else (".07 .2", 'euler="80 10 5"')
    objects = f"""
      <geom name="object" type="{shape}" size="{size}" pos=".03 .01 .02" {turn} mass=".1"/>
      <site name="above" pos=".03 .01 .15"/> <site name="below" pos="-.02 .02 -.12"/> <site name="within" pos=".04 .015 .03"/>
      <site name="left" pos="-.27 .01 .02"/>
    """
    tendons = ""
    n = 0
    for side in ("", "above", "below", "within"):
        for start, end in (
            ("base", "rod"),
            ("anchor", "tip"),
            ("base", "rod2"),
            ("left", "tip"),
            ("anchor", "anchor2"),
        ):
            chosen = f'sidesite="{side}"' if side else ""
            tendons += f"""
              <spatial name="t{n}"><site site="{start}"/><geom geom="object" {chosen}/><site site="{end}"/></spatial>"""
            n += 1
    # branches by pulleys, several objects in one tendon
    tendons += """
      <spatial name="branches"><site site="anchor"/><site site="base"/><geom geom="object"/><site site="rod"/>
        <pulley divisor="2"/><site site="rod"/><geom geom="object" sidesite="within"/><site site="base2"/>
        <pulley divisor="4"/><site site="tip"/><site site="rod2"/><geom geom="object" sidesite="above"/><site site="anchor"/>
        <geom geom="far"/><site site="anchor2"/></spatial>
      <spatial name="first"><pulley divisor="3"/><site site="tip"/><geom geom="far"/><site site="base"/></spatial>
      <spatial name="limited" actuatorfrcrange="-.8 .5"><site site="tip"/><geom geom="object"/><site site="base"/></spatial>
      <fixed name="fixed" actuatorfrcrange="-.3 .6" stiffness="2" damping=".1"><joint joint="j0" coef="2"/><joint joint="j3" coef="-1"/></fixed>
    """
    actuators = "".join(f'<motor tendon="t{k}" gear="{1 + k}"/>' for k in range(n))
    actuators += """
      <muscle tendon="branches" lengthrange=".2 1.5"/> <muscle tendon="t0" lengthrange=".1 .6" force="20"/>
      <motor tendon="limited" gear="2"/> <motor tendon="limited"/> <position tendon="limited" kp="3"/>
      <motor tendon="fixed"/> <motor tendon="fixed" gear="-1" forcerange="-.2 .2"/> <motor tendon="first"/>
    """
    return model(actuators, tendons, tree=wrap_tree(objects))


def moving_sides(shape):
    """Tendons whose side site moves against the object: it goes into the object and out of it."""
    size, turn = (".07", "") if shape == "sphere" else (".07 .2", 'euler="80 10 5"')
    objects = f"""
      <geom name="object" type="{shape}" size="{size}" pos=".03 .01 .02" {turn} mass=".1"/>
      <body name="feeler" pos=".03 .01 .02"><joint axis="0 .1 1"/><joint type="slide" axis=".1 .3 1"/>
        <geom size=".01" pos=".05 0 0"/><site name="feeler" pos=".05 0 .02"/></body>"""
    pairs = (("base", "rod"), ("anchor", "tip"), ("base", "rod2"), ("anchor", "anchor2"))
    tendons = "".join(
        f"""<spatial name="t{n}"><site site="{a}"/><geom geom="object" sidesite="{side}"/><site site="{b}"/></spatial>"""
        for n, (a, b, side) in enumerate((*pair, side) for pair in pairs for side in ("feeler", "rod2"))
    )
    return model("".join(f'<motor tendon="t{k}"/>' for k in range(2 * len(pairs))), tendons, tree=wrap_tree(objects))


def limits(flags="", options=""):
    """Limits of effort, of controls, compensation of gravity by actuators, disabled groups."""
    tree = TREE.replace('name="turn"', 'name="turn" actuatorfrcrange="-1 1.5"').replace(
        'name="yaw"', 'name="yaw" actuatorfrcrange="-.5 .2" actuatorgravcomp="true"'
    )
    tree = tree.replace('name="ball"', 'name="ball" actuatorgravcomp="true"')
    tree = tree.replace('<body name="hand"', '<body name="hand" gravcomp="1"')
    actuators = """
      <motor joint="hinge" gear="3" ctrlrange="-.4 .3"/> <motor joint="turn" gear="5"/> <motor joint="yaw" gear="2"/>
      <motor joint="hinge" gear="3" group="2"/> <motor joint="turn" group="5" forcerange=".1 .4"/>
      <general joint="pitch" group="2" dyntype="filterexact" dynprm=".1" actrange="-.3 .3" actlimited="true"/>
      <intvelocity joint="ball" gear="0 1 0" kp="3" group="2"/>
      <dcmotor joint="pitch" group="2" motorconst=".3" resistance="1.4" lugre="60 .5 .2 .35 .1" inductance="0 .02"/>
      <position joint="slide" kp="30" group="31"/> <motor tendon="sum" group="2"/> <motor tendon="sum" gear="3"/>
    """
    tendons = """<fixed name="sum" actuatorfrcrange="-.3 .4"><joint joint="hinge" coef="1.5"/><joint joint="pitch" coef="-.7"/></fixed>"""
    slide = 'actuatorfrcrange="-.7 .9" actuatorgravcomp="true"'
    return model(actuators, tendons, flags, options, tree=tree, limits=slide)


def models():
    """(name, xml) of each model."""
    yield "gains_and_biases", gains_and_biases()
    yield "transmissions", transmissions()
    yield "servos", servos()
    yield "dc_motors", dc_motors()
    yield "wrap_sphere", wrapping("sphere")
    yield "wrap_cylinder", wrapping("cylinder")
    yield "moving_side_sphere", moving_sides("sphere")
    yield "moving_side_cylinder", moving_sides("cylinder")
    yield "limits", limits()
    yield "disabled_groups", limits(options='actuatorgroupdisable="2 5"')
    yield "free_controls", limits('clampctrl="disable"')
    yield "no_gravity", limits('gravity="disable"')
    yield "no_actuation", limits('actuation="disable"')


# What is refused, and a word of the message.
REFUSED = (
    (model('<motor joint="hinge" delay=".01" nsample="4"/>'), "delay"),
    (model(general(joint="hinge", dyntype="user", actdim="2")), "dyntype"),
    (model(general(joint="hinge", gaintype="user")), "gaintype"),
    (model(general(joint="hinge", biastype="user")), "biastype"),
)
