"""Attributes and arguments: which attributes may be set, hints at the right name for a wrong one, checks of values."""

from __future__ import annotations

import difflib
import functools
import inspect
import re
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    F = TypeVar("F", bound=Callable[..., Any])

# Words of the field and of other libraries that users try, by the module or class where they look: word -> name here.
WORDS: dict[str, dict[str, str]] = {
    "featherstorm": {
        "forward_dynamics": "fs.fd(model, q, v, tau)",
        "inverse_dynamics": "fs.rnea(model, q, v, a)",
        "mass_matrix": "fs.crba(model, q)",
        "inertia_matrix": "fs.crba(model, q)",
        "nonlinear_effects": "fs.bias(model, q, v)",
        "center_of_mass": "fs.momentum(model, q, v).com",
        "load_urdf": "fs.load(path)",
        "load_mjcf": "fs.load(path)",
        "from_urdf": "fs.load(path)",
        "from_mjcf": "fs.load(path)",
        "make": "fs.tasks.make(name) for a task, fs.env(model, ...) for an environment of your own",
        "frames": "model.frame_names, and fs.forward_kinematics(model, q, frame)",
    },
    "Model": {
        "mass": "model.total_mass, and model.parameter('mass') for each body",
        "inertia": "model.parameter('inertia')",
        "frames": "model.frame_names",
        "joints": "model.joint_names, and model.joint(name)",
        "names": "model.joint_names, model.body_names and model.frame_names",
        "opt": "model.gravity and model.timestep, which are set by load(..., parameters=...) and bind(...)",
        "qpos0": "model.q0",
    },
    "Simulation": {
        "qpos": "sim.q",
        "qvel": "sim.v",
        "data": "sim.q and sim.v",
        "batch_size": "sim.instances",
        "num_envs": "sim.instances",
        "timestep": "sim.dt / sim.substeps",
    },
    "EnvBatch": {"qpos": "env.q", "qvel": "env.v", "instances": "env.num_envs", "max_episode_steps": "env.task.steps"},
}
# word for an argument -> names of arguments here, of which a function has some
ARGUMENT_WORDS = {
    "torque": ("tau",), "torques": ("tau",), "force": ("tau", "f_ext"), "action": ("actions", "tau", "ctrl"),
    "control": ("ctrl", "tau"), "qpos": ("q",), "qvel": ("v",), "qdot": ("v",), "qacc": ("a",), "acceleration": ("a",),
    "velocity": ("v",), "position": ("q",), "timestep": ("dt",), "batch": ("instances", "num_envs"),
    "batch_size": ("instances", "num_envs"), "num_envs": ("instances",), "path": ("name_or_path",),
}  # fmt: skip


def expect(holds: object, label: str, value: object, expected: str) -> None:
    """Raise ValueError unless a condition on an argument holds. `label` is "caller: argument"."""
    if not holds:
        raise ValueError(f"{label} is {value}, expected {expected}")


def expect_one_of(label: str, value: object, names: Iterable[str]) -> None:
    """Raise ValueError for an argument that is none of some names."""
    names = tuple(names)
    expect(value in names, label, repr(value), f"one of {', '.join(names)}")


def expect_shape(label: str, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """Raise ValueError for an argument of another shape."""
    if shape != expected:
        raise ValueError(f"{label} has shape {shape}, expected {expected}")


def hint(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return "; did you mean a or b?" with the names that are similar, or `otherwise` where there are none."""
    near = difflib.get_close_matches(name, list(known), 3)
    return f"; did you mean {' or '.join(near)}?" if near else otherwise


def unknown_attribute(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """Return the error of a module without an attribute of that name."""
    word = WORDS.get(module, {}).get(name)
    more = hint(name, known) if word is None else f"; here it is {word}"
    return AttributeError(f"module {module!r} has no attribute {name!r}{more}")


def argument_hint(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return `hint` for the name of an argument, which may also be a word of ARGUMENT_WORDS."""
    known = list(known)
    words = [word for word in ARGUMENT_WORDS.get(name, ()) if word in known]
    return f"; did you mean {words[0]}?" if words else hint(name, known, otherwise)


def with_hints(function: F) -> F:
    """Decorate a function so that its TypeError for an unknown argument names the argument that may be meant."""

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except (TypeError, AttributeError) as error:
            better = explained(error, function.__name__, inspect.signature(function).parameters, arguments)
            if better is None:
                raise
            raise better from None

    return cast("F", call)


def explained(
    error: TypeError | AttributeError, who: str, known: Iterable[str], arguments: tuple[Any, ...]
) -> TypeError | None:
    """Return an error with a hint, for an argument that is not `known` and for a model that is none; else None."""
    if isinstance(error, AttributeError):
        if "model" not in known or not arguments or error.obj is not arguments[0] or hasattr(error.obj, "evaluator"):
            return None
        what = repr(error.obj) if isinstance(error.obj, str) else f"a {type(error.obj).__name__}"
        return TypeError(f"{who}: model is {what}, expected a featherstorm.Model, as load(...) returns")
    begun = error.__traceback__ is not None and error.__traceback__.tb_next is not None
    found = re.search("unexpected keyword argument '(.*?)'", str(error))
    if begun or found is None:  # an error of the function itself
        return None
    return TypeError(f"{who}: there is no argument {found[1]!r}{argument_hint(found[1], known)}")


class Word:
    """Attribute of a class that raises AttributeError with the name that is meant. Reads of others cost nothing more."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text

    def __get__(self, of: object, kind: type) -> NoReturn:
        raise AttributeError(f"{kind.__name__!r} object has no attribute {self.name!r}; here it is {self.text}")


class Fixed:
    """Base of classes whose public attributes are set by their constructor alone. Others are refused, with a hint.

    Attributes may be set that are properties with a setter, named in `_settable`, or private (`_name`), and a function
    may replace a method. A subclass outside of this package may have attributes of its own. Methods here set public
    attributes by vars(self).update(...).

    _settable   names of public attributes that calls read anew
    _maker      the function that users call for the constructor; "": the class
    _way        the remedy where the constructor has no argument of that name
    """

    _settable: tuple[str, ...] = ()
    _maker = ""
    _way = "make another one"
    _fixed: frozenset[str] | None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, text in WORDS.get(cls.__name__, {}).items() if is_ours(cls) else ():
            setattr(cls, name, Word(name, text))
        if "__init__" in vars(cls) and is_ours(cls):
            cls.__init__ = fixing(cls.__init__)  # type: ignore[method-assign]

    def __setattr__(self, name: str, value: Any) -> None:
        fixed = vars(self).get("_fixed")
        if fixed is None or name.startswith("_") or name in self._settable:
            return object.__setattr__(self, name, value)
        there = inspect.getattr_static(type(self), name, None)
        if getattr(there, "fset", None) or (callable(there) and callable(value)):
            return object.__setattr__(self, name, value)
        known = constructor_arguments(type(self))
        if name not in fixed and name not in known and there is None and not is_ours(type(self)):
            return object.__setattr__(self, name, value)
        raise AttributeError(self._refusal(name, there, known))

    def _refusal(self, name: str, there: object, arguments: set[str]) -> str:
        """Return the message for an attribute that may not be set."""
        what = type(self).__name__
        if isinstance(there, Word):
            return f"{what} has no attribute {name!r}; here it is {there.text}"
        if name in arguments:
            return f"{what}: {name} cannot be set afterwards; give it to {self._maker or what}(..., {name}=...)"
        if there is not None or name in vars(self):
            return f"{what}: {name} cannot be set; {self._way}"
        settable = [x for x in dir(type(self)) if getattr(inspect.getattr_static(type(self), x), "fset", None)]
        return f"{what} has no attribute {name!r}{hint(name, [*settable, *self._settable, *vars(self), *arguments])}"

    def __dir__(self) -> list[str]:
        words = {name for kind in type(self).__mro__ for name, x in vars(kind).items() if isinstance(x, Word)}
        return [name for name in super().__dir__() if name not in words]


def is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == __package__


def constructor_arguments(kind: type) -> set[str]:
    """Return the names of the arguments of a class, those included that it passes on to its bases."""
    found: set[str] = set()
    for base in kind.__mro__[:-1]:
        if init := vars(base).get("__init__"):
            arguments = list(inspect.signature(init).parameters.values())[1:]
            found |= {p.name for p in arguments if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    return found


def fixing(init: Callable[..., None]) -> Callable[..., None]:
    """Return a constructor that ends by fixing the public attributes which it set."""

    @functools.wraps(init)
    def made(self: Fixed, *arguments: Any, **options: Any) -> None:
        own, before = vars(self), set(vars(self))
        own.setdefault("_fixed", None)
        try:
            init(self, *arguments, **options)
        except (TypeError, AttributeError) as error:
            better = explained(error, type(self).__name__, constructor_arguments(type(self)), arguments)
            if better is None:
                raise
            raise better from None
        if "_fixed" not in before:  # else it was called by the constructor of a subclass
            own["_fixed"] = frozenset(own) - before

    return made
