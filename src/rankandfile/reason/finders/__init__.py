"""Ways of finding that lead to one of several causes, or to none that has a name; and what files of causes share."""
