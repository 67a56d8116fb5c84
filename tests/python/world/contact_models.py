"""Small models whose geoms touch: every pair of shapes, and everything that decides which geoms do and how."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
from pair_scenes import FIELDS, FLAT, PAIRS, ROUND, random_quaternion, random_size, random_vertices

if TYPE_CHECKING:
    from collections.abc import Iterator


def words(numbers) -> str:
    return " ".join(f"{x:.17g}" for x in np.ravel(numbers))


def geom(shape: str, rng: np.random.Generator, attributes: str = "", far: float = 0.1, size=None) -> str:
    """A geom of random size, off the origin of its body and turned."""
    if size is None:
        size = random_size(shape, rng)
    size = {"plane": 'size="0 0 1"', "mesh": 'mesh="mesh"', "hfield": 'hfield="field"'}.get(
        shape, f'size="{words(size)}"'
    )
    where = f'pos="{words(rng.uniform(-far, far, 3))}" quat="{words(random_quaternion(rng))}"'
    return f'<geom type="{shape}" {size} {where} {attributes}/>'


def free(inside: str, name: str = "") -> str:
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    return f"<body {f'name={chr(34)}{name}{chr(34)}' if name else ''}><freejoint/>{inertial}{inside}</body>"


def model(worldbody: str, rest: str = "", option: str = "", flags: str = "", default: str = "") -> str:
    return (
        f'<mujoco><compiler angle="radian"/><option {option} ccd_iterations="400" ccd_tolerance="1e-11"><flag {flags}/></option><default>{default}</default>'
        f"<worldbody>{worldbody}</worldbody>{rest}</mujoco>"
    )


def mesh_asset(rng: np.random.Generator) -> str:
    return f'<asset><mesh name="mesh" vertex="{words(random_vertices(rng))}"/></asset>'


def field_asset(rng: np.random.Generator) -> str:
    size = words([*rng.uniform(0.3, 0.6, 2), rng.uniform(0.1, 0.3), 0.2])
    return f'<asset><hfield name="field" nrow="4" ncol="5" size="{size}" elevation="{words(rng.random(20))}"/></asset>'


def pairs() -> Iterator[tuple[str, str]]:
    """Two geoms of each pair of shapes: the first fixed or free, in both orders, with and without margins."""
    for k, pair in enumerate((*PAIRS, *ROUND, *FLAT, *FIELDS)):
        first, second = pair.split("_")
        for case in range(4):
            rng = np.random.default_rng(10 * k + case)
            # of prisms with a box or a mesh MuJoCo finds the depth with a margin alone
            always = pair in ("hfield_box", "hfield_mesh")
            margin = 'margin="0.02" gap="0.01"' if case >= 2 or always else ""
            a, b = geom(first, rng, margin), free(geom(second, rng, margin))
            if first not in ("plane", "hfield") and case % 2:
                a = free(a)
            both = b + a if case % 2 else a + b
            assets = mesh_asset(rng) if "mesh" in (first, second) else ""
            yield f"{pair}-{case}", model(both, assets + (field_asset(rng) if first == "hfield" else ""))


def parameters() -> Iterator[tuple[str, str]]:
    """Geoms with all parameters of contacts at random, so that each way to mix them occurs."""
    for seed in range(8):
        rng = np.random.default_rng(seed)

        def attributes(rng: np.random.Generator) -> str:
            solref = rng.choice(["0.03 0.9", "0.005 1.3", "-400 -30", "-900 -20"])
            return (
                f'condim="{rng.choice([1, 3, 4, 6])}" friction="{words(rng.uniform(0, 1, 3) * rng.choice([1, 1e-6]))}" '
                f'priority="{rng.integers(2)}" solmix="{rng.choice([0, 1e-20, 0.5, 1, 3])}" solref="{solref}" '
                f'solimp="{words(rng.uniform(0.1, 0.9, 4))} {rng.choice([1, 2, 3.5])}" '
                f'margin="{rng.uniform(0, 0.05)}" gap="{rng.uniform(0, 0.05)}"'
            )

        shapes = ["plane", *rng.choice(["sphere", "capsule", "box"], 7)]
        bodies = geom("plane", rng, attributes(rng)) + "".join(
            free("".join(geom(s, rng, attributes(rng), 0.2) for s in shapes[k : k + 2])) for k in (1, 3, 5)
        )
        cone = f'cone="{rng.choice(["elliptic", "pyramidal"])}" impratio="{rng.uniform(0.5, 10)}"'
        yield f"parameters-{seed}", model(bodies, option=cone)
        override = 'o_margin="0.03" o_solref="0.5 1" o_solimp="0.1 0.2 0.3 0.5 2" o_friction="0.7 0.6 0 0.1 0.2"'
        yield f"override-{seed}", model(bodies, option=f"{cone} {override}", flags='override="enable"')


def named_pairs() -> Iterator[tuple[str, str]]:
    """Elements <pair>: in place of what geoms would do by themselves, and where they would not touch."""
    for seed in range(4):
        rng = np.random.default_rng(100 + seed)
        names = itertools.count()

        def named(shape: str, attributes: str = "", rng=rng, names=names) -> str:
            return geom(shape, rng, f'name="g{next(names)}" {attributes}')

        off = 'contype="0" conaffinity="0"'
        # names are numbers in the file's order
        ground = named("plane") + named("box", off)
        shelf = f'<body name="shelf" pos="0.3 0.2 0.1">{named("box")}</body>'
        base = named("capsule") + named("box")
        child = (
            f'<body name="child" pos="0.1 0 0.2"><joint axis="0 1 0"/>{named("capsule")}{named("sphere", off)}</body>'
        )
        other = named("sphere") + named("mesh") + named("cylinder")
        bodies = ground + shelf + free(base + child, "base") + free(other, "other")
        # 0 plane, 1 box, 2 box of the shelf, 3 capsule, 4 box, 5 capsule of the child, 6 sphere there, 7 sphere, 8 mesh, 9 cylinder
        touching = [(3, 0), (0, 8), (9, 0), (7, 9), (4, 2), (4, 5), (3, 5), (6, 7), (1, 4), (7, 6), (2, 1), (3, 4)]
        which = rng.permutation(len(touching))[:9]
        elements = "".join(
            f'<pair geom1="g{touching[k][0]}" geom2="g{touching[k][1]}" condim="{rng.choice([1, 3, 4, 6])}" '
            f'friction="{words(rng.uniform(0.1, 1, 5))}" solref="{rng.choice(["0.03 0.9", "-400 -30"])}" '
            f'solimp="{words(rng.uniform(0.1, 0.9, 4))} 2" margin="{rng.uniform(0, 0.05)}" gap="{rng.uniform(0, 0.05)}" '
            f'solreffriction="{rng.choice(["0 0", "0.04 1.1", "-300 -20"])}"/>'
            for k in which
        )
        # closed forms alone, so that all candidates are in one program too
        exclude = "".join(f'<exclude body1="{body}" body2="other"/>' for body in ("world", "base", "shelf", "child"))
        rest = f"{mesh_asset(rng)}<contact>{elements}{exclude}</contact>"
        option = f'cone="{rng.choice(["elliptic", "pyramidal"])}"'
        yield f"named_pairs-{seed}", model(bodies, rest, option)
        override = 'o_margin="0.01" o_solref="0.5 1" o_solimp="0.1 0.2 0.3 0.5 2" o_friction="0.7 0.6 0.5 0.1 0.2"'
        yield f"named_pairs_override-{seed}", model(bodies, rest, f"{option} {override}", 'override="enable"')


def filters() -> Iterator[tuple[str, str]]:
    """Trees of many bodies: bits of contype and conaffinity, bodies welded together, parents, children of the world and of
    mocap bodies, excluded bodies."""
    for seed in range(6):
        rng = np.random.default_rng(200 + seed)
        names = itertools.count()

        def some_geoms(rng=rng) -> str:
            bits = lambda: int(rng.choice([0, 1, 1, 2, 3, 6]))  # noqa: E731
            return "".join(
                geom(shape, rng, f'contype="{bits()}" conaffinity="{bits()}"', 0.15)
                for shape in rng.choice(["sphere", "capsule", "box", "cylinder"], rng.integers(0, 4))
            )

        def body(depth: int, rng=rng, names=names) -> str:
            joint = '<joint axis="0.3 0.2 0.9"/>' if rng.random() < 0.6 else ""
            inside = "".join(body(depth - 1) for _ in range(rng.integers(0, 3))) if depth else ""
            inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
            where = f'pos="{words(rng.uniform(-0.2, 0.2, 3))}" quat="{words(random_quaternion(rng))}"'
            return f'<body name="b{next(names)}" {where}>{joint}{inertial}{some_geoms()}{inside}</body>'

        trees = "".join(free(some_geoms() + body(2)) for _ in range(2)) + "".join(body(3) for _ in range(2))
        mocap = f'<body mocap="true" pos="0.1 0.1 -0.2">{geom("plane", rng)}{geom("box", rng)}{body(2)}</body>'
        bodies = geom("plane", rng) + geom("box", rng) + trees + mocap
        n = next(names)
        excluded = "".join(
            f'<exclude body1="b{a}" body2="b{b}"/>' for a, b in (rng.choice(n, 2, replace=False) for _ in range(3))
        )
        rest = f"<contact>{excluded}</contact>"
        yield f"filters-{seed}", model(bodies, rest)
        if seed in (1, 4):  # the largest models, which take seconds
            continue
        yield f"filters_parents-{seed}", model(bodies, rest, flags='filterparent="disable"')
        yield f"filters_no_midphase-{seed}", model(bodies, rest, flags='midphase="disable"')


def flags() -> Iterator[tuple[str, str]]:
    rng = np.random.default_rng(7)
    bodies = geom("plane", rng) + free(geom("box", rng)) + free(geom("sphere", rng))
    for flag in ("contact", "constraint"):
        yield f"without_{flag}", model(bodies, flags=f'{flag}="disable"')


def models() -> Iterator[tuple[str, str]]:
    """(name, xml) of every model."""
    for some in (pairs, parameters, named_pairs, filters, flags):
        yield from some()


def left_out() -> Iterator[tuple[str, str, list[str]]]:
    """(name, xml, parts of the notice) of models with pairs that have no contacts here."""
    rng = np.random.default_rng(8)
    plane, ball = geom("plane", rng), geom("sphere", rng, 'name="ball"')

    def two(a: str, b: str, rest: str = "") -> str:
        return model(plane + free(a) + free(b), rest)

    sticky = geom("box", rng, 'name="sticky" adhesion="3"')
    yield (
        "adhesion",
        two(ball, sticky),
        ["2 pairs", "of plane with box with adhesion", "of sphere with box with adhesion"],
    )
    above = geom("sphere", rng, 'name="above" priority="1"')  # its lack of adhesion has priority
    yield "adhesion_priority", two(above, sticky), ["1 pair of", "of plane with box with adhesion"]
    pair = '<contact><pair geom1="ball" geom2="other" adhesion="2"/></contact>'
    said = ["1 pair of", "of sphere with sphere with adhesion (geom 'ball' and geom 'other')"]
    yield "adhesion_pair", two(ball, geom("sphere", rng, 'name="other"'), pair), said
