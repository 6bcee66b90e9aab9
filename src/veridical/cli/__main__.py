"""``python -m veridical.cli``."""

import sys

from veridical.cli import main

sys.exit(main())
