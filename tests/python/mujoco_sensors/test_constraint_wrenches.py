"""The operation constraint_wrenches: forces of constraints on bodies beside the rows of MuJoCo's Jacobian."""

import mujoco
import numpy as np
import pytest

import featherstorm as fs

FILE = """
<mujoco>
  <worldbody>
    <body name="a" pos="0 0 1"><freejoint/><geom size=".1" mass="1"/><site name="s" pos=".1 0 .05" euler="10 20 30"/>
      <body name="b" pos=".3 0 0"><joint axis="0 1 0"/><geom type="capsule" size=".05" fromto="0 0 0 .3 .1 0" mass=".5"/></body>
    </body>
    <body name="c" pos=".4 .3 1"><joint type="ball"/><geom type="box" size=".1 .2 .1" mass="2"/><site name="t" pos="0 .2 0"/></body>
  </worldbody>
  <equality>
    <connect body1="b" body2="c" anchor=".2 .1 0"/>
    <weld body1="c" body2="a" torquescale=".7"/>
    <weld site1="s" site2="t" torquescale="1.5"/>
    <connect body1="c" anchor="0 0 .1"/>
  </equality>
</mujoco>
"""


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-9), ("float32", 1e-4)])
def test_wrenches_do_the_work_of_the_rows(dtype, tolerance):
    m = mujoco.MjModel.from_xml_string(FILE)
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    model, d, rng = fs.from_mujoco(m), mujoco.MjData(m), np.random.default_rng(3)
    for _ in range(5):
        d.qpos[:] = m.qpos0 + 0.2 * rng.normal(size=m.nq)
        mujoco.mj_normalizeQuat(m, d.qpos)
        mujoco.mj_forward(m, d)
        force, links = rng.normal(size=d.ne), np.zeros((m.nbody, 9))
        links[1:] = rng.normal(size=(m.nbody - 1, 9))
        expected = d.efc_J.reshape(-1, m.nv)[: d.ne].T @ force
        for b in range(1, m.nbody):
            jacp, jacr = np.zeros((3, m.nv)), np.zeros((3, m.nv))
            mujoco.mj_jac(m, d, jacp, jacr, links[b, 6:], b)
            expected += jacp.T @ links[b, :3] + jacr.T @ links[b, 3:6]
        arrays = (np.asarray(x, dtype)[None] for x in (d.qpos, force, links))
        wrenches = np.asarray(fs.run(model, "constraint_wrenches", *arrays))[0]
        found = np.zeros(m.nv)
        for b in range(1, m.nbody):
            jacp, jacr = np.zeros((3, m.nv)), np.zeros((3, m.nv))
            mujoco.mj_jacBodyCom(m, d, jacp, jacr, b)
            found += jacp.T @ wrenches[b, :3] + jacr.T @ wrenches[b, 3:]
        assert not wrenches[0].any()
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())
