"""Strongly connected components, by Tarjan's algorithm without recursion."""

from __future__ import annotations


def components(arrows: list[list[int]]) -> list[list[int]]:
    """The components of the graph with these arrows, those that others lead to first.

    Arrows 0 -> 1, 1 -> 2, 2 -> 1 and 3 -> 0, `[[1], [2], [1], [0]]`: `[[2, 1], [0], [3]]`.
    """
    unseen = -1
    number = [unseen] * len(arrows)
    low = [0] * len(arrows)
    on_stack = [False] * len(arrows)
    stack: list[int] = []
    out: list[list[int]] = []
    count = 0
    for start in range(len(arrows)):
        if number[start] != unseen:
            continue
        work = [(start, 0)]
        while work:
            node, at = work.pop()
            if at == 0:
                number[node] = low[node] = count
                count += 1
                stack.append(node)
                on_stack[node] = True
            descended = False
            for i in range(at, len(arrows[node])):
                to = arrows[node][i]
                if number[to] == unseen:
                    work += [(node, i + 1), (to, 0)]
                    descended = True
                    break
                if on_stack[to]:
                    low[node] = min(low[node], number[to])
            if descended:
                continue
            if low[node] == number[node]:
                part: list[int] = []
                while True:
                    top = stack.pop()
                    on_stack[top] = False
                    part.append(top)
                    if top == node:
                        break
                out.append(part)
            if work:
                parent = work[-1][0]
                low[parent] = min(low[parent], low[node])
    return out
