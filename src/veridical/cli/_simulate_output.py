"""What the kinds of `simulate` share: the form of what is printed."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any


def add_format_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --format, and --json for short."""
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="of what is printed"
    )
    parser.add_argument(
        "--json", action="store_const", const="json", dest="format", help="same as --format json"
    )


def as_json(result: Mapping[str, Any]) -> str:
    """Text of a result."""
    return json.dumps(result, indent=2, allow_nan=False, ensure_ascii=False)
