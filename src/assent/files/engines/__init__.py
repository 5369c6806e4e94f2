"""The engines that build benchmarks from graphs which fit no memory, and the tables they read."""
