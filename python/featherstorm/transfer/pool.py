"""Episodes in MuJoCo in several processes, each with its own environment."""

from __future__ import annotations

import multiprocessing
import os
import pickle
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from .conditions import Conditions, prepared
from .env import MujocoEnv
from .episodes import in_mujoco

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..environment.env import Env
    from .episodes import Episode, Policy

worker: Worker


class Worker:
    """Runs episodes of one policy; environments are made at first use."""

    def __init__(self, make: Callable[[], Env], policy: Policy, converged: bool) -> None:
        self.make, self.policy, self.converged = make, policy, converged
        self.envs: dict[tuple[bool, bool], MujocoEnv] = {}

    def env(self, conditions: Conditions) -> MujocoEnv:
        key = conditions.scaled, bool(conditions.commands)
        if key not in self.envs:
            self.envs[key] = MujocoEnv(prepared(self.make(), *key), converged=self.converged)
        return self.envs[key]

    def episode(self, conditions: Conditions, number: int) -> Episode:
        return in_mujoco(self.env(conditions), self.policy, conditions, number)


def begin(sent: bytes) -> None:
    global worker
    make, policy, load, converged = pickle.loads(sent)
    worker = Worker(make, policy if load is None else load(), converged)


def run(conditions: Conditions, number: int) -> Episode:
    return worker.episode(conditions, number)


class Pool(AbstractContextManager["Pool"]):
    """Runs episodes of a policy in MuJoCo, in `jobs` processes, or in this one if jobs is 1.

        with Pool(make, policy, jobs=2) as pool:
            episodes = pool.episodes([(conditions, k) for k in range(20)])

    make   function that makes the task; with several processes pickle must support it and the policy
    jobs   number of processes. None: the number of cores that this process may use
    load   function that returns the policy in another process. None: the policy itself is sent
    Errors: RuntimeError if a process dies.
    """

    def __init__(
        self,
        make: Callable[[], Env],
        policy: Policy,
        jobs: int | None = None,
        converged: bool = False,
        load: Callable[[], Policy] | None = None,
    ) -> None:
        self.jobs = len(os.sched_getaffinity(0)) if jobs is None else jobs
        self.here = Worker(make, policy, converged)
        self.executor: ProcessPoolExecutor | None = None
        if self.jobs > 1:
            try:
                sent = pickle.dumps((make, policy if load is None else None, load, converged))
            except (pickle.PicklingError, AttributeError, TypeError) as error:
                raise TypeError(
                    f"the task or the policy cannot be sent to other processes ({error}); "
                    "expected objects that a module defines by name, "
                    "`load`, or jobs=1"
                ) from error
            context = multiprocessing.get_context("spawn")  # a fork of a process with threads may deadlock
            self.executor = ProcessPoolExecutor(self.jobs, context, begin, (sent,))

    def episodes(self, wanted: Sequence[tuple[Conditions, int]], say: Callable[[int], object] = int) -> list[Episode]:
        """Run the episodes for pairs of conditions and environment number; return them in this order.

        say   say(1) is called after each finished episode
        """
        found: dict[int, Episode] = {}
        if self.executor is None:
            for k, (conditions, number) in enumerate(wanted):
                found[k] = self.here.episode(conditions, number)
                say(1)
            return [found[k] for k in range(len(wanted))]
        at: dict[Any, int] = {self.executor.submit(run, *job): k for k, job in enumerate(wanted)}
        try:
            for done in as_completed(at):
                found[at[done]] = done.result()
                say(1)
        except BrokenProcessPool as error:
            raise RuntimeError(
                "a process that ran episodes in MuJoCo has died; --jobs 1 runs them in this one"
            ) from error
        finally:
            for job in at:
                job.cancel()
        return [found[k] for k in range(len(wanted))]

    def close(self) -> None:
        if self.executor is not None:
            self.executor.shutdown(wait=True, cancel_futures=True)
            self.executor = None

    def __exit__(self, *_: object) -> None:
        self.close()
