"""The public names: sorted, importable, documented, and listed the same everywhere."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import veridical

SOURCE = Path(veridical.__file__)
PACKAGES = sorted(
    f"veridical.{module.name}"
    for module in pkgutil.iter_modules(veridical.__path__)
    if module.ispkg and not module.name.startswith("_")
)
DOCUMENTED = [name for name in veridical.__all__ if name != "__version__"]


def _type_checking_imports() -> dict[str, str]:
    """Name -> package, as the imports for type checkers say."""
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    guard = next(
        node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node)
    )
    found = {}
    for node in guard.body:
        assert isinstance(node, ast.ImportFrom)
        package = str(node.module).removeprefix("veridical.")
        found |= {alias.asname or alias.name: package for alias in node.names}
    return found


def test_all_is_sorted_without_repeats():
    assert veridical.__all__ == sorted(set(veridical.__all__))


def test_lazy_names_are_exactly_the_public_ones():
    assert {*veridical.HOMES, "__version__"} == set(veridical.__all__)


def test_type_checkers_see_the_names_and_homes_users_get():
    assert _type_checking_imports() == veridical.HOMES


@pytest.mark.parametrize("name", veridical.__all__)
def test_every_public_name_is_importable_and_listed(name):
    assert getattr(veridical, name) is not None
    assert name in dir(veridical)


@pytest.mark.parametrize("name", veridical.HOMES)
def test_the_home_of_a_name_lists_it_too(name):
    home = importlib.import_module(f"veridical.{veridical.HOMES[name]}")
    assert name in home.__all__
    assert getattr(home, name) is getattr(veridical, name)


def test_a_star_import_brings_every_public_name():
    namespace: dict[str, object] = {}
    exec("from veridical import *", namespace)
    assert set(veridical.__all__) <= set(namespace)


def test_an_unknown_name_is_an_attribute_error_that_names_it():
    with pytest.raises(AttributeError, match="'veridical' has no attribute 'expected_calibratoin'"):
        _ = veridical.expected_calibratoin


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_public_name_is_documented(name):
    thing = getattr(veridical, name)
    text = thing.__doc__ or ""
    assert len(text.split()) >= 5
    for base in getattr(thing, "__mro__", (None,))[1:]:
        assert thing.__doc__ != base.__doc__, "the docstring must be its own"
    # A dataclass without a docstring gets its signature as one.
    assert not text.startswith(f"{name}(")


@pytest.mark.parametrize("name", DOCUMENTED)
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
