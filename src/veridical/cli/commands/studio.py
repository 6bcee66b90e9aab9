"""``veridical studio``."""

from __future__ import annotations

import argparse

from veridical.cli.shared.parser import Parser

_EPILOG = """\
examples:
  veridical studio
  veridical studio predictions.csv
  veridical studio --folder data --no-browser --port 8080

The address is printed and opened in the browser. Only this machine can reach it, and only with the
token in the address. Files are read from the folder and those below it; nothing is written but to a
temporary folder, which is deleted at the end. Stop with Ctrl-C.

needs: pip install starlette uvicorn
"""


def add_arguments(parser: Parser) -> None:
    """Say what the command is for, what it takes and what it runs."""
    parser.description = (
        "A local web app: evaluate predictions, fit and compare calibrators, try costs"
        " and priors, learn to read reliability diagrams, play the healthcare game."
    )
    parser.epilog = _EPILOG
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="CSV, JSON Lines, Parquet or Arrow file"
    )
    parser.add_argument(
        "--folder", metavar="DIR", help="to read files from (default: that of FILE, else this one)"
    )
    parser.add_argument("--port", type=int, default=0, metavar="N", help="default: a free one")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument(
        "--max-upload", default="500MB", metavar="SIZE", help="largest upload; default: 500MB"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until interrupted."""
    from veridical.studio import parse_size, serve

    serve(
        arguments.file,
        folder=arguments.folder,
        port=arguments.port,
        open_browser=not arguments.no_browser,
        max_upload=parse_size(arguments.max_upload),
    )
    return 0
