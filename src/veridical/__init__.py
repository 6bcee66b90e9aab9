"""Probabilities that mean what they say.

`veridical` measures how far predicted class probabilities are from the truth. Start with
:func:`evaluate`. ``dir(veridical)`` lists what is used most; the rooms (`veridical.results`,
`veridical.calibrators`, `veridical.inference`, ...) hold the rest.
"""

from veridical._core.version import __version__ as __version__

# Names stand once, in `__init__.pyi` beside this file: those on top, and the module that holds
# each. The file is read when the first name is asked for, and a module is imported when a name of
# it is, so that importing the package loads nothing.
_on_top: list[str] = []
_homes: dict[str, str] = {}


def _read_stub() -> None:
    """Read the list and the imports of the stub."""
    import ast

    homes: dict[str, str] = {}
    for statement in ast.parse(__spec__.loader.get_data(f"{__path__[0]}/__init__.pyi")).body:
        if isinstance(statement, ast.ImportFrom):
            homes.update(dict.fromkeys((each.name for each in statement.names), statement.module))
        elif isinstance(statement, ast.Assign):
            _on_top[:] = ast.literal_eval(statement.value)
    _homes.update(homes)


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "__all__":
        return __dir__()
    if not _homes:
        _read_stub()
    home = _homes.get(name)
    if home is None:
        from veridical._core.runtime.moved import moved_error

        moved = moved_error(f"{__name__}.{name}")
        if moved is not None:
            raise moved
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    if home == __name__:  # a room
        return import_module(f"{home}.{name}")
    value = getattr(import_module(home), name)
    getattr(value, "__sklearn_tags__", None)  # a calibrator is an estimator for whoever has it
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    if not _homes:
        _read_stub()
    return list(_on_top)
