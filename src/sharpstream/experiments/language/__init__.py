"""The language studies: text8 and PG-19, characters and subwords."""
