"""The programs of docs/schedulers.md, each as its page shows it, and clusters that others have started."""

import os
import pathlib
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import pytest

import featherstorm as fs

pytest.importorskip("gymnasium")
PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "schedulers.md"
PROGRAMS = dict(re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
QUIET = {
    "RAY_ADDRESS": "", "RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(16),
    "OMP_NUM_THREADS": "1",
}  # fmt: skip


def run(folder, command, **environment):
    """Run a program of the page or a command of Python in a folder; return what it printed."""
    for name, text in PROGRAMS.items():
        (folder / name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env={**os.environ, **QUIET, **environment}, capture_output=True,
        text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    return done.stdout


def test_ranks_of_slurm_compute_the_whole(tmp_path):
    task = fs.tasks.make("InvertedPendulum-v5")
    env = task.batch(4096, seed=1)
    env.reset()
    expected = env.collect(100, lambda obs, w, rng: rng.uniform(-1, 1, 1))
    for rank in range(3):
        run(tmp_path, ["collect.py"], SLURM_PROCID=str(rank), SLURM_NTASKS="3")
    parts = [np.load(tmp_path / f"steps-{rank}.npz") for rank in range(3)]
    for name in ("observations", "actions", "reward"):
        assert np.array_equal(np.concatenate([part[name] for part in parts], 1), getattr(expected, name)), name


def test_torchrun_trains_with_rsl_rl_on_two_processes(tmp_path):
    torch = pytest.importorskip("torch")
    pytest.importorskip("rsl_rl")
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    run(tmp_path, [*launch, "train_rsl_rl.py", "64", "2"])
    one, other = (torch.load(tmp_path / f"actor-{rank}.pt") for rank in range(2))
    assert all(torch.equal(one[name], other[name]) for name in one)  # one policy, one normalisation of observations
    run(tmp_path, ["train_rsl_rl.py", "64", "2"])  # one process, which has other noise of actions
    alone = torch.load(tmp_path / "actor-0.pt")
    count = next(name for name in one if name.endswith("count"))
    assert one[count] == alone[count]  # as many observations of as many environments
    assert not all(torch.equal(one[name], alone[name]) for name in one)


def test_an_env_runner_of_rllib_steps_all_environments_in_one_call():
    pytest.importorskip("torch")
    rllib = pytest.importorskip("ray.rllib.env.single_agent_env_runner")
    names = {"__name__": "train_rllib"}
    exec(PROGRAMS["train_rllib.py"], names)
    runner = rllib.SingleAgentEnvRunner(config=names["config"], worker_index=1)
    try:
        batch, counts = runner.env.unwrapped.batch, []
        step = batch.step
        vars(batch)["step"] = lambda actions: counts.append(len(actions)) or step(actions)
        episodes = runner.sample(num_timesteps=64 * 30, random_actions=True)
    finally:
        runner.stop()
    assert counts[0] == 64 and len(counts) <= 40
    alone = fs.tasks.make("InvertedPendulum-v5").batch(64, seed=2)  # seed 1 of runner 1
    first = alone.reset()[0]
    begun = {tuple(np.float32(e.get_observations(0))) for e in episodes if e.t_started == 0}
    assert begun >= {tuple(row) for row in np.asarray(first)}


def test_rllib_trains_on_two_runners(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("ray.rllib")
    returns = [float(x.split()[1]) for x in run(tmp_path, ["train_rllib.py"]).splitlines() if x.startswith("return")]
    assert len(returns) == 3 and all(x > 0 for x in returns)


# ---- clusters that `ray start` has begun ----


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Address of a cluster of one node with three CPUs, which runs as a command of its own."""
    pytest.importorskip("ray", reason="needs Ray: pip install 'featherstorm[distributed]'")
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tempfile.mkdtemp(prefix="ray")  # a short name, for sockets
    told = tmp_path_factory.mktemp("ray") / "told"
    options = ["--head", "--block", f"--port={port}", "--num-cpus=3", "--include-dashboard=false"]
    options += ["--object-store-memory=100000000", '--resources={"marked": 1}', f"--temp-dir={folder}"]
    with told.open("w") as out:
        node = subprocess.Popen(
            [sys.executable, "-m", "ray.scripts.scripts", "start", *options], stdout=out, stderr=subprocess.STDOUT,
            env={**os.environ, **QUIET},
        )  # fmt: skip
    try:
        end = time.monotonic() + 300
        while "runtime started" not in told.read_text():
            assert node.poll() is None and time.monotonic() < end, told.read_text()
            time.sleep(0.2)
        yield f"127.0.0.1:{port}"
    finally:
        node.send_signal(signal.SIGTERM)
        node.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


JOINED = """
import sys
import numpy as np, ray
import featherstorm as fs
from featherstorm.__main__ import main

task = fs.tasks.make("InvertedPendulum-v5")
alone = task.batch(8, seed=1)
with fs.distributed.Workers("auto") as workers:
    assert ray.cluster_resources()["marked"] == 1, ray.cluster_resources()
    env = workers.batch(task, 8, seed=1)
    assert np.array_equal(env.reset()[0], alone.reset()[0])
    assert [actor for actor in workers.actors] and workers.machines == [3.0]
assert not ray.is_initialized()
settings = [f"--set={x}" for x in ("envs=16", "horizon=8", "minibatch=64", "chunks=2", "evaluate=1")]
sys.exit(main(["train", "InvertedPendulum-v5", "--workers", "auto", "--steps", "256", "--out", "run", *settings]))
"""


def test_workers_join_the_cluster_of_an_address(tmp_path, address):
    """Workers take the address from RAY_ADDRESS or as an argument. The cluster still runs after they have ended."""
    (tmp_path / "joined.py").write_text(JOINED)
    out = run(tmp_path, ["joined.py"], RAY_ADDRESS=address)
    assert "workers 1  retries 0" in out and (tmp_path / "run" / "policy.npz").exists()
    given = f"import featherstorm as fs; print(fs.distributed.Workers(2, address={address!r}).machines)"
    assert run(tmp_path, ["-c", given]) == "[3.0]\n"


def test_a_cluster_that_refuses_is_told(tmp_path, address):
    text = "import featherstorm as fs\ntry:\n    fs.distributed.Workers(1)\nexcept ConnectionError as e:\n    print(e)"
    out = run(
        tmp_path, ["-c", text], RAY_ADDRESS=address, RAY_AUTH_MODE="disabled", RAY_gcs_server_port_wait_time_s="2"
    )
    assert "Workers: Failed to connect to Ray cluster at " in out and "are RAY_AUTH_MODE and the token those" in out


def test_a_sweep_of_tune_finds_the_best_training(tmp_path, address):
    pytest.importorskip("ray")
    pytest.importorskip("pandas", reason="needs Ray Tune: pip install 'featherstorm[tune]'")
    pytest.importorskip("pyarrow", reason="needs Ray Tune: pip install 'featherstorm[tune]'")
    out = run(tmp_path, ["sweep.py"], RAY_ADDRESS=address)
    config, _, rest = out.splitlines()[-1].partition("} ")
    best, path = float(rest.split()[0]), rest.split()[1]
    policy = fs.learning.Policy.load(os.path.join(path, "policy.npz"))
    assert policy.origin["evaluation"] == pytest.approx(best) and "'rate'" in config
