"""A device that is none: tensors on it are this machine's, but nothing may mix them with others.

On a GPU, torch refuses an operation of which one tensor is there and another here, numpy cannot
read what is there, and compiled loops must not. So it is with tensors on the device `meta` within
`pretending()`. Their numbers are computed by the CPU: what a GPU computes, nobody can say here.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

THERE = torch.device("meta")
# What takes places (ids) from here as well as from there, on a GPU too.
TAKES_BOTH = ("aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_")


class MixedError(AssertionError):
    """An operation met tensors of both devices."""


class There(torch.Tensor):
    """A tensor that says it is elsewhere."""

    @staticmethod
    def __new__(cls, here):
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            here.shape,
            strides=here.stride(),
            storage_offset=here.storage_offset(),
            dtype=here.dtype,
            device=THERE,
            requires_grad=here.requires_grad,
        )
        made.here = here
        return made

    def tolist(self):
        return self.here.tolist()

    def numpy(self, **options):
        raise MixedError("numpy cannot read what is there")

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return _done(func, args, kwargs or {})


class _Pretending(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return _done(func, args, kwargs or {})


@contextmanager
def pretending() -> Iterator[None]:
    with _Pretending():
        yield


def _done(func, args, kwargs):
    given = [x for x in tree_flatten((args, kwargs))[0] if isinstance(x, torch.Tensor)]
    there = [x for x in given if isinstance(x, There)]
    wanted = kwargs.get("device")
    name = func._schema.name
    if wanted is None:
        to = bool(there)
        copies = name in ("aten::copy_", "aten::_foreach_copy_")  # from one device to the other
        alone = [x for x in given if not isinstance(x, There) and x.dim()]
        if there and alone and not copies and name not in TAKES_BOTH:
            raise MixedError(f"{name}: {len(there)} tensors there, {len(alone)} here")
    else:
        to = torch.device(wanted) == THERE
        kwargs = {**kwargs, "device": torch.device("cpu")}
    inner = {id(x.here): x for x in there}
    args, kwargs = tree_map(lambda x: x.here if isinstance(x, There) else x, (args, kwargs))
    found = func(*args, **kwargs)

    def back(x):
        if not isinstance(x, torch.Tensor):
            return x
        if id(x) in inner:  # changed in place
            return inner[id(x)]
        return There(x) if to else x

    return tree_map(back, found)
