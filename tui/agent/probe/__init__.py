"""The probe: the readiness ladder, climbed by questions to the server."""
