"""The monitor itself."""
