"""CalArena and probmetrics: numbers of others, beside those of this library."""
