"""The demonstration of the book chapter."""
