"""A cluster of two machines on this one, and workers that end."""

import os
import signal

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

    options = {"num_cpus": 2, "object_store_memory": 10**8, "wait": False}
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("RAY_gcs_server_port_wait_time_s", "300")
        for left in (2, 1, 0):  # Ray waits 30 s for a node, which a busy machine may exceed
            made = Cluster()
            try:
                made.add_node(include_dashboard=False, **options)
                made.add_node(**options)
                made.wait_for_nodes(timeout=300)
                break
            except Exception:
                made.shutdown()
                if not left:
                    raise
    ray.init(address=made.address, log_to_driver=False, logging_level="error")
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def ending(monkeypatch):
    """End the process of worker k as a machine does that fails, at a call of this name; return the list of ends.

    when(), after: a condition, and the number of such calls before.
    """
    import ray

    def end_at(workers, call, k, when=lambda: True, after=0):
        submit, ended, passed = workers.submit, [], []

        def submitted(at, given):
            if given.name == call and at == k and when() and not ended:
                passed.append(at)
                if len(passed) > after:
                    ended.append(at)
                    pid = ray.get(workers.actors[k].__ray_call__.remote(lambda share: os.getpid()))
                    os.kill(pid, signal.SIGKILL)
            return submit(at, given)

        monkeypatch.setattr(workers, "submit", submitted)
        return ended

    return end_at
