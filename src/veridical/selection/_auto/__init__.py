"""The calibrator for the data at hand."""
