"""Language models as policies and critics."""
