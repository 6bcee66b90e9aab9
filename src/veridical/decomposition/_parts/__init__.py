"""The decomposition of a mean score."""
