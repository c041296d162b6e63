"""The attributes of Triton 3.x that are read."""
