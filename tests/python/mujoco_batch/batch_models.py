"""Models for tests of batches. None of their geoms touches another unless the name says so."""

PENDULUM = """
<mujoco>
  <option timestep="0.005"/>
  <worldbody>
    <body name="arm" pos="0 0 1">
      <joint name="shoulder" axis="0 1 0" damping="0.1" limited="true" range="-90 90"/>
      <geom name="upper" type="capsule" fromto="0 0 0 0 0 -.4" size=".03" mass="1" contype="0" conaffinity="0"/>
      <body name="hand" pos="0 0 -.4">
        <joint name="elbow" axis="0 1 0" frictionloss="0.05" stiffness="1"/>
        <geom name="lower" type="capsule" fromto="0 0 0 0 0 -.3" size=".02" mass=".5" contype="0" conaffinity="0"/>
        <site name="tip" pos="0 0 -.3"/>
      </body>
    </body>
    <camera name="watching" pos="0 -2 1" mode="targetbody" target="hand"/>
    <light name="lamp" pos="0 0 3" mode="trackcom"/>
    <body name="target" mocap="true" pos="1 0 1"><geom size=".02" contype="0" conaffinity="0"/></body>
  </worldbody>
  <actuator>
    <motor name="push" joint="shoulder" gear="2"/>
    <position name="hold" joint="elbow" kp="5" ctrllimited="true" ctrlrange="-1 1"/>
    <general name="slow" joint="elbow" dyntype="filter" dynprm="0.05" gainprm="0.5"/>
  </actuator>
  <sensor>
    <jointpos joint="elbow"/>
    <accelerometer site="tip"/>
    <framepos objtype="xbody" objname="target"/>
    <clock/>
  </sensor>
  <keyframe>
    <key name="up" qpos="0.5 -0.5" qvel="1 0" ctrl="0.1 0.2 0.3" act="0.4" time="2"/>
    <key name="down" qpos="-0.5 0.5" mpos="0 1 0"/>
  </keyframe>
</mujoco>
"""

FLOATING = """
<mujoco>
  <option integrator="implicitfast"/>
  <worldbody>
    <body name="base" pos="0 0 1">
      <freejoint name="root"/>
      <geom type="box" size=".2 .1 .05" mass="2" contype="0" conaffinity="0"/>
      <body name="head" pos=".2 0 0">
        <joint name="neck" type="ball" damping="0.2"/>
        <geom type="sphere" size=".05" mass=".3" pos=".1 0 0" contype="0" conaffinity="0"/>
      </body>
      <body name="tail" pos="-.2 0 0">
        <joint name="slide" type="slide" axis="1 0 0" range="-.1 .1" limited="true" armature="0.01"/>
        <geom type="cylinder" size=".03 .05" mass=".2" contype="0" conaffinity="0"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="cord"><joint joint="slide" coef="2"/></fixed>
  </tendon>
  <equality>
    <joint name="tied" joint1="slide" polycoef="0.02 0 0 0 0" active="false"/>
  </equality>
  <actuator><motor tendon="cord"/></actuator>
  <sensor><framequat objtype="site" objname="mark"/></sensor>
</mujoco>
""".replace('<body name="tail"', '<site name="mark" pos="0 0 .05"/>\n      <body name="tail"')

RUNGE_KUTTA = PENDULUM.replace('timestep="0.005"', 'timestep="0.005" integrator="RK4"')

MODELS = {"pendulum": PENDULUM, "floating": FLOATING, "runge_kutta": RUNGE_KUTTA}

# tendons around cylinders on a mocap body, whose sides sites of that body and of another choose
PULLEY = PENDULUM.replace(
    "</worldbody>",
    """<body mocap="true" pos="0 .2 .9">
    <geom name="pulley" type="cylinder" size=".1 .1" euler="0 90 0" contype="0" conaffinity="0"/>
    <site name="side" pos="0 0 .2"/></body><body name="post" pos="0 .2 .9"><site name="aside" pos="0 .3 -.3"/></body>
    <site name="far" pos="0 1 .5"/></worldbody>""",
).replace(
    "<actuator>",
    """<tendon>
      <spatial stiffness="5"><site site="far"/><geom geom="pulley" sidesite="side"/><site site="tip"/></spatial>
      <spatial stiffness="5"><site site="far"/><geom geom="pulley" sidesite="aside"/><site site="tip"/></spatial>
    </tendon><actuator>""",
)
