"""Arrays in and out: arrays of any library become numpy views of the same memory, results go back to that library.

An argument is (n,) for one instance or (B, n) for a batch; where the others are batches, (n,) and (1, n) stand for all
instances (no copy: a stride of zero). Arrays that are read row by row are copied by the engine in small blocks.
"""

import sys

import numpy as np

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
CPU_DEVICES = (1, 3)  # DLPack: kDLCPU, kDLCUDAHost


def library_of(x):
    """'numpy', 'torch', 'jax', 'other' for any array with DLPack, or None for lists and numbers."""
    if isinstance(x, (np.ndarray, np.generic)):
        return "numpy"
    root = type(x).__module__.partition(".")[0]
    if root == "torch":
        return "torch"
    if root in ("jax", "jaxlib"):
        return "jax"
    return "other" if hasattr(x, "__dlpack__") or hasattr(x, "__array__") else None


def to_numpy(x, what, list_dtype=np.float64):
    """A numpy view of an array on the CPU; `what` begins the messages ("rnea: q")."""
    library = library_of(x)
    if library == "numpy":
        array = np.asarray(x)
    elif library == "torch":
        array = from_torch(x, what)
    elif library == "jax":
        array = from_jax(x, what)
    elif library == "other":
        array = from_dlpack(x, what)
    else:
        if x is None:
            raise TypeError(f"{what} is None, expected an array")
        try:
            array = np.asarray(x, dtype=list_dtype)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{what} is a {type(x).__name__} that is no array of numbers: {error}") from None
    if array.dtype not in FLOATS:
        raise TypeError(f"{what} is {array.dtype}, expected float32 or float64")
    if not array.flags.aligned or any(s % array.itemsize for s in array.strides):
        array = array.copy()
    return array


def from_torch(x, what):
    if x.device.type != "cpu":
        raise no_device(what, x.device)
    if x.requires_grad:
        raise TypeError(f"{what} requires a gradient, and operations have none in PyTorch: pass it with .detach()")
    if str(x.dtype) not in ("torch.float32", "torch.float64"):
        raise TypeError(f"{what} is {x.dtype}, expected torch.float32 or torch.float64")
    return x.numpy()


def from_jax(x, what):
    import jax

    if isinstance(x, jax.core.Tracer):
        raise TypeError(
            f"{what} is a value under jax.jit, grad or vmap: call featherstorm outside of it, "
            "or through jax.pure_callback"
        )
    platforms = {device.platform for device in x.devices()}
    if platforms != {"cpu"}:
        raise no_device(what, ", ".join(sorted(platforms)))
    return np.asarray(x)


def from_dlpack(x, what):
    if hasattr(x, "__dlpack_device__") and int(x.__dlpack_device__()[0]) not in CPU_DEVICES:
        raise no_device(what, f"DLPack device {x.__dlpack_device__()}")
    try:
        return np.from_dlpack(x) if hasattr(x, "__dlpack__") else np.asarray(x)
    except (BufferError, RuntimeError):
        return np.asarray(x)


def no_device(what, device):
    return ValueError(
        f"{what} lies on {device}, and this build of featherstorm has no backend for it: move it to the CPU"
    )


def from_numpy(array, like):
    """A result for a user whose first array was `like`; numpy, PyTorch and most others get a view, JAX a copy."""
    library = library_of(like)
    if library == "torch":
        return sys.modules["torch"].from_numpy(array)
    if library == "jax":
        import jax.numpy

        return jax.numpy.asarray(array)
    if library == "other" and hasattr(like, "__array_namespace__"):
        return like.__array_namespace__().from_dlpack(array)
    return array


def shape_error(op, name, got, expected):
    shape = ", ".join(str(n) for n in expected) + ("," if len(expected) == 1 else "")
    return ValueError(f"{op}: {name} has shape {tuple(int(n) for n in got)}, expected ({shape})")


class Arguments:
    """The arrays of one call, made equal in batch size and dtype.

    rows: (name, components) of each; tails: the shapes that stand for `components` in public arrays, such as (nb, 6).
    """

    def __init__(self, op, arguments, rows, tails=None):
        self.like = next((x for x in arguments if library_of(x)), None)
        tails = tails or {}
        arrays, first = [], None
        lead = None  # the first array of a library decides the dtype of all
        for (name, _), x in zip(rows, arguments):
            if library_of(x):
                lead = name, to_numpy(x, f"{op}: {name}").dtype
                break
        self.dtype = lead[1] if lead else np.dtype(np.float64)
        for (name, n), x in zip(rows, arguments):
            array = to_numpy(x, f"{op}: {name}", self.dtype)
            if array.dtype != self.dtype:
                raise TypeError(f"{op}: {name} is {array.dtype}, expected {self.dtype} as {lead[0]} is")
            tail = tails.get(name, (n,))
            k = array.ndim - len(tail)
            if k > 1 or (k < 0 and array.ndim != 1):
                raise shape_error(op, name, array.shape, ("batch", *tail))
            if k < 0 or array.shape[k:] != tail:  # the flat form is an array too
                if array.shape[-1] != n or array.ndim > 2 or len(tail) == 1:
                    batch = array.shape[:1] if array.ndim > 1 or k == 1 else ()
                    raise shape_error(op, name, array.shape, (*batch, *tail))
            else:
                array = array.reshape(*array.shape[:k], n)
            arrays.append(array)
            if first is None and array.ndim == 2 and array.shape[0] != 1:
                first = array.shape[0]
        self.batched = any(a.ndim == 2 for a in arrays)
        self.instances = 1 if first is None else first
        self.arrays = []
        for (name, n), array in zip(rows, arrays):
            if array.ndim == 2 and array.shape[0] not in (1, self.instances):
                raise shape_error(op, name, array.shape, (self.instances, *tails.get(name, (n,))))
            if array.ndim == 1 or array.shape[0] != self.instances:
                array = np.broadcast_to(array, (self.instances, n))
            self.arrays.append(array)

    def result(self, view):
        """A view (instances, ...) as the user gets it."""
        return from_numpy(view if self.batched else view[0], self.like)
