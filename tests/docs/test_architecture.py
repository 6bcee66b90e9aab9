"""The page on how the code is laid out speaks of the rooms, floors and files that there are."""

from __future__ import annotations

import re
import tomllib

from docs.blocks import ROOT

SOURCE = ROOT / "src" / "veridical"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
ROOMS = {path.parent.name for path in SOURCE.glob("*/__init__.py")}


def _floors():
    """Names in the picture that are rooms, floor by floor, from the top."""
    picture = PAGE.partition("```\n")[2].partition("```")[0]
    for floor in re.split(r"\+-+\+", picture):
        named = re.findall(r"\w+", floor.strip(" |\n").partition("\n")[0])
        rooms = [word for word in named if word in ROOMS]
        if rooms:
            yield rooms


def test_the_picture_has_the_floors_of_the_contract():
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = contract["tool"]["importlinter"]["contracts"][0]["layers"]
    floors = [set(re.findall(r"\w+", layer)) for layer in layers]
    drawn = list(_floors())
    # A command line may import the studio, exceptions belong to the ground floor: one line each.
    joined = [floors[0] | floors[1], *floors[2:-2], floors[-2]]
    assert [set(rooms) for rooms in drawn] == joined
    assert set().union(*map(set, drawn)) == ROOMS


def test_paths_on_the_page_are_there():
    named = re.findall(r"`([\w./]+)`", PAGE)
    paths = [name for name in named if "/" in name or name.endswith((".md", ".pyi"))]
    assert len(paths) > 20
    for path in paths:
        if "NAME" not in path:
            assert (ROOT / path).exists() or (SOURCE / path).exists(), path


def test_doors_on_the_page_are_there():
    for room, door in re.findall(r"`(\w+)\.(\w+)`", PAGE):
        if room in ROOMS:
            assert (SOURCE / room / f"{door}.py").exists(), f"{room}.{door}"
