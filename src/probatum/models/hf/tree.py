"""Token sequences as a tree, and the tree as forward passes in which every distinct prefix is computed once.

Few-shot examples, the question and the options of a benchmark are prefixes of each other's sequences: in the
tree each token of a shared beginning stands once. A *pass* is one forward of the model over a packed row of
tokens, all after the same prefix that an earlier pass has computed:

* a *trunk* is a long stretch with much below it: its keys and values are kept for what follows;
* a *pack* is as many whole subtrees as the token budget holds; each sees the trunk and its own ancestors.

The order of passes follows from the sequences alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Pass", "Query", "Tokens", "Wanted", "build", "passes"]

Tokens = NDArray[np.int64]

SHORT: Final = 24
"""Tokens: a shared stretch that is shorter is computed again below each branch, rather than in a pass of its
own: a pass costs the reading of all weights."""


@dataclass(frozen=True)
class Query:
    """A sequence, and the tokens whose log-probabilities are wanted at its last places."""

    tokens: Tokens
    """What is computed, shape (n,)."""
    targets: Tokens
    """Shape (m,), m ≤ n: the logits at place n - m + k are asked for `targets[k]`."""


@dataclass(frozen=True)
class Wanted:
    """Places of a pass whose logits answer a query."""

    place: int
    """First place in the pass."""
    count: int
    query: int
    first: int
    """Number of the query's target that belongs to the first place."""


@dataclass(frozen=True)
class Pass:
    """One forward over a packed row of n tokens."""

    tokens: Tokens
    positions: Tokens
    stops: Tokens
    """Place behind the last token that sees this one: token j is seen by i if j ≤ i < stops[j]."""
    groups: tuple[tuple[int, int], ...]
    """First and last + 1 place of subtrees that do not see each other."""
    prefix: int
    """Tokens that were kept, and that every token here sees."""
    room: int
    """Tokens that will be kept once the trunk is whole: prefix, these, and those of its passes that follow.
    0: keys and values of this pass are needed by no other."""
    wanted: tuple[Wanted, ...]

    @property
    def keeps(self) -> bool:
        """Whether keys and values are kept behind the prefix, for the passes that follow."""
        return self.room > 0


@dataclass(eq=False)
class _Node:
    """A stretch of tokens that its descendants share."""

    start: int
    """Depth of its first token."""
    tokens: Tokens
    parent: _Node | None
    children: list[_Node] = field(default_factory=list)
    wanted: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Place within the stretch, count, query, first target."""
    size: int = 0
    """Tokens of the subtree, its own included."""

    @property
    def stop(self) -> int:
        return self.start + len(self.tokens)


def build(queries: Sequence[Query]) -> _Node:
    """The tree of these sequences; its root has no tokens."""
    keys = [query.tokens.astype(">u4").tobytes() for query in queries]
    root = _Node(0, np.zeros(0, np.int64), None)
    path = [root]
    before: Tokens = root.tokens
    for index in sorted(range(len(queries)), key=keys.__getitem__):
        tokens = queries[index].tokens
        shared = _shared(before, tokens)
        while path[-1].start >= shared and path[-1].parent is not None:
            path.pop()
        if path[-1].stop > shared:
            path[-1] = _split(path[-1], shared)
        if len(tokens) > shared:
            node = _Node(shared, tokens[shared:], path[-1])
            path[-1].children.append(node)
            path.append(node)
        _want(path[-1], len(queries[index].targets), index)
        before = tokens
    _measure(root)
    return root


def _shared(one: Tokens, other: Tokens) -> int:
    length = min(len(one), len(other))
    different = one[:length] != other[:length]
    place = int(different.argmax()) if length else 0
    return place if length and different[place] else length


def _split(node: _Node, depth: int) -> _Node:
    """Cuts a stretch in two at `depth`; returns the upper part, which is new."""
    parent = node.parent
    assert parent is not None  # noqa: S101 - the root has no tokens, and is never cut
    own = depth - node.start
    upper = _Node(node.start, node.tokens[:own], parent, [node])
    parent.children[-1] = upper  # sequences come sorted: the stretch is its parent's last
    kept = []
    for place, count, query, first in node.wanted:
        above = min(max(0, own - place), count)
        if above:
            upper.wanted.append((place, above, query, first))
        if above < count:
            kept.append((place + above - own, count - above, query, first + above))
    node.start, node.tokens, node.parent, node.wanted = depth, node.tokens[own:], upper, kept
    return upper


def _want(leaf: _Node, count: int, query: int) -> None:
    """Notes the last `count` places above the end of `leaf`."""
    node: _Node | None = leaf
    left = count
    while left and node is not None:
        here = min(left, len(node.tokens))
        if here:
            node.wanted.append((len(node.tokens) - here, here, query, left - here))
        left -= here
        node = node.parent


def _measure(root: _Node) -> None:
    nodes = [root]
    for node in nodes:
        nodes.extend(node.children)
    for node in reversed(nodes):
        node.size = len(node.tokens) + sum(child.size for child in node.children)


def passes(root: _Node, budget: int) -> Iterator[Pass]:
    """The passes that compute the whole tree, none with more than `budget` tokens."""
    pack = _Pack(budget)
    prefix = 0
    stack: list[tuple[tuple[_Node, ...], int]] = [((child,), 0) for child in reversed(root.children)]
    while stack:
        line, depth = stack.pop()
        if depth != prefix:
            yield from pack.flush(prefix)
            prefix = depth
        node = line[-1]
        above = sum(len(one.tokens) for one in line[:-1])
        if above + node.size <= budget:
            if not pack.holds(above + node.size):
                yield from pack.flush(prefix)
            pack.add(line)
        elif above + len(node.tokens) < SHORT and node.children:
            stack.extend(((*line, child), depth) for child in reversed(node.children))
        else:
            yield from pack.flush(prefix)
            yield from _trunk(line, prefix, budget)
            prefix = node.stop
            stack.extend(((child,), node.stop) for child in reversed(node.children))
    yield from pack.flush(prefix)


def _trunk(line: Sequence[_Node], prefix: int, budget: int) -> Iterator[Pass]:
    row = _Row()
    for node in line:
        row.add(node)
    whole = row.finish([(0, row.length)], prefix, chain=True)
    last = (row.length - 1) // budget * budget
    """First token of the last pass, which nobody sees if nothing is below the trunk."""
    room = prefix + (row.length if line[-1].children else last)
    for begin in range(0, row.length, budget):
        end = min(begin + budget, row.length)
        yield _part(whole, begin, end, room if prefix + end <= room else 0)


def _part(whole: Pass, begin: int, end: int, room: int) -> Pass:
    """A part of a trunk that is longer than the budget; what comes before it is prefix."""
    wanted = []
    for one in whole.wanted:
        first, last = max(one.place, begin), min(one.place + one.count, end)
        if first < last:
            wanted.append(Wanted(first - begin, last - first, one.query, one.first + first - one.place))
    return Pass(
        tokens=whole.tokens[begin:end],
        positions=whole.positions[begin:end],
        stops=np.full(end - begin, end - begin),
        groups=((0, end - begin),),
        prefix=whole.prefix + begin,
        room=room,
        wanted=tuple(wanted),
    )


class _Pack:
    """Subtrees that will share a pass."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._row = _Row()
        self._groups: list[tuple[int, int]] = []

    def holds(self, size: int) -> bool:
        return self._row.length + size <= self._budget

    def add(self, line: tuple[_Node, ...]) -> None:
        begin = self._row.length
        for node in line[:-1]:
            self._row.add(node)
        self._row.add_subtree(line[-1])
        self._groups.append((begin, self._row.length))

    def flush(self, prefix: int) -> Iterator[Pass]:
        if self._groups:
            yield self._row.finish(self._groups, prefix)
            self._row, self._groups = _Row(), []


class _Row:
    """Tokens of a pass, as they are laid one after the other."""

    def __init__(self) -> None:
        self.length = 0
        self._parts: list[_Node] = []
        self._begins: list[int] = []
        self._ends: list[int] = []
        """Place behind the subtree of each part; 0: the end of its group."""

    def add(self, node: _Node) -> None:
        """A stretch that all the rest of its group sees."""
        self._lay(node, 0)

    def add_subtree(self, top: _Node) -> None:
        """A node and everything below it, each stretch before what it has below."""
        stack = [top]
        while stack:
            node = stack.pop()
            self._lay(node, self.length + node.size)
            stack.extend(reversed(node.children))

    def finish(self, groups: Sequence[tuple[int, int]], prefix: int, *, chain: bool = False) -> Pass:
        """The pass. With `chain`, every token sees all before it."""
        stops = np.empty(self.length, np.int64)
        wanted = []
        ends = iter(groups)
        _, end = next(ends)
        for node, begin, stop in zip(self._parts, self._begins, self._ends, strict=True):
            while begin >= end and len(node.tokens):
                _, end = next(ends)
            stops[begin : begin + len(node.tokens)] = end if chain or not stop else stop
            wanted += [
                Wanted(begin + place, count, query, first) for place, count, query, first in node.wanted
            ]
            node.wanted = []  # a stretch that is laid again below another branch is asked for once
        return Pass(
            tokens=np.concatenate([node.tokens for node in self._parts]),
            positions=np.concatenate([np.arange(node.start, node.stop) for node in self._parts]),
            stops=stops,
            groups=tuple(groups),
            prefix=prefix,
            room=0,
            wanted=tuple(wanted),
        )

    def _lay(self, node: _Node, end: int) -> None:
        self._parts.append(node)
        self._begins.append(self.length)
        self._ends.append(end)
        self.length += len(node.tokens)
