"""Time of plans by gradients: an arm reaches a point, by `ILQR` and by Crocoddyl.

    python bench/ilqr.py [--crocoddyl PYTHON]

--crocoddyl: an interpreter that has crocoddyl and a pinocchio that its wheel was built with (of PyPI: crocoddyl==3.1.0
libpinocchio==3.8.0 pin==3.8.0 cmeel-urdfdom<6 cmeel-tinyxml2<11). Both minimise the same sum, and the plan of ours is
rolled out and priced by theirs first. One thread each; times are medians of seven calls.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

T, DT, CALLS, TOLERANCE = 100, 0.01, 7, 1e-9
Q0, GOAL, FRAME = np.array([0.2, 0.4, -0.3, -1.2, 0.1, 0.8, 0.0]), np.array([0.45, -0.35, 0.5]), "lbr_iiwa_link_7"
POSTURE, SPEED, CONTROL, REACH, STOP = (
    1e-2,
    1e-1,
    1e-4,
    1e3,
    10.0,
)  # weights of halves of squares; the first three a second
EFFORT = 100.0


def timed(call):
    took = []
    for _ in range(CALLS):
        begin = time.perf_counter()
        result = call()
        took.append(time.perf_counter() - begin)
    return 1e3 * float(np.median(took)), result


def without_damping(folder):
    """Write the arm's URDF without joint damping, which Pinocchio does not simulate."""
    source = (pathlib.Path(__file__).parents[1] / "host" / "robots" / "iiwa14.urdf").read_text()
    file = pathlib.Path(folder) / "arm.urdf"
    file.write_text(source.replace('<dynamics damping="0.5"/>', ""))
    return file


def ours(file):
    import featherstorm as fs
    from featherstorm.planning import ILQR

    model = fs.load(str(file), threads=1)

    def step(x, u, t, p):
        parts = (POSTURE, x.q - Q0), (SPEED, x.v), (CONTROL, u)
        return np.concatenate([np.sqrt(weight * DT) * value for weight, value in parts])

    def last(x, t, p):
        return np.concatenate([np.sqrt(REACH) * (x.position(FRAME) - GOAL), np.sqrt(STOP) * x.v])

    roll = fs.Rollout(model, DT, residual=step, terminal_residual=last, limit_stiffness=0.0)
    hold = np.tile(fs.rnea(model, Q0, np.zeros(7), np.zeros(7)), (T, 1))
    plans = {}
    for name, bounds in (("free", {}), ("bounded", {"lower": -EFFORT, "upper": EFFORT})):
        planner = ILQR(roll, T, 7, iterations=200, tolerance=TOLERANCE, **bounds)

        def call(planner=planner):
            planner.reset(hold)
            planner.plan(np.concatenate([Q0, np.zeros(7)]))

        call()
        took, _ = timed(call)
        plans[name] = {"ms": took, "iterations": planner.done[0], "cost": planner.cost, "U": planner.U.tolist()}
    return plans


def theirs(file, plans):
    import crocoddyl
    import pinocchio

    robot = pinocchio.buildModelFromUrdf(str(file))
    state = crocoddyl.StateMultibody(robot)
    x0 = np.concatenate([Q0, np.zeros(7)])
    weights = np.repeat([POSTURE, SPEED], 7)

    def squares(residual, weight=None):
        if weight is None:
            return crocoddyl.CostModelResidual(state, residual)
        return crocoddyl.CostModelResidual(state, crocoddyl.ActivationModelWeightedQuad(weight), residual)

    def model(last):
        costs = crocoddyl.CostModelSum(state)
        costs.addCost("state", squares(crocoddyl.ResidualModelState(state, x0), weights), DT if last else 1.0)
        if last:
            frame = robot.getFrameId(FRAME)
            costs.addCost("reach", squares(crocoddyl.ResidualModelFrameTranslation(state, frame, GOAL)), REACH)
            still = squares(crocoddyl.ResidualModelState(state, x0), np.repeat([0.0, 1.0], 7))
            costs.addCost("stop", still, STOP)
        else:
            costs.addCost("control", squares(crocoddyl.ResidualModelControl(state)), CONTROL)
        actuation = crocoddyl.ActuationModelFull(state)
        dynamics = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)
        return crocoddyl.IntegratedActionModelEuler(dynamics, 0.0 if last else DT)

    step, last = model(False), model(True)
    step.u_lb, step.u_ub = np.full(7, -EFFORT), np.full(7, EFFORT)
    problem = crocoddyl.ShootingProblem(x0, [step] * T, last)
    hold = pinocchio.rnea(robot, robot.createData(), Q0, np.zeros(7), np.zeros(7))
    found = {}
    for name, plan in plans.items():
        U = [np.array(u) for u in plan["U"]]
        found[f"ours ({name}) priced by theirs"] = {"cost": problem.calc(problem.rollout(U), U)}
    for solver in ("SolverDDP", "SolverFDDP", "SolverBoxDDP", "SolverBoxFDDP"):

        def call(solver=solver):
            solve = getattr(crocoddyl, solver)(problem)
            solve.th_stop = TOLERANCE
            solve.solve([x0] * (T + 1), [hold] * T, 200, False)
            return solve

        took, solve = timed(call)
        found[solver] = {"ms": took, "iterations": solve.iter, "cost": solve.cost}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--crocoddyl", help="an interpreter that has crocoddyl")
    parser.add_argument("--theirs", nargs=2, help=argparse.SUPPRESS)  # the arm's file, and ours
    options = parser.parse_args()
    if options.theirs:
        print(json.dumps(theirs(options.theirs[0], json.loads(pathlib.Path(options.theirs[1]).read_text()))))
        return
    with tempfile.TemporaryDirectory() as folder:
        file = without_damping(folder)
        plans = ours(file)
        rows = {f"ILQR, {name}": plan for name, plan in plans.items()}
        if options.crocoddyl:
            given = pathlib.Path(folder) / "ours.json"
            given.write_text(json.dumps(plans))
            command = [options.crocoddyl, __file__, "--theirs", str(file), str(given)]
            rows.update(
                json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
            )
    print("| | cost | iterations | a plan [ms] | an iteration [ms] |\n|---|---|---|---|---|")
    for name, row in rows.items():
        if "ms" in row:
            print(
                f"| {name} | {row['cost']:.8f} | {row['iterations']} | {row['ms']:.1f} | {row['ms'] / row['iterations']:.2f} |"
            )
        else:
            print(f"| {name} | {row['cost']:.8f} | | | |")


if __name__ == "__main__":
    sys.exit(main())
