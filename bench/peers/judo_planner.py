"""judo's models and its own controller, in judo's environment, for `bench/judo.py`.

judo_planner.py models MESHES FOLDER    write the models into a folder, without the meshes that only show
judo_planner.py plan THREADS            plans: a line of JSON in, a line of JSON out
"""

import json
import pathlib
import sys
import time

import numpy as np
from judo.app.structs import MujocoState
from judo.controller.controller import Controller, ControllerConfig
from judo.optimizers import get_registered_optimizers
from judo.tasks import base, get_registered_tasks
from mujoco import MjData, MjSpec
from mujoco.rollout import Rollout

from judo import MODEL_PATH


def write_models(meshes, folder):
    for name in ("cylinder_push.xml", "leap_cube.xml", "leap_cube_sim.xml"):
        spec = MjSpec.from_file(str(pathlib.Path(MODEL_PATH) / "xml" / name))
        for geom in list(spec.geoms):
            if geom.classname.name == "visual":
                spec.delete(geom)
        for mesh in list(spec.meshes):
            mesh.file = str(pathlib.Path(meshes).resolve() / pathlib.Path(mesh.file).name)
            if mesh.name not in ("tip", "thumb_tip"):
                spec.delete(mesh)
        spec.compile()
        (pathlib.Path(folder) / name).write_text(spec.to_xml())


class Pool:
    """judo's rollouts on so many threads; judo itself starts a thread for every sample."""

    def __init__(self, model, threads):
        self.pool = Rollout(nthread=threads if threads > 1 else 0)
        self.data = [MjData(model) for _ in range(threads)]

    def rollout(self, models, data, states, controls):
        return self.pool.rollout(models, self.data, states, controls)

    def close(self):
        self.pool.close()


def controller_of(name, method, file, seed, threads):
    """Make a controller with judo's own settings for the task, as judo.controller.make_controller does."""
    np.random.seed(seed)  # noqa: NPY002, from which judo draws
    task = get_registered_tasks()[name][0](model_path=file, sim_model_path=None)
    make, config = get_registered_optimizers()[method]
    numbers, loop = config(), ControllerConfig()
    numbers.set_override(name)
    loop.set_override(name)
    controller = Controller(loop, task, make(numbers, task.nu))
    controller.rollout_backend._rollout_obj.close()
    controller.rollout_backend._rollout_obj = Pool(task.model, threads)
    return controller


def plan(controller, asked):
    """Plan for a state, and return controls at the times asked for, with the time that the plan took [s]."""
    q, v = np.array(asked["q"]), np.array(asked["v"])
    none = np.zeros(0)
    controller.update_states(
        MujocoState(asked["t"], q, v, none, none, none, none, {"goal_quat": np.array(asked["goal"])})
    )
    wall, core = time.perf_counter(), time.process_time()
    controller.update_action()
    took = {"wall": time.perf_counter() - wall, "core": time.process_time() - core}
    return {"u": controller.action(np.array(asked["times"])).tolist(), **took}


def serve(threads):
    base.download_and_extract_meshes = lambda **_: None  # the files given have no meshes of judo's download
    replies, sys.stdout = sys.stdout, sys.stderr
    controller = None
    for line in sys.stdin:
        asked = json.loads(line)
        if "method" in asked:
            controller = controller_of(asked["task"], asked["method"], asked["file"], asked["seed"], threads)
            reply = {"samples": controller.optimizer_cfg.num_rollouts, "rate": controller.controller_cfg.control_freq}
        else:
            reply = plan(controller, asked)
        print(json.dumps(reply), file=replies, flush=True)


if sys.argv[1] == "models":
    write_models(*sys.argv[2:])
else:
    serve(int(sys.argv[2]))
