"""Requirements that let a release pass or not."""
