"""How the built-in world graph is made; only needed to rebuild it (`assent-kb[world]`)."""
