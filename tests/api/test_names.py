"""The public names: few on top, all importable, documented, and listed the same everywhere."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from public_names import HOMES, NAMES, ON_TOP, ROOMS, STUB

import veridical

SOURCE = Path(veridical.__file__)
PACKAGES = sorted(
    f"veridical.{module.name}"
    for module in pkgutil.iter_modules(veridical.__path__)
    if module.ispkg and not module.name.startswith("_")
)
MOST_ON_TOP = 90


def test_the_list_on_top_is_short_sorted_and_without_repeats():
    assert len(veridical.__all__) <= MOST_ON_TOP
    assert veridical.__all__ == sorted(set(veridical.__all__))


def test_there_is_one_list():
    assert veridical.__all__ == dir(veridical) == ON_TOP
    assert set(ON_TOP) <= {*NAMES, "__version__"}


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_a_room_is_found_without_being_imported(room):
    # Not `getattr`: an import of the room, anywhere, sets the attribute.
    assert veridical.__getattr__(room) is importlib.import_module(f"veridical.{room}")


@pytest.mark.parametrize("name", NAMES)
def test_the_home_of_a_name_lists_it_too(name):
    home = importlib.import_module(f"veridical.{HOMES[name]}")
    assert name in home.__all__
    assert getattr(home, name) is getattr(veridical, name)


def test_type_checkers_accept_every_name_on_top_or_not(tmp_path):
    """Names that are not listed must be re-exported by the stub in so many words."""
    program = tmp_path / "program.py"
    program.write_text(
        f"import veridical\nfrom veridical import {', '.join(NAMES)}\n"
        + "\n".join(f"veridical.{name}" for name in (*NAMES, *ROOMS, "__version__"))
    )
    # Rooms are not followed, which takes a minute: that they hold the names is tested above.
    options = ["--strict", "--follow-imports=skip", f"--cache-dir={tmp_path}"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(STUB), str(program)],
        cwd=STUB.parents[2],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def test_a_star_import_brings_every_public_name():
    namespace: dict[str, object] = {}
    exec("from veridical import *", namespace)
    assert set(veridical.__all__) <= set(namespace)


def test_names_are_found_in_an_archive(tmp_path):
    root, archive = SOURCE.parent, tmp_path / "library.zip"
    with zipfile.ZipFile(archive, "w") as written:
        for path in (SOURCE, STUB, root / "exceptions.py", *(root / "_core").glob("*.py")):
            written.write(path, path.relative_to(root.parent))
    code = "import veridical as v; print(v.__file__, len(dir(v)), v.VeridicalError.__name__)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(archive)},
        capture_output=True,
        text=True,
        check=True,
    )
    place, count, error = done.stdout.split()
    assert place.startswith(str(archive))
    assert (int(count), error) == (len(ON_TOP), "VeridicalError")


def test_an_unknown_name_is_an_attribute_error_that_names_it():
    with pytest.raises(AttributeError, match="'veridical' has no attribute 'expected_calibratoin'"):
        _ = veridical.expected_calibratoin


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_is_documented(name):
    thing = getattr(veridical, name)
    text = thing.__doc__ or ""
    assert len(text.split()) >= 5
    for base in getattr(thing, "__mro__", (None,))[1:]:
        assert thing.__doc__ != base.__doc__, "the docstring must be its own"
    # A dataclass without a docstring gets its signature as one.
    assert not text.startswith(f"{name}(")


@pytest.mark.parametrize("name", NAMES)
def test_public_methods_are_documented(name):
    thing = getattr(veridical, name)
    if not inspect.isclass(thing):
        return
    for attribute, value in vars(thing).items():
        if attribute.startswith("_") or not (callable(value) or isinstance(value, property)):
            continue
        if inspect.isfunction(value) or isinstance(value, (property, classmethod)):
            assert inspect.getdoc(getattr(thing, attribute)), f"{name}.{attribute}"


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_lists_what_it_offers(package):
    module = importlib.import_module(package)
    assert module.__doc__
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        assert getattr(module, name) is not None


def test_the_version_is_the_installed_one():
    from importlib.metadata import version

    assert veridical.__version__ == version("veridical")


def test_the_package_says_it_is_typed():
    assert (SOURCE.parent / "py.typed").is_file()
