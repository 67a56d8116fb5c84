"""A cluster of two machines on this one."""

import os

import pytest

os.environ.setdefault("RAY_raylet_start_wait_time_s", "300")  # on a busy machine; read when ray is imported

from featherstorm.learning.training import one_thread


@pytest.fixture(autouse=True)
def products_of_one_thread():
    with one_thread():
        yield


@pytest.fixture(scope="session")
def cluster():
    """A Ray cluster of two nodes with two CPUs each, to which this process is connected."""
    ray = pytest.importorskip("ray", reason="needs Ray: pip install 'featherstorm[distributed]'")
    from ray.cluster_utils import Cluster

    quiet = {"num_cpus": 2, "include_dashboard": False, "object_store_memory": 10**8}
    made = Cluster(initialize_head=True, head_node_args=quiet)
    made.add_node(num_cpus=2, object_store_memory=10**8)
    ray.init(address=made.address, log_to_driver=False, logging_level="error")
    yield made
    ray.shutdown()
    made.shutdown()
