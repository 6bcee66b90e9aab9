"""The page of a monitor."""
