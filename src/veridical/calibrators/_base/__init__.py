"""What every calibrator is and can do."""
