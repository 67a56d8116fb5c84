"""The examples of fleets in small sizes."""

import numpy as np
from velocity_oracle import NEEDS_MJLAB

from featherstorm.examples import leg_designs, mixed_quadrupeds, tools_to_grasp


def test_leg_designs_jump_as_models_loaded_alone():
    best, height, error = leg_designs.main(200, checked=3)
    assert error < 1e-12 and 0.5 < height < 1.5
    assert best[0] + best[1] > 0.4, "long legs accelerate for longer"


def test_most_tools_are_lifted():
    fleet, lifted = tools_to_grasp.main(90)
    assert fleet.instances == 90 and not fleet.status.any()
    assert lifted.mean() > 0.7 and not lifted.all()


@NEEDS_MJLAB
def test_a_go1_and_a_go2_train_under_one_policy():
    first, last = mixed_quadrupeds.main(64, 3, minibatch=512)
    assert first.shape == last.shape == (2,) and np.isfinite([first, last]).all() and (first >= 0).all()


@NEEDS_MJLAB
def test_both_quadrupeds_have_the_joints_in_one_order():
    names = []
    for task in (mixed_quadrupeds.Go1JoystickFlat(), mixed_quadrupeds.Go2AsGo1()):
        model = task.model()
        order = mixed_quadrupeds.ORDER if isinstance(task, mixed_quadrupeds.Go2AsGo1) else np.arange(12)
        names.append([model.joint_names[1:][k] for k in order])
    assert names[0] == names[1]
