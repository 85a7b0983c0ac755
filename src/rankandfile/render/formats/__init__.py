"""What `raf diagnose --format` prints for other tools, one format a file: the file's name is the format's word, and its
`write` goes from a diagnosis, and where a file stands in the reader's own tree, to the text."""
