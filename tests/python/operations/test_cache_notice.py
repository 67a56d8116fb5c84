"""A cache folder of kernels that cannot be used is reported once in a process, for traced functions too."""

import os
import subprocess
import sys
import textwrap

COMPILE = """
    import sys
    import numpy as np
    import featherstorm as fs
    m = fs.load("cartpole", threads=1)
    for k in range(2):
        print("again" if k else "", file=sys.stderr)
        fs.Rollout(m, dt=0.02, cost=lambda x, u, t, p: (k + 1.5) * x[0])(np.ones(4), np.ones((8, 3, 2)))
"""


def test_an_unusable_cache_is_reported_once(tmp_path):
    tmp_path.chmod(0o777)
    variables = {**os.environ, "FEATHERSTORM_ASSEMBLE": "0", "FEATHERSTORM_CACHE": str(tmp_path)}
    command = [sys.executable, "-W", "always", "-c", textwrap.dedent(COMPILE)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    first, second = done.stderr.split("again")
    assert first.count("cannot be used (other users may write there") == 1
    assert "cannot be used" not in second
    assert list(tmp_path.iterdir()) == []
