"""Maps that are fitted, tried and replaced while a monitor runs."""
