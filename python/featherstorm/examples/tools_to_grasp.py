"""Six hundred tools of three kinds to grasp and lift: python -m featherstorm.examples.tools_to_grasp

Each kind (hammer, mallet, screwdriver) is one model whose sizes, masses and friction differ between instances, so there are
three sets of kernels for six hundred tools. A gripper closes about the handle with the same motion for all.
"""

from __future__ import annotations

import time
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

import featherstorm as fs

KINDS = ("hammer", "mallet", "screwdriver")
CLOSE, LIFT, STEPS = 10, 45, 120  # control steps of DT at which the fingers close and the hand rises
DT, TIMESTEP = 0.01, 0.002
RISE = 0.25  # [m]


def tool(kind: str, rng: np.random.Generator) -> Any:
    """Return the mujoco.MjModel of a gripper above a tool with random sizes."""
    length, radius = rng.uniform(0.08, 0.16), rng.uniform(0.008, 0.02)  # half the length of the handle
    x, y, z = rng.uniform([0.015, 0.02, 0.01], [0.035, 0.06, 0.03])
    friction, density = rng.uniform(0.3, 1.2), rng.uniform(400, 1200)
    head = {
        "hammer": f'<geom type="box" pos="{length + x} 0 0" size="{x} {y} {z}" density="{3 * density}"/>',
        "mallet": f'<geom type="sphere" pos="{length + z} 0 0" size="{1.2 * z}" density="{density}"/>',
        "screwdriver": f'<geom type="capsule" fromto="{length} 0 0 {length + 3 * x} 0 0" size="0.004" density="{3 * density}"/>',
    }[kind]
    tallest = max(radius, {"hammer": z, "mallet": 1.2 * z, "screwdriver": 0.0}[kind])
    finger = """
      <body name="{name}" pos="0 {y} 0">
        <joint name="{name}" type="slide" axis="0 {side} 0" range="0 0.06" damping="2"/>
        <geom type="box" size="0.02 0.008 0.03" mass="0.1" friction="1.0 0.01 0.001" condim="4" contype="1" conaffinity="2"/>
      </body>"""
    return mujoco.MjModel.from_xml_string(f"""
      <mujoco model="{kind}">
        <option timestep="{TIMESTEP}" integrator="implicitfast" cone="elliptic"/>
        <default><geom friction="{friction} 0.005 0.0001" condim="4" contype="2" conaffinity="1"/></default>
        <worldbody>
          <geom type="plane" size="0 0 1" contype="1" conaffinity="2"/>
          <body name="hand" pos="0 0 0.032">
            <joint name="hand" type="slide" axis="0 0 1" range="0 1" damping="5"/>
            <geom type="box" pos="0 0 0.08" size="0.03 0.08 0.01" mass="0.4" contype="0" conaffinity="0"/>
            {finger.format(name="left", y=0.07, side=-1)}{finger.format(name="right", y=-0.07, side=1)}
          </body>
          <body name="tool" pos="0 0 {tallest}">
            <freejoint/>
            <geom type="capsule" fromto="{-length} 0 0 {length} 0 0" size="{radius}" density="{density}"/>
            {head}
          </body>
        </worldbody>
        <actuator>
          <position joint="hand" kp="600" kv="60"/>
          <motor joint="left" ctrlrange="-30 30"/>
          <motor joint="right" ctrlrange="-30 30"/>
        </actuator>
      </mujoco>""")


def main(tools: int = 600, seed: int = 0, dtype: str = "float32") -> tuple[fs.Fleet, npt.NDArray[np.bool_]]:
    """Return the fleet after the motion, and which tools were lifted (B,)."""
    rng, each = np.random.default_rng(seed), tools // len(KINDS)
    start = time.perf_counter()
    models = [fs.from_mujoco([tool(kind, rng) for _ in range(each)], kind) for kind in KINDS]
    fleet = fs.Fleet([(model, each) for model in models], DT, dtype=dtype)
    made = time.perf_counter()
    before = np.concatenate([q[:, 5] for q in fleet.q])  # hand, two fingers, then the tool's position
    for t in range(STEPS):
        force = 15.0 if t >= CLOSE else -1.0
        rise = RISE * min(max((t - LIFT) / 40, 0.0), 1.0)
        fleet.step(np.tile(np.array([rise, force, force], dtype), (fleet.instances, 1)))
    seconds = time.perf_counter() - made
    lifted = np.concatenate([q[:, 5] for q in fleet.q]) - before > 0.8 * RISE
    share = ", ".join(f"{np.mean(lifted[rows]):.0%} of the {kind}s" for kind, rows in zip(KINDS, fleet.rows))
    print(
        f"{fleet.instances} tools: models {made - start:.2f} s, kernels and {STEPS * DT:.1f} s of simulation {seconds:.2f} s; "
        f"lifted {share}"
    )
    return fleet, lifted


if __name__ == "__main__":
    main()
