"""A thousand designs of a jumping leg, scored in one call: python -m featherstorm.examples.leg_designs

A design has the lengths and the thickness of thigh and shank, and the gear of the knee's motor. Links are solid, so their
masses follow. The leg crouches on a vertical rail and stretches; its score is how high the hip rises above the stretched
leg.
"""

from __future__ import annotations

import time
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

import featherstorm as fs

NAMES = ("thigh [m]", "shank [m]", "thickness [m]", "gear")
LOWEST, HIGHEST = np.array([0.12, 0.12, 0.012, 1.0]), np.array([0.30, 0.30, 0.022, 3.0])
TIMESTEP, SUBSTEPS, STEPS, CROUCH = 0.001, 5, 160, 60  # the leg stretches after CROUCH of STEPS control steps
EFFORT, SPEED = 6.0, 40.0  # of a motor without its gear: largest torque [N m], and its speed without load [rad/s]


def leg(design: npt.NDArray[np.float64]) -> Any:
    """Return the mujoco.MjModel of a design."""
    thigh, shank, radius, gear = design.tolist()
    return mujoco.MjModel.from_xml_string(f"""
      <mujoco model="leg">
        <option timestep="{TIMESTEP}" integrator="implicitfast"/>
        <worldbody>
          <geom type="plane" size="0 0 1" friction="1"/>
          <body pos="0 0 {thigh + shank + 1.2 * radius}">
            <joint name="rail" type="slide" axis="0 0 1"/>
            <geom type="box" size="0.06 0.04 0.03" mass="1.5" contype="0" conaffinity="0"/>
            <body>
              <joint name="hip" axis="0 1 0" damping="0.05" armature="0.005"/>
              <geom type="capsule" fromto="0 0 0 0 0 {-thigh}" size="{radius}" density="1500" contype="0" conaffinity="0"/>
              <body pos="0 0 {-thigh}">
                <joint name="knee" axis="0 1 0" range="-150 -5" damping="0.05" armature="{0.0005 * gear * gear}"/>
                <geom type="capsule" fromto="0 0 0 0 0 {-shank}" size="{0.8 * radius}" density="1500" contype="0"
                  conaffinity="0"/>
                <geom type="sphere" pos="0 0 {-shank}" size="{1.2 * radius}" mass="0.03"/>
              </body>
            </body>
          </body>
        </worldbody>
        <actuator>
          <general joint="hip" gainprm="30" biastype="affine" biasprm="0 -30 -1" forcerange="-20 20"/>
          <general joint="knee" gear="{gear}" gainprm="{60 / gear}" biastype="affine"
            biasprm="0 {-60 / gear**2} {-EFFORT / SPEED}" forcerange="{-EFFORT} {EFFORT}"/>
        </actuator>
      </mujoco>""")


def targets() -> npt.NDArray[np.float64]:
    """Return the targets (1, STEPS, 2) of hip and knee [rad]: the foot stays below the hip of a leg with equal links."""
    stretched = np.arange(STEPS) >= CROUCH
    return np.where(stretched[:, None], [0.06, -0.12], [1.0, -2.0])[None]


def observe(x: Any, u: Any, t: Any, p: Any) -> Any:
    return [x.q[0]]


def heights(model: fs.Model, instances: int, dtype: str) -> npt.NDArray[Any]:
    """Return how high the hip rises (B,) [m] above its height with a stretched leg."""
    roll = fs.Rollout(model, observe=observe, substeps=SUBSTEPS)
    found = roll(np.zeros((instances, model.nq + model.nv), dtype), targets().astype(dtype)).observations
    return np.asarray(found)[:, CROUCH:, 0].max(1)


def main(designs: int = 1000, seed: int = 0, checked: int = 5) -> tuple[npt.NDArray[Any], float, float]:
    """Return the best design, its height [m], and the largest difference to `checked` designs loaded alone [m]."""
    found = np.random.default_rng(seed).uniform(LOWEST, HIGHEST, (designs, len(NAMES)))
    start = time.perf_counter()
    compiled = [leg(design) for design in found]
    model = fs.from_mujoco(compiled, "leg")
    made = time.perf_counter()
    score = heights(model, designs, "float64")
    scored = time.perf_counter()
    rows = np.linspace(0, designs - 1, checked).astype(int)
    error = max(abs(float(heights(fs.from_mujoco(compiled[k]), 1, "float64")[0] - score[k])) for k in rows)
    best = int(score.argmax())
    text = ", ".join(f"{name} {x:.3f}" for name, x in zip(NAMES, found[best]))
    print(
        f"{designs} designs: models {made - start:.2f} s, kernels and {STEPS * SUBSTEPS} steps {scored - made:.2f} s; jumps "
        f"{score.min():.2f} to {score.max():.2f} m, median {np.median(score):.2f}; best: {text}; difference to models "
        f"loaded alone {error:.1e} m"
    )
    return found[best], float(score[best]), error


if __name__ == "__main__":
    main()
