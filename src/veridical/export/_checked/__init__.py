"""Calibrators written for elsewhere, executed and compared with `predict_proba`."""
