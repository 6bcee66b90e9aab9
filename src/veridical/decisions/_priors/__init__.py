"""Class frequencies, given or estimated."""
