"""What a calibration error measures, and when it is significant."""
