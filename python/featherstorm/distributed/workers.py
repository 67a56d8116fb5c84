"""Workers of a Ray cluster: each has a share of the environments, and is replaced if it is lost.

The driver keeps a journal: the calls that made the present state of the workers, from the last snapshot on. A worker that
is lost is replaced by another one, for which the journal is called again. If there is no place for another one, the
others share its environments, and the journal is called again for all of them. As results depend neither on the number of
workers nor on the process, they are those of a run without a loss.
"""

from __future__ import annotations

import os
import statistics
import time
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from .._optional import ray
from ..learning.ppo import Chunks
from ..model import tell
from .batch import DistributedPPO, ShardedBatch
from .share import Call, ShardedSamples, Share, size_of, software

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..environment.task import Task
    from ..learning.settings import Settings
    from ..planning import Planner

ATTEMPTS = 5  # replacements of one worker in a call
STARTS = 3  # attempts to start a cluster
INLINE = 100_000  # bytes of arguments that go with the call itself, which saves 1 to 2 ms; more are sent apart, once


class Fewer(Exception):
    """A worker was lost without a replacement."""


class Workers(AbstractContextManager["Workers"]):
    """Workers of a Ray cluster.

    count      number of workers; "auto": one for each machine of the cluster
    address    of the cluster; "auto": the one of `ray start` on this machine. None: RAY_ADDRESS, and without it a cluster
               is started on this machine
    patience   seconds until a worker that was asked for is given up
    limit      seconds of a call until a worker that does not answer counts as lost

    The CPUs of a machine are shared out to its workers; each uses as many threads.

    actors     the present workers
    retries    how often a worker was lost, and its share computed again
    sent, received   bytes of arguments, and of arrays of results, of all calls so far, which go through the driver
    Errors: ImportError without the package ray; ValueError for another count; ConnectionError where there is no cluster or no
    worker starts.
    """

    def __init__(
        self, count: int | str = "auto", *, address: str | None = None, patience: float = 60.0, limit: float = 600.0
    ) -> None:
        if not (count == "auto" or (isinstance(count, int) and count >= 1)):
            raise ValueError(f"Workers: count is {count!r}, expected auto, or a number of 1 or more")
        self.count, self.patience, self.limit = count, patience, limit
        os.environ.setdefault("RAY_raylet_start_wait_time_s", "300")  # on a busy machine; read when ray is imported
        self.began = not ray.is_initialized()
        if self.began:
            begin_ray(address)
        self.actors: list[Any] = []
        self.chunks: list[Chunks] = []  # of each worker
        self.bounds: tuple[int, ...] = ()
        self.journal: list[Call] = []
        self.done = 0  # calls of the journal that the workers have had
        self.held: object = None  # token of the state that the workers have
        self.retries = self.sent = self.received = 0
        self.busy: list[float] = []  # seconds of each worker in calls
        self.told = False

    def __repr__(self) -> str:
        return f"<featherstorm.distributed.Workers: {len(self.actors)} workers, {self.retries} retries>"

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the workers, and the connection to Ray if it was made here."""
        if ray.is_initialized():
            for actor in self.actors:
                ray.kill(actor)
            if self.began:
                ray.shutdown()
        self.actors, self.held = [], None

    # -- what users make

    def batch(
        self, task: Task, num_envs: int, seed: int = 0, dtype: str = "float32", bounds: Sequence[int] | None = None
    ) -> ShardedBatch:
        """Make environments of a task on the workers; see ShardedBatch."""
        return ShardedBatch(self, task, num_envs, seed, dtype, bounds)

    def learner(self, env: ShardedBatch, settings: Settings, seed: int, threads: int | None) -> DistributedPPO:
        """Make a learner on the environments. Errors: ValueError for another algorithm than PPO."""
        return DistributedPPO(env, settings, seed, threads)

    def samples(self, planner: Planner) -> ShardedSamples:
        """Make the samples of a planner on the workers; planners call it."""
        return ShardedSamples(self, planner)

    # -- processes

    @property
    def machines(self) -> list[float]:
        """CPUs of each machine of the cluster."""
        cpus = (node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"])
        return [n for n in cpus if n > 0]

    def wanted(self, most: int) -> int:
        """Return the number of workers for `most` chunks."""
        if self.count == "auto":
            return max(1, min(len(self.machines), most))
        if not (int(self.count) <= most):
            raise ValueError(
                f"Workers: count is {self.count}, expected at most {most}, the chunks of the run; the setting `chunks` changes them"
            )
        return int(self.count)

    def cpus(self, count: int) -> float:
        """Return the CPUs of each of `count` workers."""
        machines = self.machines
        each = min(machines) / -(-count // len(machines))
        return float(int(each)) if each >= 1 else each

    def start(self, count: int, cpus: float) -> list[Any]:
        """Start workers, and return those that answer within `patience`."""
        remote = ray.remote(num_cpus=cpus, scheduling_strategy="SPREAD")(Share)
        actors = [remote.remote(max(1, int(cpus))) for _ in range(count)]
        answers = {actor.ready.remote(): actor for actor in actors}
        ray.wait(list(answers), num_returns=count, timeout=self.patience)
        found = []
        for answer, actor in answers.items():
            try:
                self.compare(ray.get(answer, timeout=0))
                found.append(actor)
            except ray.exceptions.RayError:
                ray.kill(actor)
        return found

    def compare(self, other: tuple[str, ...]) -> None:
        """Tell once if a worker has other software than the driver."""
        here = software()
        if other != here and not self.told:
            self.told = True
            tell(
                f"distributed: a worker has {', '.join(other)}, and this process has {', '.join(here)}: the bits of a run may "
                "depend on the workers. With OPENBLAS_CORETYPE all processors use the same kernels"
            )

    def adjust(self, most: int) -> bool:
        """Start workers that are missing, where there is place. Return True if there are others than before."""
        missing = self.wanted(most) - len(self.actors)
        if missing < 0:
            for actor in self.actors[missing:]:
                ray.kill(actor)
            self.actors = self.actors[:missing]
        if missing <= 0:
            return missing < 0
        cpus = self.cpus(self.wanted(most))
        if self.actors:
            missing = min(missing, int(ray.available_resources().get("CPU", 0) / cpus))
        new = self.start(missing, cpus) if missing else []
        self.actors += new
        if not self.actors:
            raise ConnectionError(
                f"Workers: no worker started within {self.patience:g} s; the cluster has "
                f"{ray.available_resources().get('CPU', 0):g} free CPUs, a worker needs {cpus:g}"
            )
        return bool(new)

    # -- calls

    def begin(self, bounds: tuple[int, ...], journal: list[Call], state: object) -> None:
        """Bring the workers to a state.

        bounds    first environment of each chunk, and their number
        journal   calls that make the state
        state     token of the state: the workers are not called if they have it
        """
        if self.adjust(len(bounds) - 1) or bounds != self.bounds:
            self.share_out(bounds)
        self.journal, self.done = journal, len(journal) if self.held is state else 0
        self.settle()
        self.held = state

    def share_out(self, bounds: tuple[int, ...]) -> None:
        """Give each worker an equal number of successive chunks."""
        C, W = len(bounds) - 1, len(self.actors)
        self.bounds, self.held, self.done = bounds, None, 0
        self.chunks = [Chunks(bounds, k * C // W, (k + 1) * C // W) for k in range(W)]
        self.busy = [0.0] * W

    def settle(self) -> None:
        """Call what is missing of the journal."""
        while self.done < len(self.journal):
            try:
                self.gather(self.journal[self.done])
                self.done += 1
            except Fewer:
                continue

    def to_all(self, name: str, *shared: Any, own: Callable[[Chunks], tuple[Any, ...]] | None = None) -> Call:
        """Return a call with a copy of the arguments that all workers get."""
        text = ray.cloudpickle.dumps(shared)
        return Call(name, text if len(text) < INLINE else ray.put(shared), own, len(text))

    def call(self, call: Call, keep: bool = False) -> list[Any]:
        """Call all workers, and return their results in the order of the environments.

        keep   the call changes the state of the workers
        """
        while True:
            self.settle()
            try:
                results = self.gather(call)
                break
            except Fewer:
                continue
        if keep:
            self.journal.append(call)
            self.done += 1
        return results

    def submit(self, k: int, call: Call) -> Any:
        own = () if call.own is None else call.own(self.chunks[k])
        self.sent += call.size + size_of(own)
        return self.actors[k].run.remote(call.name, call.shared, *own)

    def gather(self, call: Call) -> list[Any]:
        """Return the results of a call. Errors: Fewer if the environments are shared out anew; those of the call."""
        begin, results = time.perf_counter(), [None] * len(self.actors)
        pending = {self.submit(k, call): k for k in range(len(self.actors))}
        attempts = [0] * len(self.actors)
        while pending:
            ready, late = ray.wait(list(pending), timeout=self.limit)
            for answer in ready or late:
                k = pending.pop(answer)
                try:
                    results[k] = ray.get(answer, timeout=None if ready else 0)
                    self.busy[k] += time.perf_counter() - begin
                except ray.exceptions.RayTaskError as error:
                    self.held = None
                    raise getattr(error, "cause", error) from error
                except ray.exceptions.RayError as error:
                    attempts[k] += 1
                    if attempts[k] > ATTEMPTS:
                        raise ConnectionError(f"Workers: {call.name} has lost worker {k} {ATTEMPTS} times") from error
                    self.replace(k)
                    pending[self.submit(k, call)] = k
        self.received += size_of(results)
        return results

    def replace(self, k: int) -> None:
        """Replace a worker by another one in the same state. Errors: Fewer if there is no place for it."""
        self.retries += 1
        ray.kill(self.actors[k])
        new = self.start(1, self.cpus(len(self.actors)))
        if not new:
            del self.actors[k]
            if not self.actors:
                raise ConnectionError(f"Workers: the last worker is lost, and no other started in {self.patience:g} s")
            held = self.held
            self.share_out(self.bounds)
            self.held = held
            raise Fewer
        self.actors[k] = new[0]
        try:
            for call in self.journal[: self.done]:
                ray.get(self.submit(k, call))
        except ray.exceptions.RayTaskError as error:
            raise getattr(error, "cause", error) from error
        except ray.exceptions.RayError:
            return  # lost again, which the next call finds

    def slowest(self) -> float:
        """Return the time of the slowest worker in calls over that of the median, since the last question."""
        middle = statistics.median_low(self.busy or [0.0])
        found = max(self.busy) / middle if middle else 1.0
        self.busy = [0.0] * len(self.busy)
        return found


def begin_ray(address: str | None) -> None:
    """Join the cluster at an address or of RAY_ADDRESS; without one, start a cluster on this machine."""
    quiet = {"log_to_driver": False, "logging_level": "error"}
    if address := address or os.environ.get("RAY_ADDRESS"):
        try:
            ray.init(address=address, **quiet)
        except ConnectionError as error:
            remedy = "is it running, and are RAY_AUTH_MODE and the token those of the cluster?"
            raise ConnectionError(f"Workers: {error}; {remedy}") from error
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_gcs_server_port_wait_time_s", "300")  # on a busy machine
    for left in reversed(range(STARTS)):
        try:
            ray.init(address="local", num_cpus=os.cpu_count(), include_dashboard=False, **quiet)
            return
        except Exception as error:  # Ray has no class for a node that does not answer in its fixed 30 s
            ray.shutdown()
            if not left:
                raise ConnectionError(
                    f"Workers: no Ray cluster started on this machine in {STARTS} attempts"
                ) from error
            tell(f"distributed: Ray did not start ({error}); another attempt follows")
