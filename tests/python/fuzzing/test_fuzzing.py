"""The first inputs of each target, as campaign.py runs them by the million."""

import campaign
import pytest
import targets

INPUTS = {
    "checkpoints": 12,
    "mjcf_tables": 40,
    "mjcf_text": 60,
    "policies": 60,
    "traced": 150,
    "arrays": 250,
    "robot_bytes": 1500,
}


@pytest.mark.parametrize("target", targets.TARGETS)
def test_random_inputs_have_right_results_or_errors(target):
    done, accepted, findings, _, _ = campaign.campaign(target, inputs=INPUTS[target], seconds=300)
    assert not findings, "\n".join(findings)
    assert done == INPUTS[target] and 0 < accepted < done


def test_crashes_and_hangs_are_found(monkeypatch):
    def target():
        def run(rng):
            if rng.random() < 0.2:
                campaign.os.kill(campaign.os.getpid(), 11)
            assert rng.random() < 0.5
            if rng.random() < 0.1:
                campaign.time.sleep(60)
            return True

        return run

    monkeypatch.setitem(targets.TARGETS, "bad", target)
    done, _, findings, _, _ = campaign.campaign("bad", inputs=20, limit=1)
    assert done == 20
    assert any("exit status -11" in f for f in findings) and any("AssertionError" in f for f in findings)
