"""vjp and jvp of the operations, parameters, and both behind PyTorch and JAX."""

import os

import numpy as np
import pytest

import featherstorm as fs

B = 5


@pytest.fixture(scope="module", params=["panda", "go2"])
def model(request):
    return fs.load(request.param)


def state(model, dtype="float64"):
    q, v = fs.random_state(model, B, seed=3)
    tau = np.random.default_rng(1).normal(size=(B, model.nv))
    return q.astype(dtype), v.astype(dtype), tau.astype(dtype)


def test_jvp_is_the_transpose_of_vjp(model):
    q, v, tau = state(model)
    rng = np.random.default_rng(4)
    for op, arrays in (("rnea", (q, v, tau)), ("fd", (q, v, tau)), ("crba", (q,)), ("energy", (q, v))):
        row = model.row(op)
        tangents = [rng.normal(size=(B, n)) for _, n in row.inputs]
        bars = [rng.normal(size=(B, n)) for _, n in row.outputs]
        forward = fs.jvp(model, op, arrays, tangents)
        reverse = fs.vjp(model, op, arrays, bars)
        left = sum((a * b).sum(1) for a, b in zip(forward, bars))
        right = sum((a * b).sum(1) for a, b in zip(reverse, tangents))
        np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-9 * np.abs(left).max())


def test_against_pinocchio():
    pin = pytest.importorskip("pinocchio")
    for name in ("iiwa14", "ur5"):
        path = os.path.join(os.environ.get("FEATHERSTORM_ROBOTS", ""), name + ".urdf")
        other = pin.buildModelFromUrdf(path)
        model = fs.load(path)
        data = other.createData()
        q, v, tau = (x[0] for x in state(model))
        pin.computeABADerivatives(other, data, fs.to_pinocchio(model, q, pinocchio_model=other), v, tau)
        pin.computeRNEADerivatives(other, data, fs.to_pinocchio(model, q, pinocchio_model=other), v, tau)
        minv = np.triu(data.Minv) + np.triu(data.Minv, 1).T
        eye = np.eye(model.nv)
        q, v, tau = (np.repeat(x[None], model.nv, 0) for x in (q, v, tau))
        for op, jacobians in (
            ("fd", (data.ddq_dq, data.ddq_dv, minv)),
            ("rnea", (data.dtau_dq, data.dtau_dv, data.M)),
        ):
            for got, expected in zip(fs.vjp(model, op, (q, v, tau), eye), jacobians):
                expected = np.triu(expected) + np.triu(expected, 1).T if expected is data.M else expected
                np.testing.assert_allclose(got, expected, atol=1e-8 * np.abs(expected).max(), err_msg=f"{name} {op}")


def test_refusals(model):
    q, v, tau = state(model)
    with pytest.raises(NotImplementedError, match="no operation of that name"):
        fs.vjp(model, "nothing", (q,), q)
    with pytest.raises(ValueError, match=r"fd_vjp: a_bar has shape"):
        fs.vjp(model, "fd", (q, v, tau), np.zeros((B, model.nv + 1)))
    with pytest.raises(TypeError, match=r"fd_vjp: got 2 arrays"):
        fs.vjp(model, "fd", (q,), v)


def test_empty_batch(model):
    q, v, tau = (x[:0] for x in state(model))
    assert [x.shape for x in fs.vjp(model, "fd", (q, v, tau), v)] == [q.shape, v.shape, tau.shape]


def test_nan_stays_in_its_instance(model):
    q, v, tau = state(model)
    v[2, -1] = np.nan
    _, v_bar, _ = fs.vjp(model, "fd", (q, v, tau), tau)
    assert np.isnan(v_bar[2]).any() and np.isfinite(np.delete(v_bar, 2, 0)).all()


# --- parameters


def test_parameters_are_the_robots_own_until_bound():
    plain, model = fs.load("go2"), fs.load("go2", parameters=("mass", "armature", "gravity"))
    q, v, tau = state(plain)
    np.testing.assert_allclose(fs.fd(model, q, v, tau), fs.fd(plain, q, v, tau), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(model.parameter("gravity"), plain.gravity)
    np.testing.assert_allclose(model.parameter("mass").sum(), plain.total_mass)
    moon = model.bind(gravity=[0, 0, -1.62])
    np.testing.assert_array_equal(model.parameter("gravity"), plain.gravity)  # bind makes another model
    lighter = fs.rnea(moon, q, 0 * v, 0 * v)
    np.testing.assert_allclose(lighter, fs.rnea(plain, q, 0 * v, 0 * v) * (1.62 / 9.81), rtol=1e-6, atol=1e-9)


def test_every_instance_has_its_own_mass():
    model = fs.load("panda", parameters="mass")
    q, v, _ = state(model)
    scale = np.linspace(0.5, 2, B)
    batch = fs.energy(model.bind(mass=model.parameter("mass") * scale[:, None]), q, v)[0]
    for i in range(B):
        alone = fs.energy(model.bind(mass=model.parameter("mass") * scale[i]), q[i], v[i])[0]
        np.testing.assert_allclose(batch[i], alone, rtol=1e-12)


@pytest.mark.parametrize("operation", ["aba", "fd"])
def test_a_free_joint_takes_armature_as_a_parameter(operation):
    plain, model = fs.load("go2"), fs.load("go2", parameters="armature")
    q, v, a = state(plain)
    armature = np.random.default_rng(3).uniform(0, 0.5, (B, plain.nv))
    robots = model.bind(armature=armature)
    added = fs.crba(robots, q) - fs.crba(plain, q)
    np.testing.assert_allclose(added, [np.diag(x - plain.armature) for x in armature], rtol=0, atol=1e-9)
    tau = fs.rnea(robots, q, v, a)
    np.testing.assert_allclose(getattr(fs, operation)(robots, q, v, tau), a, rtol=0, atol=1e-8)
    # a = M^-1 (tau - C): the cotangent of tau is M^-1 bar
    tau_bar = fs.vjp(robots, operation, (q, v, tau), a)[2]
    np.testing.assert_allclose(np.einsum("bij,bj->bi", fs.crba(robots, q), tau_bar), a, rtol=0, atol=1e-8)


def test_parameters_in_simulation_batch_and_rollout():
    model = fs.load("cartpole", parameters=("mass", "damping"))
    heavy = model.bind(mass=np.outer([1.0, 3.0], model.parameter("mass")), damping=np.array([[0.1, 0.2], [0.0, 0.3]]))
    q0, v0 = np.array([[0.1, 0.3], [0.1, 0.3]]), np.zeros((2, 2))
    tau = np.array([[1.0, 0.0], [1.0, 0.0]])
    sim = fs.Simulation(heavy, 2, dt=0.01, dtype="float64")
    sim.q, sim.v = q0, v0
    for _ in range(3):
        sim.step(tau)
    U = np.repeat(tau[:, None], 3, 1)
    rolled = fs.rollout(heavy, np.hstack([q0, v0]), U, 0.01, cost=lambda x, u, t, p: x.run("energy", x.q, x.v)[0])
    np.testing.assert_allclose(rolled.final, np.hstack(sim.state), rtol=1e-12)
    q, v = q0, v0
    energy = np.zeros(2)
    for _ in range(3):
        q, v = fs.step(heavy, q, v, 0.01, tau)
        energy += fs.energy(heavy, q, v)[0]
    np.testing.assert_allclose(sim.q, q, rtol=1e-12)
    np.testing.assert_allclose(rolled.costs, energy, rtol=1e-12)
    assert abs(q[0] - q[1]).max() > 1e-6
    a = fs.zeros((2, 2), "float64")
    assert fs.run(heavy, "fd", q0, v0, tau, out=a) is a
    np.testing.assert_allclose(a, fs.fd(heavy, q0, v0, tau), rtol=1e-12)


def test_parameter_refusals():
    with pytest.raises(ValueError, match="no parameter 'weight'"):
        fs.load("panda", parameters=("weight",))
    model = fs.load("panda", parameters=("mass",))
    with pytest.raises(TypeError, match="com is a constant of this model"):
        model.bind(com=0)
    q, v, tau = state(model)
    with pytest.raises(ValueError, match="mass has shape"):
        fs.fd(model.bind(mass=np.ones(3)), q, v, tau)


def test_gradient_by_a_parameter():
    model = fs.load("panda", parameters=("com",))
    q, v, tau = state(model)
    com = np.repeat(model.parameter("com")[None], B, 0)
    weights = np.random.default_rng(5).normal(size=(B, model.nv))
    *_, com_bar = fs.vjp(model.bind(com=com), "rnea", (q, v, tau), weights)
    assert com_bar.shape == (B, model.nb, 3)
    h = 1e-6
    for body, axis in ((1, 0), (model.nb - 1, 2)):
        d = np.zeros_like(com)
        d[:, body, axis] = h
        high, low = (fs.rnea(model.bind(com=com + s * d), q, v, tau) for s in (1, -1))
        np.testing.assert_allclose(
            com_bar[:, body, axis], ((high - low) * weights).sum(1) / (2 * h), rtol=1e-6, atol=1e-7
        )


# --- PyTorch


def test_torch_gradients(model):
    torch = pytest.importorskip("torch")
    import featherstorm.torch as fst

    q, v, tau = (torch.from_numpy(x).requires_grad_() for x in state(model))
    weights = torch.from_numpy(np.random.default_rng(2).normal(size=(B, model.nv)))
    (fst.fd(model, q, v, tau) * weights).sum().backward()
    expected = fs.vjp(model, "fd", tuple(x.detach().numpy() for x in (q, v, tau)), weights.numpy())
    for x, bar in zip((q, v, tau), expected):
        np.testing.assert_array_equal(x.grad.numpy(), bar)
    # strided, broadcast and shared arguments
    wide = torch.zeros(model.nv, 2 * B, dtype=torch.float64, requires_grad=True)
    one = torch.zeros(model.nv, dtype=torch.float64, requires_grad=True)
    fst.fd(model, q.detach(), wide.T[::2], one).sum().backward()
    ones = np.ones((B, model.nv))
    _, v_bar, tau_bar = fs.vjp(model, "fd", (q.detach().numpy(), 0 * ones, 0 * ones), ones)
    np.testing.assert_allclose(wide.grad.numpy().T[::2], v_bar, rtol=1e-12)
    assert not wide.grad[:, 1::2].any()
    np.testing.assert_allclose(one.grad.numpy(), tau_bar.sum(0), rtol=1e-9, atol=1e-12)


def test_torch_gradcheck():
    torch = pytest.importorskip("torch")
    import featherstorm.torch as fst

    model = fs.load("panda", parameters=("mass",))
    q, v, tau = (torch.from_numpy(x[:2]).requires_grad_() for x in state(model))
    mass = torch.from_numpy(model.parameter("mass").copy()).requires_grad_()
    assert torch.autograd.gradcheck(lambda q, v, tau, m: fst.fd(model.bind(mass=m), q, v, tau), (q, v, tau, mass))
    assert torch.autograd.gradcheck(
        lambda q, v, tau: fst.step(model, q, v, 0.01, tau, substeps=2), (q, v, tau), check_forward_ad=True
    )


def test_torch_descends_through_a_rollout():
    torch = pytest.importorskip("torch")
    import featherstorm.torch as fst

    model = fs.load("double_pendulum")
    tau = torch.zeros(20, 1, model.nv, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([tau], lr=0.5)
    goal, losses = torch.tensor([[0.5, -0.3]], dtype=torch.float64), []
    for _ in range(150):
        q = v = torch.zeros(1, model.nv, dtype=torch.float64)
        for t in range(20):
            q, v = fst.step(model, q, v, 0.02, tau[t])
        loss = ((q - goal) ** 2).sum() + 0.01 * (v**2).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.05 * losses[0]


# --- JAX


def test_jax_gradients(model, jax):
    import featherstorm.jax as fsj

    q, v, tau = (jax.numpy.asarray(x) for x in state(model))
    weights = jax.numpy.asarray(np.random.default_rng(2).normal(size=(B, model.nv)))

    def loss(q, v, tau):
        return (fsj.fd(model, q, v, tau) * weights).sum()

    expected = fs.vjp(model, "fd", tuple(np.asarray(x) for x in (q, v, tau)), np.asarray(weights))
    for compiled in (jax.grad(loss, (0, 1, 2)), jax.jit(jax.grad(loss, (0, 1, 2)))):
        for got, bar in zip(compiled(q, v, tau), expected):
            np.testing.assert_allclose(got, bar, rtol=1e-12, atol=1e-12)


def test_jax_vmap_and_shared_arrays(model, jax):
    import featherstorm.jax as fsj

    q, v, tau = (jax.numpy.asarray(x) for x in state(model))
    whole = fsj.fd(model, q, v, tau)
    np.testing.assert_allclose(jax.vmap(lambda q, v, t: fsj.fd(model, q, v, t))(q, v, tau), whole, rtol=1e-12)
    np.testing.assert_allclose(
        jax.vmap(lambda t: fsj.fd(model, q, v, t))(jax.numpy.stack([tau, 2 * tau]))[1], fsj.fd(model, q, v, 2 * tau)
    )
    shared = jax.grad(lambda t: fsj.fd(model, q, v, t).sum())(tau[0])
    each = jax.grad(lambda t: fsj.fd(model, q, v, t).sum())(jax.numpy.broadcast_to(tau[0], tau.shape))
    np.testing.assert_allclose(shared, each.sum(0), rtol=1e-9, atol=1e-12)


def test_jax_steps_and_outputs(model, jax):
    import featherstorm.jax as fsj

    q, v, tau = (jax.numpy.asarray(x) for x in state(model))
    got = jax.jit(lambda q, v, tau: fsj.step(model, q, v, 0.01, tau, substeps=2))(q, v, tau)
    for a, b in zip(got, fs.step(model, *(np.asarray(x) for x in (q, v)), 0.01, np.asarray(tau), substeps=2)):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
    gradient = jax.grad(lambda tau: fsj.step(model, q, v, 0.01, tau)[0].sum())(tau)
    assert np.isfinite(gradient).all() and np.abs(gradient).max() > 0
    with pytest.raises(ValueError, match=r"fd: v has shape"):
        fsj.fd(model, q, v[:, 1:], tau)
