"""Maps that differ by segments of the feature space."""
