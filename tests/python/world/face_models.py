"""Models for tests of simulations and rollouts in the world of a model file."""

LEG = """
<mujoco model="leg">
  <option timestep="0.004" {option}/>
  <default><geom density="800" friction="0.9 .01 .001"/><joint damping="0.3" armature="0.02"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="10 10 1"/>
    <site name="mark" pos="1 2 0.5"/>
    <body name="trunk" pos="0 0 0.75">
      <joint name="slide" type="slide" axis="1 0 0" damping="0"/>
      <joint name="rise" type="slide" axis="0 0 1" damping="0" armature="0"/>
      <joint name="pitch" axis="0 1 0" damping="0"/>
      <geom name="chest" type="capsule" fromto="-.15 0 0 .15 0 0" size=".06"/>
      <site name="imu" pos="0.05 0 0.02" euler="0 20 0"/>
      <site name="watch" pos="0.2 0 0" euler="0 120 0"/>
      <body name="thigh">
        <joint name="hip" axis="0 1 0" range="-60 60" limited="true"/>
        <geom name="upper" type="capsule" fromto="0 0 0 0 0 -.35" size=".04"/>
        <body name="foot" pos="0 0 -.35">
          <joint name="knee" axis="0 1 0" range="-80 80" limited="true" stiffness="3"/>
          <geom name="shin" type="capsule" fromto="0 0 0 0 0 -.33" size=".03"/>
          <geom name="sole" type="box" size=".08 .04 .02" pos="0.03 0 -.36"/>
          <site name="tip" pos="0.03 0 -.38" type="box" size=".1 .06 .03"/>
        </body>
      </body>
    </body>
    <body name="ball" pos="0.5 0 0.1"><freejoint name="free"/><geom name="ball" size=".1"/></body>
  </worldbody>
  <actuator>
    <motor name="hip" joint="hip" gear="40" ctrllimited="true" ctrlrange="-1 1"/>
    <position name="knee" joint="knee" kp="30"/>
    <general name="slow" joint="knee" dyntype="filter" dynprm="0.05" gainprm="8" ctrllimited="true" ctrlrange="-0.5 0.7"/>
  </actuator>
  <sensor>
    <framepos name="where" objtype="site" objname="tip"/>
    <velocimeter name="speed" site="imu"/>
    <gyro name="gyro" site="imu"/>
    <clock name="clock"/>
    <jointlimitpos name="left" joint="hip"/>
    <accelerometer name="imu" site="imu"/>
    <actuatorfrc name="effort" actuator="knee"/>
    <touch name="touch" site="tip"/>
    <force name="ankle" site="tip"/>
    <rangefinder name="eye" site="watch"/>
  </sensor>
  <keyframe>
    <key name="home" time="1" qpos="0 -0.035 0.1 0.3 -0.6 0.5 0 0.2 1 0 0 0" qvel="0.1 0 0 0 0 0 0 0 0 0 1" act="0.2" ctrl="0.1 -0.6 0.2"/>
  </keyframe>
</mujoco>
"""

MODELS = {
    "Euler": LEG.format(option=""),
    "implicitfast": LEG.format(option='integrator="implicitfast" cone="elliptic"'),
    "RK4": LEG.format(option='integrator="RK4"'),
}

# a pole on a cart that its motor keeps upright
CARTPOLE = """
<mujoco model="cartpole">
  <option timestep="0.01"/>
  <worldbody>
    <body name="cart">
      <joint name="slider" type="slide" axis="1 0 0" range="-1 1" limited="true" damping="0.05"/>
      <geom type="capsule" fromto="-.1 0 0 .1 0 0" size=".05" mass="1"/>
      <body name="pole">
        <joint name="hinge" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 .6" size=".03" mass=".3"/>
        <site name="tip" pos="0 0 .6"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="push" joint="slider" gear="20" ctrllimited="true" ctrlrange="-1 1"/></actuator>
</mujoco>
"""

# without actuators, contacts and activations
SWING = """
<mujoco><worldbody><body pos="0 0 1"><joint name="hinge" axis="0 1 0" stiffness="2"/><geom size=".1" pos="0 0 -.3"/></body></worldbody></mujoco>
"""
