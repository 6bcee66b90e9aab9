"""Tasks whose truth is known."""
