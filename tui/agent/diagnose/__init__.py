"""Looking into processes when a person asks for it: stack dumps by py-spy, then NCCL RAS."""
