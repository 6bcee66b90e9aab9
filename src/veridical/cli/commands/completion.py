"""``veridical completion``: a script for the shell, written from the parser."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from veridical.cli.shared.parser import Parser

_EPILOG = """\
examples:
  source <(veridical completion bash)        # in ~/.bashrc
  source <(veridical completion zsh)         # in ~/.zshrc, after compinit
  veridical completion bash > ~/.local/share/bash-completion/completions/veridical
  veridical completion fish > ~/.config/fish/completions/veridical.fish
"""


# Works from bash 3.2 on, which macOS has; braces of the script are doubled.
_BASH = """\
# completion of veridical; see `veridical completion --help`
_veridical_files() {{
  local IFS=$'\\n'
  COMPREPLY=($(compgen -f -- "$1"))
}}
_veridical() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  local path='' word options='' words='' takes='' values=''
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "${{path:+$path }}$word" in
{nested}
    esac
  done
  case "$path" in
{cases}
  esac
  COMPREPLY=()
  if [[ -n $values ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$current"))
  elif [[ -n $takes ]]; then
    _veridical_files "$current"
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    _veridical_files "$current"
  fi
}}
complete -o filenames -F _veridical veridical"""


@dataclass(frozen=True)
class Option:
    """One option of a command: its spellings, help, values, and whether it takes one."""

    names: tuple[str, ...]
    help: str
    choices: tuple[str, ...]
    takes_value: bool


@dataclass(frozen=True)
class Command:
    """One command: the words that lead to it, what may follow, and its options."""

    path: tuple[str, ...]
    subcommands: dict[str, str]
    options: tuple[Option, ...]
    choices: tuple[str, ...]  # of its first argument
    takes_files: bool


def add_arguments(parser: Parser) -> None:
    """Say what the command is for, what it takes and what it runs."""
    parser.description = (
        "Print a script with which the shell completes commands, options and files."
    )
    parser.epilog = _EPILOG
    parser.add_argument("shell", choices=tuple(_SCRIPTS), help="which shell")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the script of a shell."""
    print(_SCRIPTS[arguments.shell](list(walk(arguments.build_parser()))))
    return 0


def walk(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[Command]:
    """Every command of a parser, the parser itself first."""
    subparsers: dict[str, argparse.ArgumentParser] = {}
    helps: dict[str, str] = {}
    options: list[Option] = []
    choices: tuple[str, ...] = ()
    takes_files = False
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            subparsers = dict(action.choices)
            helps = {one.dest: one.help or "" for one in action._choices_actions}
        elif action.option_strings:
            takes = action.nargs != 0
            text = "" if action.help in (None, argparse.SUPPRESS) else str(action.help)
            options.append(
                Option(tuple(action.option_strings), text, _texts(action.choices), takes)
            )
        elif action.choices is not None:
            choices = _texts(action.choices)
        else:
            takes_files = True
    named = {name: helps.get(name, "") for name in subparsers}
    yield Command(path, named, tuple(options), choices, takes_files)
    for name, sub in subparsers.items():
        yield from walk(sub, (*path, name))


def _texts(choices: Any) -> tuple[str, ...]:
    return () if choices is None else tuple(map(str, choices))


def bash(commands: list[Command]) -> str:
    """Script for bash."""
    cases = [line for command in commands for line in _bash_case(command)]
    nested = [
        f"      '{path}') path='{path}' ;;"
        for command in commands
        for path in (" ".join((*command.path, name)) for name in command.subcommands)
    ]
    return _BASH.format(nested="\n".join(nested), cases="\n".join(cases))


def _bash_case(command: Command) -> list[str]:
    options = " ".join(name for option in command.options for name in option.names)
    words = " ".join((*command.subcommands, *command.choices))
    lines = [
        f"    '{' '.join(command.path)}')",
        f"      options='{options}' words='{words}'",
        '      case "$previous" in',
    ]
    for option in command.options:
        if option.takes_value:
            given = f"takes=1 values='{' '.join(option.choices)}'"
            lines.append(f"        {'|'.join(option.names)}) {given} ;;")
    return [*lines, "      esac ;;"]


def zsh(commands: list[Command]) -> str:
    """Script for zsh: that for bash, whose builtins zsh has for this purpose."""
    return f"autoload -U +X bashcompinit && bashcompinit\n{bash(commands)}"


def fish(commands: list[Command]) -> str:
    """Script for fish."""
    lines = ["# fish completion of veridical; see `veridical completion --help`"]
    for command in commands:
        condition = _fish_condition(command)
        prefix = f"complete -c veridical -n {shlex.quote(condition)}"
        if not command.takes_files:
            lines.append(f"{prefix} -f")
        for name, text in command.subcommands.items():
            lines.append(f"{prefix} -a {name} -d {_fish_text(text)}")
        if command.choices:
            lines.append(f"{prefix} -a {shlex.quote(' '.join(command.choices))}")
        for option in command.options:
            names = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                for name in option.names
            )
            values = f" -x -a {shlex.quote(' '.join(option.choices))}" if option.choices else ""
            needs = " -r" if option.takes_value and not values else ""
            lines.append(f"{prefix} {names}{needs}{values} -d {_fish_text(option.help)}")
    return "\n".join(lines)


def _fish_condition(command: Command) -> str:
    seen = [f"__fish_seen_subcommand_from {word}" for word in command.path]
    if command.subcommands:
        seen.append(f"not __fish_seen_subcommand_from {' '.join(command.subcommands)}")
    return "; and ".join(seen)


def _fish_text(text: str) -> str:
    escaped = text.replace("%%", "%").replace("\\", "\\\\").replace("'", "\\'")
    return f"'{' '.join(escaped.split())}'"


_SCRIPTS = {"bash": bash, "zsh": zsh, "fish": fish}
