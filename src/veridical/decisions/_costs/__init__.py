"""What errors cost, and what to do about it."""
