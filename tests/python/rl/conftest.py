"""The file of the task Rail."""

import pytest
from rail import rail_file


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return rail_file(tmp_path_factory.mktemp("rail"))
