"""The best option a row under one budget."""
