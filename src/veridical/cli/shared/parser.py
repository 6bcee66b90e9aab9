"""A parser that is told its arguments when they are needed."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from importlib import import_module

TYPE_CHECKING = False  # as in `typing`, which takes as long to import as the parser itself
if TYPE_CHECKING:
    from typing import Any, NoReturn

BAD_INPUT = 2


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of texts apart that are apart, and fits them to the terminal."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        from veridical.cli.shared.help import fill_help

        return fill_help(text, width)


class Parser(argparse.ArgumentParser):
    """Parser of a command, which reports usage errors in one line.

    Parameters
    ----------
    module : where the command lives in `veridical.cli.commands`: imported, and asked by
        ``add_arguments(parser)`` for description, arguments and what to run, when words are parsed
        or `fill` is called; None for a parser that is made in one go
    options : as `argparse.ArgumentParser` takes them; help keeps its lines as they are
    """

    def __init__(self, *, module: str | None = None, **options: Any) -> None:
        super().__init__(**{"formatter_class": HelpFormatter} | options)
        self._module = module
        self.example = ""  # what help begins with; default: the first example of the epilog

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and stop."""
        from veridical._core.runtime.text import printable, without_password

        said = without_password(message)
        text = printable(f"{self.prog}: error: {said} (see `{self.prog} --help`)")
        self.exit(BAD_INPUT, f"{text}\n")

    def format_help(self) -> str:
        """The one example that most people need, and then all there is to know."""
        import shutil

        from veridical.cli.shared.help import first_example

        width = shutil.get_terminal_size().columns
        example = first_example(self.example or self.epilog or "", width)
        return f"{example}\n\n{super().format_help()}".lstrip("\n")

    def parse_known_args(
        self, args: Iterable[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse, with the arguments of this command and of no other."""
        self._add_arguments()
        found, rest = super().parse_known_args(args, namespace)
        if "command" not in found:  # the innermost one is parsed first
            found.command = self.prog.removeprefix("veridical ")
            named = [action for action in self._actions if action.option_strings]
            found.options = {action.dest: action.option_strings[-1] for action in reversed(named)}
        return found, rest

    def add_commands(
        self, summaries: Mapping[str, str], *, title: str, metavar: str, prefix: str = ""
    ) -> None:
        """Add commands by name and what each does in one line; the name is that of its module."""
        commands = self.add_subparsers(title=title, metavar=metavar, required=True)
        for name, summary in summaries.items():
            commands.add_parser(name, help=summary, module=prefix + name)

    def fill(self) -> None:
        """Add the arguments of this command and of all below it."""
        self._add_arguments()
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                for command in action.choices.values():
                    command.fill()

    def _add_arguments(self) -> None:
        if self._module is not None:
            module, self._module = self._module, None
            import_module(f"veridical.cli.commands.{module}").add_arguments(self)
