"""The commands, one a file. Its name is the command's word and the name of its function, whose docstring is the help;
`EXAMPLES` stand under the help, `CONTEXT` holds settings of Click, and `ORDER` says where the command is listed.

A folder is a group of commands, with its help as the docstring. A word that Python has a use for itself gets an
underscore as a function: `list.py` has `list_`.
"""
