"""The survey's worked examples."""
