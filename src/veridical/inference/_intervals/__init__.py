"""How uncertain figures are."""
