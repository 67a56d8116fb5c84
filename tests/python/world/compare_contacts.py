"""Contacts of a model file beside MuJoCo's: the same pairs of geoms touch, at the same places, with the same numbers.

    errors = contact_errors(m)      what differs, a sentence each; none where all agrees
    errors, found = contact_errors(m, full=True)

`found` counts contacts, those of pairs that are left out by the names of their shapes, and pairs whose contacts are too far to be in
MuJoCo's list. Where MuJoCo finds contacts by iteration they agree as far as it gets (`to_the_end`), and a few may be others where sides
lie flat on each other.
"""

import collections

import mujoco
import numpy as np

import featherstorm as fs

TOLERANCE = 1e-9
# where MuJoCo iterates
LOOPS = {"contacts": 1e-3, "edge": 2e-6, "others": 0.2}
# a contact this near to where one begins to be found may be in one list alone
EDGE = 1e-11
SHAPES = ("plane", "height field", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "signed distance field")


def touching_states(m, count, seed=0):
    """Positions (count, nq): joints in their ranges and beyond, floating bodies low."""
    rng = np.random.default_rng(seed)
    found = np.empty((count, m.nq))
    for q in found:
        q[:] = m.key_qpos[rng.integers(m.nkey)] if m.nkey and rng.random() < 0.5 else m.qpos0
        mujoco.mj_integratePos(m, q, rng.normal(size=m.nv) * rng.choice([0.02, 0.3, 1.0]), 1)
        for j in range(m.njnt):
            at = m.jnt_qposadr[j]
            if m.jnt_type[j] >= 2 and m.jnt_limited[j] and rng.random() < 0.7:
                q[at] = rng.uniform(*m.jnt_range[j])
            if m.jnt_type[j] == 0:
                q[at + 2] = rng.uniform(-0.1, 1) * max(q[at + 2], 0.1)
        mujoco.mj_normalizeQuat(m, q)
    return found


def close_states(m, count, seed=0):
    """Positions (count, nq) with floating bodies in a heap."""
    rng = np.random.default_rng(seed)
    found = np.empty((count, m.nq))
    for q in found:
        q[:] = m.qpos0
        mujoco.mj_integratePos(m, q, rng.normal(size=m.nv), 1)
        for j in np.flatnonzero(m.jnt_type == 0):
            at = m.jnt_qposadr[j]
            q[at : at + 3] = rng.uniform(-0.3, 0.3, 3)
            q[at + 3 : at + 7] = rng.normal(size=4)
        mujoco.mj_normalizeQuat(m, q)
    return found


def rows(d, contacts):
    """(n, 13): distance, point and frame of some contacts."""
    c = d.contact
    return np.array([np.hstack([c.dist[i], c.pos[i], c.frame[i]]) for i in contacts]).reshape(-1, 13)


def difference(ours, theirs):
    """The greatest, each beside the one of the other list that is nearest to it."""
    left, worst = list(theirs), 0.0
    for x in ours:
        k = min(range(len(left)), key=lambda k: np.abs(left[k][:4] - x[:4]).max())
        worst = max(worst, np.abs(left.pop(k) - x).max())
    return worst


# a contact's numbers, and how many each of them is
NUMBERS = {"dim": 1, "friction": 5, "solref": 2, "solimp": 5, "solreffriction": 2, "includemargin": 1, "invweight": 2}


def numbers_of(m, contact):
    """(ncon, 18): the numbers of all contacts, in the order of NUMBERS."""
    c, bodies = contact, m.geom_bodyid[contact.geom]
    solreffriction = np.where(c.solreffriction.any(axis=1)[:, None], c.solreffriction, c.solref)
    invweight = m.body_invweight0[bodies].sum(axis=1)
    return np.column_stack([c.dim, c.friction, c.solref, c.solimp, solreffriction, c.includemargin, invweight])


def contact_errors(m, count=40, seed=0, states=None, full=False):
    model = fs.from_mujoco(m)
    assert model.robot.has_world, model.notices
    pairs = model.robot.contact_pairs
    notice = next((n for n in model.notices if n.startswith("contacts of") and "pair" in n), "")
    q = touching_states(m, count, seed) if states is None else states
    dist, pos, frame = (np.asarray(x) for x in fs.contacts(model, q))
    first = np.cumsum([0] + [p["slots"] for p in pairs])
    assert dist.shape == (len(q), first[-1]) and np.isfinite(dist).all() and np.isfinite(frame).all()
    of_geoms = collections.defaultdict(list)
    for k, p in enumerate(pairs):
        of_geoms[p["geom"]].append(k)
    numbers = np.array([np.hstack([p[name] for name in NUMBERS]) for p in pairs])
    pair_of_slot = np.repeat(np.arange(len(pairs)), np.diff(first))

    overridden = m.opt.enableflags & mujoco.mjtEnableBit.mjENBL_OVERRIDE
    said, found = set(), {"contacts": 0, "left out": collections.Counter(), "apart": 0, "worst": 0.0}
    iterated, others = collections.Counter(), collections.Counter()
    d = mujoco.MjData(m)
    for b in range(len(q)):
        d.qpos[:] = q[b]
        mujoco.mj_fwdPosition(m, d)
        theirs = collections.defaultdict(list)
        order = []
        for i in range(d.ncon):
            geoms = tuple(int(g) for g in d.contact.geom[i])
            theirs[geoms].append(i)
            if len(of_geoms[geoms]) == 1:
                order += of_geoms[geoms]
        if order != sorted(order):
            said.add("order of pairs")
        for geoms, contacts in theirs.items():
            if of_geoms[geoms]:
                continue
            if never_move(m, *geoms):
                continue
            shapes = " with ".join(SHAPES[m.geom_type[g]] for g in geoms)
            found["left out"][shapes] += len(contacts)
            if f"of {shapes}" not in notice:
                said.add(f"{shapes}: {geoms} is no pair")
        # either list alone may have contacts of a pair
        compared = []  # (contact, pair) whose numbers are
        ours = (pairs[k]["geom"] for k in np.unique(pair_of_slot[dist[b] < 1e9]))
        for geoms in {*ours, *theirs}:
            if not (ks := of_geoms[geoms]):
                continue
            loops = is_iterated(m, *geoms)
            edge = [pairs[k]["detection"] for k in ks]
            near = LOOPS["edge"] if loops else EDGE
            at_edge = lambda x, edge=edge, near=near: min(abs(x - e) for e in edge) < near  # noqa: E731
            slots = np.concatenate([np.arange(first[k], first[k + 1]) for k in ks])
            slots = [s for s in slots if dist[b, s] < 1e9 and not at_edge(dist[b, s])]
            contacts = [i for i in theirs[geoms] if not at_edge(d.contact.dist[i])]
            name = " with ".join(SHAPES[m.geom_type[g]] for g in geoms)
            if len(slots) != len(contacts):
                # its boxes around bodies may be apart where the test of axes finds a smaller gap; with the flag override they
                # know nothing of gaps, where contacts have no forces
                least = dist[b, slots].min(initial=np.inf)
                in_gap = overridden and least >= pairs[ks[0]]["includemargin"]
                if loops:
                    others[name] += 1
                elif not contacts and (in_gap or mujoco.mj_geomDistance(m, d, *geoms, 10, None) > max(edge)):
                    found["apart"] += 1
                else:
                    said.add(f"{name}: {len(slots)} contacts for {len(contacts)}")
                continue
            ours = np.hstack([dist[b, slots, None], pos[b, slots], frame[b, slots]])
            worst = difference(ours, rows(d, contacts))
            found["contacts"] += len(contacts)
            if loops:
                iterated[name] += len(contacts) > 0
                others[name] += worst > LOOPS["contacts"]
                continue
            found["worst"] = max(found["worst"], worst)
            if not worst < TOLERANCE:
                said.add(f"{name}: contacts differ")
            if len(ks) == 1:
                compared += [(i, ks[0]) for i in contacts]
        if compared:
            i, k = np.transpose(compared)
            numbers_there = numbers_of(m, d.contact)[i]
            wrong = ~np.isclose(numbers[k], numbers_there, rtol=1e-14, atol=0)
            for at, column in np.argwhere(wrong):
                name = " with ".join(SHAPES[m.geom_type[g]] for g in pairs[k[at]]["geom"])
                said.add(f"{name}: {np.repeat(list(NUMBERS), list(NUMBERS.values()))[column]}")
    for name, count in others.items():
        if count > 2 and count > LOOPS["others"] * (iterated[name] + count):
            said.add(f"{name}: {count} of {iterated[name] + count} pairs have other contacts")
    return (sorted(said), found) if full else sorted(said)


def to_the_end(m):
    """Has MuJoCo iterate as far as it gets."""
    m.opt.ccd_iterations, m.opt.ccd_tolerance = 400, 1e-11
    return m


def is_iterated(m, g, h):
    """Whether MuJoCo iterates for contacts of two geoms, in its order of shapes."""
    a, b = (SHAPES[t] for t in m.geom_type[[g, h]])
    closed = {"sphere": ("sphere", "capsule", "cylinder", "box"), "capsule": ("capsule", "box"), "box": ("box",)}
    return a != "plane" and b not in closed.get(a, ())


def never_move(m, g, h):
    """Whether two geoms are on bodies that never move against each other."""
    a, b = m.body_weldid[m.geom_bodyid[[g, h]]]
    return a == b or not m.body_dofnum[[a, b]].any()


def of_file(path):
    """What differs of a file, or why there is nothing to compare."""
    try:
        m = mujoco.MjModel.from_xml_path(path)
    except ValueError as error:
        return {"skipped": f"MuJoCo refuses it: {error}"}
    if m.nv == 0:
        return {"skipped": "nothing moves"}
    errors, found = contact_errors(to_the_end(m), full=True)
    return {
        "errors": errors,
        "contacts": found["contacts"],
        "left out": dict(found["left out"]),
        "apart": found["apart"],
    }
