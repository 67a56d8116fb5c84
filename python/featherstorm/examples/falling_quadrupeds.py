"""Many quadrupeds fall on the ground and stand up: python -m featherstorm.examples.falling_quadrupeds"""

import time

import numpy as np

import featherstorm as fs

LEGS = ("FL", "FR", "RL", "RR")


def main(
    instances: int = 4096, seconds: float = 1.0, dt: float = 4e-3, substeps: int = 4, threads: int = 0
) -> tuple[fs.Simulation, float]:
    """Returns the simulation and its rate in environment steps per second."""
    feet = [fs.Contact(f"{leg}_foot", radius=0.022, friction=0.6) for leg in LEGS]
    model = fs.load("go2", contacts=feet, threads=threads)
    sim = fs.Simulation(model, instances, dt, substeps, kp=60.0, kd=3.0)

    stance = np.tile([0.0, 0.8, -1.6], 4).astype(np.float32)  # hip, thigh, calf of each leg
    target = np.concatenate([np.zeros(6, np.float32), stance])
    random = np.random.default_rng(0)
    q = np.tile(model.q0.astype(np.float32), (instances, 1))
    q[:, 2] = random.uniform(0.35, 0.5, instances)
    q[:, 7:] = stance + random.uniform(-0.2, 0.2, (instances, 12))
    sim.q = q

    sim.step(q_target=target)  # makes the kernel
    steps, start = round(seconds / dt), time.perf_counter()
    for _ in range(steps):
        sim.step(q_target=target)
    rate = instances * steps / (time.perf_counter() - start)

    height, push = np.asarray(sim.q)[:, 2], np.asarray(sim.impulse)[:, :, 0].sum(axis=1) / (dt / substeps)
    print(
        f"{rate / 1e6:.3f} M environment steps/s of {substeps} substeps; trunks at {height.min():.3f} to "
        f"{height.max():.3f} m, feet carry {np.median(push):.1f} N of {9.81 * model.total_mass:.1f} N"
    )
    return sim, rate


if __name__ == "__main__":
    main()
