"""Whether a load moves, is slow or stuck, and who waits for whom: pure, from figures to one verdict."""
