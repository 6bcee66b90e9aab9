"""How results show themselves."""
