"""``python -m veridical``."""

import sys

from veridical.cli import main

sys.exit(main())
