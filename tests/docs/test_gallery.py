"""The gallery shows every figure, its page fits its code, and what pages refer to exists."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import struct
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
from docs.blocks import blocks_of
from matplotlib import pyplot as plt

from veridical import plots
from veridical_lab import plots as lab_plots

DOCS = Path(__file__).parents[2] / "docs"
SLOW = {"convergence", "density", "requirements", "trajectory"}  # seconds of draws each


@pytest.fixture(scope="module")
def gallery():
    """The module that makes the gallery, found as when it is run as a script."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS / "gallery"))
        yield importlib.import_module("make_gallery")


def test_every_figure_is_in_the_gallery(gallery):
    code = "".join(gallery.snippet(one.draw) for one in gallery.entries())
    drawing = [name for name in plots.__all__ if inspect.isfunction(getattr(plots, name))]
    assert len(drawing) > 10
    assert [name for name in drawing if f"plots.{name}(" not in code] == []
    lab = [name for name in lab_plots.__all__ if inspect.isfunction(getattr(lab_plots, name))]
    assert len(lab) == 5
    assert [name for name in lab if f"lab_plots.{name}(" not in code] == []


def test_the_page_is_that_of_the_code(gallery):
    hint = "run `python docs/gallery/make_gallery.py --text`"
    assert (DOCS / "gallery.md").read_text(encoding="utf-8") == gallery.page(), hint


def test_two_sentences_to_read_it_and_one_on_how_it_misleads(gallery):
    def sentences(text):
        return len(re.findall(r"[.?!](?:\s|$)", text))

    for one in gallery.entries():
        assert (sentences(one.read), sentences(one.misleads)) == (2, 1), one.slug


def test_snippets_run_outside_a_function(gallery):
    for one in gallery.entries():
        compile(gallery.snippet(one.draw), one.slug, "exec")  # a return left over would not


@pytest.mark.parametrize("page", ["gallery.md", "side-by-side.md"])
def test_images_exist_and_are_small(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    paths = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)
    assert len(paths) == len(set(paths)) >= 12
    for path in paths:
        content = (DOCS / path).read_bytes()
        assert content.startswith(b"\x89PNG")
        assert len(content) < 120_000, path
        width, height = struct.unpack(">II", content[16:24])  # of the header
        assert 200 < width < 1100, path
        assert 200 < height < 1100, path


def test_no_image_is_left_over():
    shown = "".join((DOCS / page).read_text("utf-8") for page in ("gallery.md", "side-by-side.md"))
    images = [path.relative_to(DOCS).as_posix() for path in (DOCS / "gallery").rglob("*.png")]
    assert [path for path in images if f"({path})" not in shown] == []


def test_anchors_and_neighbouring_pages_exist():
    for page in ("gallery.md", "side-by-side.md"):
        text = (DOCS / page).read_text(encoding="utf-8")
        for target in re.findall(r"(?<!!)\[[^\]]+\]\(([^)]+)\)", text):
            if target.startswith("#"):
                assert f'<a id="{target[1:]}">' in text, target
            else:
                assert (DOCS / target).exists(), target


def test_versions_beside_the_comparison_are_those_that_drew_it():
    text = (DOCS / "side-by-side.md").read_text(encoding="utf-8")
    versions = json.loads((DOCS / "gallery" / "side_by_side" / "versions.json").read_text("utf-8"))
    named = {"pycalib": "PyCalib"}
    assert len(versions) == 7
    for package, version in versions.items():
        assert f"{named.get(package, package)} {version}" in text


@pytest.fixture(scope="module")
def space():
    """Names that the blocks of the page have made so far; they run in order."""
    return {}


@pytest.mark.parametrize("part", [0, 1])
def test_the_page_runs_and_draws_without_warnings(gallery, space, part):
    slow = [gallery.snippet(one.draw) for one in gallery.entries() if one.slug in SLOW]
    text = gallery.page()
    start = text.index(f"## {gallery.PARTS[part].title}\n") if part else 0
    end = text.index(f"## {gallery.PARTS[1].title}\n") if part == 0 else len(text)
    for block in blocks_of(text[start:end]):
        code = block.code.rstrip("\n")
        if code not in slow:
            plt.close("all")
            exec(compile(code, block.code.splitlines()[0], "exec"), space)
            figures = _drawn(space)
            assert len(figures) == ("plots." in code), code
            for figure in figures:
                figure.draw_without_rendering()
                assert figure.axes, code
    plt.close("all")


def _drawn(space):
    """Figures that the last block made: those of pyplot, and its own."""
    own = space.pop("figure", None)
    return [*map(plt.figure, plt.get_fignums()), *([own] if own is not None else [])]


@pytest.mark.slow
@pytest.mark.parametrize("slug", sorted(SLOW))
def test_pictures_of_many_estimates_are_drawn_without_warnings(gallery, slug):
    (one,) = [one for one in gallery.entries() if one.slug == slug]
    one.draw().draw_without_rendering()
    plt.close("all")


def test_the_same_figure_is_the_same_file(gallery, tmp_path):
    (one,) = [one for one in gallery.entries() if one.slug == "bin-centre"]
    for name in ("a.png", "b.png"):
        gallery.save(one.draw(), tmp_path / name)
    content = (tmp_path / "a.png").read_bytes()
    assert content == (tmp_path / "b.png").read_bytes()
    assert b"tEXt" not in content  # no date, no version
