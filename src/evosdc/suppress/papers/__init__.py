"""Published methods that nothing else here is built on: each can be left out."""
