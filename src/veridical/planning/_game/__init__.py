"""The healthcare game."""
