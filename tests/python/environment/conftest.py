"""The model of the task Slider."""

import pytest
import slider


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    return slider.model(tmp_path_factory.mktemp("slider"))
