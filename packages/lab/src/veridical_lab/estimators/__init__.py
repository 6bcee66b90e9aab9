"""Which estimator of the ECE is closest to the truth."""
