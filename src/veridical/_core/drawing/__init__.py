"""Pictures as SVG text: scales, ticks, measured words, marks and colours; knows no results."""
