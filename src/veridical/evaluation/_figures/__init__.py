"""The evaluation and its words."""
