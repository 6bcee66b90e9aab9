"""Outcomes as right predictions would give them, whatever rows weigh and belong to."""
