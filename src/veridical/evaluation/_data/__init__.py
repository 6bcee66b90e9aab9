"""What an evaluation is made from."""
