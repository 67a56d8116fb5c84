"""Calls in processes of their own, so that none hides another, which share their imports: a server that has imported a module is
forked for each call of one of its functions. numpy, featherstorm and MuJoCo take 0.4 s to import, Pinocchio 0.35 s, and there are
hundreds of model files.

python apart.py MODULE    reads lines of JSON, [function, arguments, file for stdout, file for stderr]; answers with exit statuses
"""

import functools
import importlib
import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile
import traceback


@functools.cache
def server(module, folder):
    path = [str(folder), str(pathlib.Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, __file__, module],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a call that hangs is ended together with its server
    )


def call(module, folder, function, *arguments, timeout=300):
    """module.function(*arguments) of a module in a folder, in a process of its own. Arguments are what JSON has. Returns a
    subprocess.CompletedProcess, whose last line of stdout is what the function returned, as JSON; raises
    subprocess.TimeoutExpired after `timeout` seconds."""
    by = server(module, folder)
    with tempfile.NamedTemporaryFile("r") as out, tempfile.NamedTemporaryFile("r") as errors:
        print(json.dumps([function, arguments, out.name, errors.name]), file=by.stdin, flush=True)
        if not select.select([by.stdout], [], [], timeout)[0]:
            os.killpg(by.pid, 9)
            server.cache_clear()
            raise subprocess.TimeoutExpired([module, function, *arguments], timeout)
        answer = by.stdout.readline()
        assert answer, f"the server of {module} has ended: exit status {by.wait()}"
        return subprocess.CompletedProcess([module, function, *arguments], int(answer), out.read(), errors.read())


def run(module, function, arguments, out, errors):
    """The call, in the process that was forked for it, which ends here."""
    status = 1
    try:
        for number, path, flags in ((0, os.devnull, os.O_RDONLY), (1, out, os.O_WRONLY), (2, errors, os.O_WRONLY)):
            os.dup2(os.open(path, flags), number)
        print(json.dumps(getattr(module, function)(*arguments)))
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def serve(name):
    module = importlib.import_module(name)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            run(module, *json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    serve(sys.argv[1])
