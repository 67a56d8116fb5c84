"""Products of matrices on one thread, as learners have them."""

import pytest

from featherstorm.learning.training import one_thread


@pytest.fixture(autouse=True)
def products_of_one_thread():
    with one_thread():
        yield
