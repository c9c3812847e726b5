"""HTTP as the workers speak it, over bare sockets."""
