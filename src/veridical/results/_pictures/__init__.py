"""Pictures of results: each takes results, computes nothing, and returns a `Picture`."""
