"""All shapes. Each module has a `SHAPE`; deleting its file removes the shape."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from bethink.features.guard.shape import Shape


@cache
def all_shapes() -> Mapping[str, Shape]:
    """Return the shapes by name, the most specific first."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    shapes: list[Shape] = [module.SHAPE for module in modules]
    return {shape.name: shape for shape in sorted(shapes, key=lambda shape: shape.order)}
