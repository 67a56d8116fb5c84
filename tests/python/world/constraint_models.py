"""Small models with every constraint that needs no collision: equalities, dry friction, limits, and their softness."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def link(name: str, joints: str, inside: str = "", mass: float = 1.0, where: str = "") -> str:
    """A body with a geom off its origin, so that its inertia is none of a sphere."""
    where = where or 'pos="0.1 -0.2 0.3" quat="0.9 0.2 -0.3 0.1"'
    return (
        f'<body name="{name}" {where}>{joints}'
        f'<geom type="box" size="0.1 0.2 0.15" pos="0.05 0.1 -0.07" mass="{mass}" contype="0" conaffinity="0"/>'
        f'<site name="s_{name}" pos="0.2 0.1 -0.1" quat="0.6 0.2 0.7 -0.3"/>{inside}</body>'
    )


def model(worldbody: str, rest: str = "", option: str = "", flags: str = "") -> str:
    return (
        f'<mujoco><compiler angle="radian"/><option timestep="0.004" jacobian="dense" {option}><flag {flags}/></option>'
        f'<worldbody><site name="home" pos="0.3 0.2 0.5" quat="0.3 0.4 -0.5 0.7"/>{worldbody}</worldbody>{rest}</mujoco>'
    )


HINGE = '<joint name="{}" type="hinge" axis="0.3 -0.5 0.8" pos="0.02 0.05 -0.03" ref="0.3" {}/>'
SLIDE = '<joint name="{}" type="slide" axis="0.6 0.2 -0.4" ref="-0.1" {}/>'
BALL_JOINT = '<joint name="{}" type="ball" pos="0.03 -0.02 0.05" {}/>'
TWO_HINGES = '<joint name="{0}_a" type="hinge" axis="1 0 0"/><joint name="{0}_b" type="hinge" axis="0 1 0" ref="-0.4"/>'


def tree() -> str:
    """Two limbs on a free base, with every joint, and a chain that stands on the world."""
    arm = link("lower", HINGE.format("elbow", ""), link("hand", BALL_JOINT.format("wrist", "")))
    arm = link("upper", BALL_JOINT.format("shoulder", ""), arm)
    leg = link("knee", TWO_HINGES.format("knee"), link("foot", SLIDE.format("foot", ""), link("toe", "")))
    base = link("base", "<freejoint/>", arm + leg, 3.0)
    chain = link("c1", HINGE.format("c1", ""), link("c2", SLIDE.format("c2", ""), link("c3", TWO_HINGES.format("c3"))))
    return base + chain


def equalities() -> Iterator[tuple[str, str]]:
    pairs = {
        "limbs": 'body1="hand" body2="toe"',
        "limbs_back": 'body1="foot" body2="lower"',
        "trees": 'body1="hand" body2="c3"',
        "world": 'body1="c3"',
        "base": 'body1="base" body2="hand"',
        "above": 'body1="toe" body2="knee"',
    }
    sites = {
        "sites": 'site1="s_hand" site2="s_toe"',
        "sites_trees": 'site1="s_c3" site2="s_lower"',
        "site_world": 'site1="home" site2="s_c3"',
    }
    for name, pair in pairs.items():
        yield f"connect_{name}", model(tree(), f'<equality><connect {pair} anchor="0.1 0.2 -0.1"/></equality>')
        yield f"weld_{name}", model(tree(), f'<equality><weld {pair} anchor="0.1 0.2 -0.1"/></equality>')
        yield (
            f"weld_{name}_posed",
            model(
                tree(),
                f'<equality><weld {pair} relpose="0.1 0.2 0.1 0.5 -0.6 0.3 0.2" torquescale="0.7" '
                'solref="0.05 0.8" solimp="0.3 0.97 0.4 0.3 3.3"/></equality>',
            ),
        )
    for name, pair in sites.items():
        yield f"connect_{name}", model(tree(), f"<equality><connect {pair}/></equality>")
        yield f"weld_{name}", model(tree(), f'<equality><weld {pair} torquescale="2.5"/></equality>')
    fixed = (
        '<body name="shelf" pos="1 0.2 0.3" quat="0.3 0.5 0.1 0.2"/>'
        '<body name="target" mocap="true" pos="0.3 0.1 0.2" quat="-0.3 0.5 0.1 0.2"/>'
    )
    nothing_moves = '<weld body1="shelf"/><connect body1="shelf" body2="target" anchor="0 0 0"/>'
    # c1_plate is one body with c1, c2_plate with c2
    plates = tree().replace('<site name="s_c1"', link("c1_plate", "") + '<site name="s_c1"')
    plates = plates.replace('<site name="s_c2"', link("c2_plate", "") + '<site name="s_c2"')
    of_plates = (
        '<connect body1="c1_plate" body2="c2_plate" anchor="0.1 0 0"/><weld body1="c2_plate" body2="c1"/>'
        '<connect site1="s_c1" site2="s_c1_plate"/><weld site1="s_c2" site2="s_c2_plate"/>'
    )
    yield (
        "weld_mocap",
        model(tree() + fixed, f'<equality>{nothing_moves}<weld body1="target" body2="hand"/></equality>'),
    )
    yield "rigid_pairs", model(plates, f"<equality>{of_plates}</equality>")
    joints = (
        '<joint joint1="elbow" joint2="c1" polycoef="0.1 -0.7 0.3 0.2 -0.1"/><joint joint1="c2" polycoef="0.2 1 0 0 0"/>'
        '<joint joint1="foot" joint2="knee_a" polycoef="0 0.5 0 0 0" active="false"/><joint joint1="knee_a" joint2="knee_b"/>'
    )
    yield "joint_equalities", model(tree(), f"<equality>{joints}</equality>")
    fixed = '<fixed name="{}"><joint joint="{}" coef="0.7"/><joint joint="{}" coef="-1.3"/></fixed>'
    tendons = (
        f"<tendon>{fixed.format('t0', 'elbow', 'c1')}{fixed.format('t1', 'knee_a', 'foot')}"
        '<spatial name="t2"><site site="s_hand"/><site site="s_toe"/></spatial></tendon>'
    )
    equality = (
        '<tendon tendon1="t0" tendon2="t2" polycoef="0.1 0.4 -0.2 0.1 0.05"/><tendon tendon1="t1" polycoef="0.3 1 0 0 0"/>'
        '<tendon tendon1="t2" tendon2="t1" solref="-300 -20"/>'
    )
    yield "tendon_equalities", model(tree(), f"{tendons}<equality>{equality}</equality>")


def softnesses() -> Iterator[tuple[str, str, str]]:
    """Names with solref and solimp, in every form."""
    references = {"standard": "0.03 0.9", "stiff": "0.001 1.2", "direct": "-400 -30", "half": "-100 0", "none": "0 0"}
    impedances = {
        "default": "0.9 0.95 0.001 0.5 2",
        "wide": "0.2 0.9 1.5 0.3 2",
        "linear": "0.1 0.8 0.9 0.4 1",
        "steep": "0.5 0.95 1.2 0.6 4.7",
        "falling": "0.9 0.3 0.8 0.5 2.2",
        "flat": "0.7 0.7 0.5 0.5 3",
        "thin": "0.4 0.8 0 0.5 2",
        "clamped": "0 1 2 0 0.5",
    }
    for name, solref in references.items():
        yield name, solref, impedances["steep"]
    for name, solimp in impedances.items():
        yield name, references["standard"], solimp


def limited(softness: tuple[str, str]) -> tuple[str, str]:
    solref, solimp = softness
    limit = f'solreflimit="{solref}" solimplimit="{solimp}"'
    friction = f'solreffriction="{solref}" solimpfriction="{solimp}"'
    hinge = HINGE.format("h", f'range="-0.5 0.7" margin="0.2" frictionloss="0.3" {limit} {friction}')
    slide = SLIDE.format("s", f'range="-0.2 0.4" frictionloss="2" {limit} {friction}')
    ball = BALL_JOINT.format("b", f'range="0 0.8" margin="0.1" frictionloss="0.1" {limit} {friction}')
    # both limits at once, and a range that is none
    narrow = HINGE.format("n", f'range="-0.1 0.1" margin="0.4" {limit}')
    chain = link("l1", hinge, link("l2", slide, link("l3", ball, link("l4", narrow))))
    tendons = (
        f'<tendon><fixed name="t0" range="-0.3 0.2" margin="0.1" frictionloss="0.4" {limit} {friction}>'
        '<joint joint="h" coef="1.5"/><joint joint="n" coef="-0.5"/></fixed>'
        f'<spatial name="t1" range="0.2 0.7" frictionloss="1.2" {limit} {friction}>'
        '<site site="home"/><site site="s_l2"/><site site="s_l4"/></spatial></tendon>'
    )
    return chain + link("free", '<joint name="free" type="free" frictionloss="0.2"/>'), tendons


def models() -> Iterator[tuple[str, str]]:
    """(name, xml) of every model."""
    yield from equalities()
    for name, solref, solimp in softnesses():
        body, tendons = limited((solref, solimp))
        yield f"limits_{name}", model(body, tendons)
    body, tendons = limited(("0.001 1", "0.9 0.95 0.001 0.5 2"))
    one_sided = {
        "-0.5 0.7": "-inf 0.7",
        "-0.2 0.4": "-0.2 inf",
        "0 0.8": "0 inf",
        "-0.3 0.2": "-inf 0.2",
        "0.2 0.7": "0.2 inf",
    }
    far_body, far_tendons = body, tendons
    for both, one in one_sided.items():
        far_body, far_tendons = (x.replace(f'range="{both}"', f'range="{one}"') for x in (far_body, far_tendons))
    yield "limits_one_sided", model(far_body, far_tendons)
    yield "limits_unsafe", model(body, tendons, flags='refsafe="disable"')
    yield (
        "override",
        model(body, tendons, option='o_solref="0.5 1" o_solimp="0.1 0.2 0.3 0.5 2"', flags='override="enable"'),
    )
    equality = '<equality><joint joint1="h" joint2="n"/><weld body1="l4" body2="free"/></equality>'
    yield "everything", model(body, tendons + equality)
    for flag in ("equality", "frictionloss", "limit", "constraint"):
        yield f"without_{flag}", model(body, tendons + equality, flags=f'{flag}="disable"')
