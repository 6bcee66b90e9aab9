"""Maps made of small trees."""
