"""Model files whose numbers are identified by tests and by bench/identify.py."""

BOX = """
<mujoco><option timestep="0.002" cone="elliptic"/>
  <worldbody><geom name="floor" type="plane" size="9 9 .1" friction="0.8"/>
    <body pos="0 0 .05"><freejoint/><geom name="box" type="box" size=".1 .08 .05" mass="1" friction="0.8"/></body>
  </worldbody>
</mujoco>"""
BALL = """
<mujoco><option timestep="0.002"/>
  <worldbody><geom name="floor" type="plane" size="9 9 .1"/>
    <body pos="0 0 .5"><freejoint/><geom name="ball" type="sphere" size=".05" mass=".2" solref="0.03 0.5"/></body>
  </worldbody>
</mujoco>"""
