"""What each engine's log, endpoints, arguments and process names mean. Pure."""
