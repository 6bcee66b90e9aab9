"""The binnings."""
