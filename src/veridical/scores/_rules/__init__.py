"""The scoring rules."""
