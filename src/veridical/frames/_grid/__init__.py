"""One scan by a frame's own engine, into sums."""
