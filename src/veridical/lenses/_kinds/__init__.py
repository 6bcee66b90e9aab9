"""The lenses."""
