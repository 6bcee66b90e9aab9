"""What accuracy and calibration are worth to decisions."""
