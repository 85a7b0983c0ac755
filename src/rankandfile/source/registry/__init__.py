"""What the frameworks' names mean: collectives, implied ones too, rank APIs, and what makes values agree.

One table per framework; `rankandfile.source.lines.implied_collectives` looks a call of a program up in them.
"""
