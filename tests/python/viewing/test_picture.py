"""A picture looks as its model does, and its robots are where the simulations' are."""

import mujoco
import numpy as np
import pytest
from view_scenes import EVERYTHING, batch, model, need_drawing

from featherstorm.viewing import frames, render
from featherstorm.viewing.picture import Picture, grid
from featherstorm.viewing.scene import Several


@pytest.mark.parametrize("camera", [None, "aboard"])
def test_a_picture_of_one_robot_looks_as_its_model(monkeypatch, camera):
    need_drawing()
    one = batch(EVERYTHING, 1)
    one.qpos[:] = [0.3, 0.4]
    one.mocap_pos[:, 0, 2] = 0.9
    original = render(one, width=200, height=150, camera=camera).astype(int)
    monkeypatch.setattr(frames, "scene_of", lambda batch, *_: Several(batch, np.array([0]), None))
    picture = render(one, width=200, height=150, camera=camera).astype(int)
    assert original.std() > 20 and np.abs(original - picture).mean() < 0.05
    one.qpos[:] = [0.5, 0.4]
    assert np.abs(original - render(one, width=200, height=150, camera=camera)).mean() > 1


def test_robots_of_a_picture_are_those_of_the_simulations_side_by_side():
    m = model(EVERYTHING)
    several = batch(EVERYTHING, 5, dtype="float64")
    several.qpos[:] = np.random.default_rng(0).uniform(-1, 1, several.qpos.shape)
    several.mocap_pos[:] = np.random.default_rng(1).uniform(-1, 1, several.mocap_pos.shape)
    scene = Several(several, np.array([4, 0, 2]), 3.0)
    data = mujoco.MjData(scene.model)
    scene.read(data)
    for k, sim in enumerate((4, 0, 2)):
        own = several.get_data(sim)
        mujoco.mj_forward(m, own)
        for b in (m.body(name).id for name in ("cart", "arm", "tip", "target")):
            shown = data.body(f"{k}/{b}")
            np.testing.assert_allclose(shown.xpos, own.xpos[b] + grid(3, 3.0)[k], atol=1e-12)
            np.testing.assert_allclose(shown.xmat, own.xmat[b], atol=1e-12)
    # one floor, wide enough; the box and the hills beside each robot
    kinds = list(scene.model.geom_type)
    Kind = mujoco.mjtGeom
    assert [kinds.count(k) for k in (Kind.mjGEOM_PLANE, Kind.mjGEOM_HFIELD, Kind.mjGEOM_BOX)] == [1, 3, 6]
    assert scene.model.geom_size[kinds.index(Kind.mjGEOM_PLANE)][0] == pytest.approx(4 + 3.0 / 2)


def test_simulations_with_models_of_their_own_are_where_these_say():
    several = batch(EVERYTHING, 2, dtype="float64")
    several.expand("body_pos")[1, 1] = (0, 0, 2)
    scene = Several(several, np.arange(2), 0.0)
    data = mujoco.MjData(scene.model)
    scene.read(data)
    assert data.body("0/1").xpos[2] == 0.5 and data.body("1/1").xpos[2] == 2


@pytest.mark.parametrize("n", [1, 2, 5, 16, 17])
def test_a_grid_is_square_about_the_origin(n):
    places = grid(n, 2.0)
    assert places.shape == (n, 3) and len(np.unique(places, axis=0)) == n
    assert np.ptp(places, axis=0).max() == pytest.approx(2.0 * (np.ceil(np.sqrt(n)) - 1))
    assert np.abs(places).max() <= 2.0 * np.ceil(np.sqrt(n)) / 2


def test_robots_are_as_far_apart_as_they_need():
    m = model(EVERYTHING)
    spacing = Picture(m, 2).spacing
    assert 2.5 < spacing < 5  # from the box at -1 m to the end of the hills at 1.7 m
    assert Picture(m, 2, 7.0).spacing == 7
    with pytest.raises(ValueError, match="a picture of 0 robots, expected 1 or more"):
        Picture(m, 0)
