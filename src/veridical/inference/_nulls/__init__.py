"""What figures read when the model is right."""
