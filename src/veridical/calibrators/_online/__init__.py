"""Maps that learn row by row."""
