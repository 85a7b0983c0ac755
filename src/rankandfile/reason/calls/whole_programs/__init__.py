"""The whole program of a rank: its calls on all groups, in order, so that ranks and steps can be compared.

One group's calls do not show that a rank left out its only call of a step there; what it did on other groups in
between does. Groups of a family count as the same group: ranks at the same place in the layout run one program.
"""
