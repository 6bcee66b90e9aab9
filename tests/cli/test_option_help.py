"""Every option of every command says what it is for."""

from __future__ import annotations

import argparse

from veridical.cli.main import build_parser


def _options(parser, name):
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, nested in action.choices.items():
                yield from _options(nested, f"{name} {word}")
        else:
            yield name, action


def test_every_option_has_help():
    options = list(_options(build_parser(), "veridical"))
    assert len(options) > 100
    silent = [
        (name, action.option_strings or action.dest) for name, action in options if not action.help
    ]
    assert silent == []
