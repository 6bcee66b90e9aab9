"""One test of everything predictions can be wrong in."""
