"""Named views: one object's part of the arrays of a batch, as data.joint("hinge").qpos is of data.qpos."""

from __future__ import annotations

from functools import partialmethod
from typing import Any

import numpy as np

from .._fields.table import COMPONENTS, DATA_FIELDS, MODEL_FIELDS
from ..device import DeviceArray
from .arguments import UsageError, nearest

# kinds of objects, and whether mjData has numbers of them too
KINDS = {
    **dict.fromkeys(("actuator", "body", "camera", "geom", "joint", "light", "sensor", "site", "tendon"), True),
    **dict.fromkeys(("equality", "keyframe", "material", "numeric", "pair"), False),
}
# composed of several fields at each read
COMPUTED = {("actuator", "moment")}


def structural(field: str, part: np.ndarray[Any, Any]) -> bool:
    """Return True if a field of a model holds addresses, counts, kinds or indices, which simulations share."""
    whole = part.dtype.kind in "iu"
    return whole and field.endswith(("adr", "num", "id", "type")) and not field.endswith("contype")


def holder(of: Any, names: frozenset[str], part: np.ndarray[Any, Any]) -> str | None:
    """Return the field of an mjData or mjModel that has the memory of `part`."""
    first = part.ctypes.data
    for name in sorted(names):
        field = getattr(of, name, None)
        if isinstance(field, np.ndarray) and field.size and field.dtype == part.dtype:
            begin = field.ctypes.data
            if begin <= first and first + part.nbytes <= begin + field.nbytes:
                return name
    return None


def slice_of(rows: Any, field: np.ndarray[Any, Any], part: np.ndarray[Any, Any]) -> Any:
    """Return the view of `rows` (nsim, *field.shape) that corresponds to `part` of `field`."""
    first = (part.ctypes.data - field.ctypes.data) // field.itemsize
    if isinstance(rows, DeviceArray):
        return rows.part(first, part.shape)
    nsim = len(rows)
    if field.ndim < 2:
        return rows.reshape(nsim, -1)[:, first : first + part.size].reshape(nsim, *part.shape)
    width = field[0].size
    if part.size <= width:  # within a row of the field
        flat = rows.reshape(nsim, len(field), width)
        return flat[:, first // width, first % width : first % width + part.size].reshape(nsim, *part.shape)
    return rows.reshape(nsim, len(field), width)[:, first // width : (first + part.size) // width].reshape(
        nsim, *part.shape
    )


class Named:
    """Named view of one object.

    Attributes of mjData are bound when they are read. Attributes of mjModel are per simulation where they were
    expanded, else the model's; assignment expands them.
    """

    id: int
    name: str

    def __init__(self, batch: Any, kind: str, key: int | str) -> None:
        model = getattr(batch.model, kind)(key)
        data = getattr(batch.template, kind)(key) if KINDS[kind] else None
        fields = {"_batch": batch, "_kind": kind, "_model": model, "_data": data, "id": model.id, "name": model.name}
        self.__dict__.update(fields)

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return self._part(attribute, False)

    def __setattr__(self, attribute: str, value: Any) -> None:
        if attribute in ("id", "name") or attribute.startswith("_"):
            raise AttributeError(f"{attribute} is read-only")
        self._part(attribute, True)[...] = value

    def _part(self, attribute: str, write: bool) -> Any:
        """Return the (nsim, ...) part of the arrays."""
        computed = (self._kind, attribute) in COMPUTED
        found = computed
        if not computed and (part := getattr(self._data, attribute, None)) is not None and isinstance(part, np.ndarray):
            if not part.size:
                return self._empty(part)
            if (field := holder(self._batch.template, DATA_FIELDS, part)) is not None:
                return self._of_data(field, part, write, attribute)
            found = True
        part = getattr(self._model, attribute, None)
        if isinstance(part, np.ndarray):
            if not part.size:
                return self._empty(part)
            if (field := holder(self._batch.model, MODEL_FIELDS, part)) is not None:
                return self._of_model(field, part, write, attribute)
            found = True
        if found:
            raise AttributeError(f"{self._kind} {attribute} is not a slice of a field that the batch binds or expands")
        names = {*dir(self._model), *dir(self._data)}
        raise AttributeError(f"{attribute} is not a field of a {self._kind}{nearest(attribute, names)}")

    def _empty(self, part: np.ndarray[Any, Any]) -> Any:
        found = np.empty((self._batch.nsim, *part.shape), part.dtype)
        found.flags.writeable = False
        return found

    def _of_data(self, field: str, part: np.ndarray[Any, Any], write: bool, attribute: str) -> Any:
        if write and field not in COMPONENTS:
            raise UsageError(f"{self._kind} {attribute} is computed by every call and cannot be written")
        return slice_of(self._batch.bind(field), getattr(self._batch.template, field), part)

    def _of_model(self, field: str, part: np.ndarray[Any, Any], write: bool, attribute: str) -> Any:
        batch = self._batch
        if batch.models is not None:
            if write:
                raise UsageError(f"{field} is of the caller's models (set_models): change them and set them again")
            views = [getattr(batch.model_of(i), self._kind)(self.id) for i in range(batch.nsim)]
            found = np.stack([getattr(view, attribute) for view in views])
            found.flags.writeable = False
            return found
        if structural(field, part) and batch.expanded(field) is None:
            if write:
                raise UsageError(f"{field} is structural: it cannot differ between simulations")
            return np.broadcast_to(part, (batch.nsim, *part.shape))
        if write:
            batch.expand(field)
        rows = batch.values(field)
        if rows is None:
            return np.broadcast_to(part, (batch.nsim, *part.shape))
        return slice_of(rows, getattr(batch.model, field), part)


class NamedViews:
    """The parts of a batch by kind and name or number of an object: batch.joint("hinge")."""

    actuator = partialmethod(Named, "actuator")
    body = partialmethod(Named, "body")
    camera = partialmethod(Named, "camera")
    equality = partialmethod(Named, "equality")
    geom = partialmethod(Named, "geom")
    joint = partialmethod(Named, "joint")
    keyframe = partialmethod(Named, "keyframe")
    light = partialmethod(Named, "light")
    material = partialmethod(Named, "material")
    numeric = partialmethod(Named, "numeric")
    pair = partialmethod(Named, "pair")
    sensor = partialmethod(Named, "sensor")
    site = partialmethod(Named, "site")
    tendon = partialmethod(Named, "tendon")
