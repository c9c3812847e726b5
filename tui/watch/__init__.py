"""What the events mean: phases, readiness, target, outcome. Pure."""
