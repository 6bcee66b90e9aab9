"""Any map of two classes as one function of one number."""
