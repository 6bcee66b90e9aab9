"""Reference pages: one per room and one for the lab, and an index of the names on top.

Names are those of each room's `__all__`; what is said about them is read by griffe from the source.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import veridical

# What all names of a room have in common.
SHARED = {
    "calibrators": "Start with [`AutoCalibrator`][veridical.AutoCalibrator], which averages those "
    "that suit the data. All of them have the methods of [`Calibrator`][veridical.Calibrator]: "
    "`fit`, `predict_proba`, `transform` and others; only what a class adds is listed with it.",
    "miscalibration": "Estimators are objects: options go to the constructor, data to the call, "
    "`BinnedError(norm=2)(y_true, y_prob)`.",
    "results": "Results are made by functions, not by hand. All of them print themselves, show "
    "themselves in notebooks, and have `to_dict`, `from_dict` and `to_frame`.",
}
INDEX = """\
# Names on top

What is used most is found by `import veridical`; `dir(veridical)` lists it. Each name lives in a
room, which is loaded on first use. A room has more names than these: its page shows all of them.

| name | room |
|---|---|
"""
LAB = """\
# The lab

`veridical_lab` is the package of the distribution veridical-lab: experiments that reproduce papers,
and what only papers need. In a checkout of veridical, `pip install ./packages/lab` installs it.
"""
# Modules of the lab whose names have an entry on its page.
LAB_MODULES = ("__init__", "simulation", "plots")
ROOMS = """
## Rooms

| room | what is there |
|---|---|
"""


class Name(NamedTuple):
    """A public name: how it is called, where it is described, and its room."""

    name: str
    path: str
    room: str


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the pages."""
    source = Path(config.config_file_path).parent / "src" / "veridical"
    pages: dict[str, list[Name]] = {}
    for one in public_names(source):
        pages.setdefault(one.room, []).append(one)
    for room, names in pages.items():
        content = _page(room, names, source)
        files.append(File.generated(config, f"api/{room}.md", content=content))
    lab = Path(config.config_file_path).parent / "packages" / "lab" / "src" / "veridical_lab"
    files.append(File.generated(config, "api/lab.md", content=_lab_page(lab)))
    files.append(File.generated(config, "api/index.md", content=_index(pages, source)))


def public_names(source: Path) -> list[Name]:
    """Every name of every room; those the package finds as well are described as its own."""
    dir(veridical)  # reads where names live
    homes = veridical._homes
    names = []
    for room in sorted(name for name, home in homes.items() if home == "veridical"):
        if room == "frames":  # read by other rooms, not by users
            continue
        for name in _all(_module(room, source)):
            own = homes.get(name) == f"veridical.{room}"
            path = f"veridical.{name}" if own else f"veridical.{room}.{name}"
            names.append(Name(name, path, room))
    return names


def _module(room: str, source: Path) -> ast.Module:
    folder = source / room
    path = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def _all(module: ast.Module) -> list[str]:
    """`__all__` of a module, functions before classes."""
    for node in module.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return sorted(ast.literal_eval(node.value), key=lambda name: name[0].isupper())
    message = "a room has no __all__"
    raise ValueError(message)


def _docstring(room: str, source: Path) -> tuple[str, str]:
    """First paragraph, and the rest."""
    text = (ast.get_docstring(_module(room, source)) or "").replace("``", "`")
    title, _, rest = text.partition("\n\n")
    return title, rest


def _page(room: str, names: list[Name], source: Path) -> str:
    links = ", ".join(f"[`{one.name}`][{one.path}]" for one in names)
    parts = [f"# {room}", *_docstring(room, source), SHARED.get(room, ""), links]
    parts += [f"::: {one.path}" for one in names]
    return "\n\n".join(part for part in parts if part) + "\n"


def _lab_page(source: Path) -> str:
    paths = [
        f"veridical_lab.{name}" if module == "__init__" else f"veridical_lab.{module}.{name}"
        for module in LAB_MODULES
        for name in _all(_module(module, source))
    ]
    links = ", ".join(f"[`{path.removeprefix('veridical_lab.')}`][{path}]" for path in paths)
    return "\n\n".join([LAB, links, *(f"::: {path}" for path in paths)]) + "\n"


def _index(pages: dict[str, list[Name]], source: Path) -> str:
    on_top = [
        f"| [`{one.name}`][{one.path}] | [{one.room}]({one.room}.md) |"
        for names in pages.values()
        for one in names
        if one.path == f"veridical.{one.name}" and one.name in dir(veridical)
    ]
    rooms = [
        f"| [{room}]({room}.md) | {' '.join(_docstring(room, source)[0].split())} |"
        for room in pages
    ]
    rooms.append("| [lab](lab.md) | The distribution veridical-lab: papers, reproduced. |")
    listed = sorted(on_top, key=str.lower)
    return INDEX + "\n".join(listed) + "\n" + ROOMS + "\n".join(rooms) + "\n"
