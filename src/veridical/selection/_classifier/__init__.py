"""A classifier calibrated as a whole."""
