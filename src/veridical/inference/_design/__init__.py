"""How many rows, and whether calibration was shown."""
