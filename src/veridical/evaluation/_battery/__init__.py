"""The tests of calibration in one call."""
