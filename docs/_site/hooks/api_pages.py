"""Reference pages: one a package, with every public name, and an index of all names.

Names are those of `veridical._homes` and of `veridical.plots`; what is said about them is read by
griffe from the source, without running it.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from veridical._homes import HOMES

# What all names of a package have in common.
SHARED = {
    "calibrators": "All of them have the methods of [`Calibrator`][veridical.Calibrator]: `fit`, "
    "`predict_proba`, `transform` and others; only what a class adds is listed with it.",
    "miscalibration": "Estimators are objects: options go to the constructor, data to the call, "
    "`BinnedError(norm=2)(y_true, y_prob)`.",
    "results": "Results are made by functions, not by hand. All of them print themselves, show "
    "themselves in notebooks, and have `to_dict`, `from_dict` and `to_frame`.",
}


class Name(NamedTuple):
    """A public name: how it is called, where it is described, and its package."""

    name: str
    path: str
    package: str


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the pages."""
    source = Path(config.config_file_path).parent / "src" / "veridical"
    names = public_names(source)
    for package in sorted({one.package for one in names}):
        held = [one for one in names if one.package == package]
        content = _page(package, held, source)
        files.append(File.generated(config, f"api/{package}.md", content=content))
    files.append(File.generated(config, "api/index.md", content=_index(names)))


def public_names(source: Path) -> list[Name]:
    """Every public name, in the order of its package."""
    names = [Name(name, f"veridical.{name}", package) for name, package in HOMES.items()]
    drawn = _all(source / "plots" / "__init__.py")
    return names + [Name(name, f"veridical.plots.{name}", "plots") for name in drawn]


def _all(path: Path) -> list[str]:
    """`__all__` of a module, functions before classes."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return sorted(ast.literal_eval(node.value), key=lambda name: name[0].isupper())
    message = f"{path} has no __all__"
    raise ValueError(message)


def _docstring(package: str, source: Path) -> str:
    folder = source / package
    path = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def _page(package: str, names: list[Name], source: Path) -> str:
    title, _, rest = _docstring(package, source).partition("\n\n")
    links = ", ".join(f"[`{one.name}`][{one.path}]" for one in names)
    shared = SHARED.get(package, "")
    parts = [f"# {package}", _plain(title), _plain(rest), shared, links]
    parts += [f"::: {one.path}" for one in names]
    return "\n\n".join(part for part in parts if part) + "\n"


def _plain(text: str) -> str:
    return text.replace("``", "`")


def _index(names: list[Name]) -> str:
    lines = [
        "# All public names",
        "",
        "`import veridical` finds all of them but the figures, which are in `veridical.plots`.",
        "Names within a package load it on first use.",
        "",
        "| name | package |",
        "|---|---|",
    ]
    for one in sorted(names, key=lambda one: one.name.lower()):
        shown = one.path.removeprefix("veridical.")
        lines.append(f"| [`{shown}`][{one.path}] | [{one.package}]({one.package}.md) |")
    return "\n".join(lines) + "\n"
