"""Maps by bins, steps and neighbours."""
