"""Figures of the lab are tested on the same axes as those of the library."""

from plots.conftest import ax as ax, overlaps as overlaps, settings_kept as settings_kept
