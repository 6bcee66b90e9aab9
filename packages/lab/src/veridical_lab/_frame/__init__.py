"""What every experiment runs in."""
