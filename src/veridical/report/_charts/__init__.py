"""Charts as Vega-Lite specifications with words and tables."""
