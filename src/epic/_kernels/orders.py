"""Orders of operations on molecules: which graphs on the way are valid and connected.

A place is what one operation acts on: a source atom, a target atom, or both where one replaces the other. ``kind`` is 0
where an atom is substituted, 1 where it is deleted, 2 where it is inserted. The neighbours of place p are
``to[first[p] : first[p + 1]]``, and ``old`` and ``new`` the orders of the bonds to them in the source and in the
target, 0 for none. Together with ``room`` they are the tuple ``bonds``: first, to, old, new, kind, room.

A bond is the target's once both of its places are done, and the source's until then (Algorithm 1). So an atom that is
not done never has more bonds than in the source, and one that is done is checked against ``room``, the most bonds that
the target atom can have. Without numba the same functions are interpreted.
"""

from __future__ import annotations

import numpy as np

from epic._kernels import moves
from epic._kernels.backend import INTEGERS, interpreted, jit
from epic._kernels.moves import MODULUS, draw

SUBSTITUTE, DELETE, INSERT = 0, 1, 2
VALID, CONNECTED = 1, 2
APART, LITTLE = 1.5, 0.01
"""What a further piece of a graph weighs in every other try, where an atom with too many bonds weighs 1."""
LOOKS = 2000
"""Alternating bonds of one aromatic system are tried up to this many times."""
BONDS, FLAGS = f"UniTuple({INTEGERS}, 6)", "boolean[::1]"


@jit(f"int64(int64, {BONDS}, {FLAGS}, {INTEGERS})")
def excess(t: int, bonds: tuple, done: np.ndarray, load: np.ndarray) -> int:
    """Return how many more atoms have too many bonds when operation t is done; ``load`` counts those of done ones."""
    first, to, old, new, kind, room = bonds
    more, own = 0, 0
    for x in range(first[t], first[t + 1]):
        q = to[x]
        if not done[q]:
            own += old[x]
        elif kind[q] != DELETE:
            after = load[q] - old[x] + new[x]  # where t is deleted, new is 0
            own += new[x]
            more += int(after > room[q]) - int(load[q] > room[q])
    if kind[t] != DELETE:
        more += int(own > room[t])
    return more


@jit(f"void(int64, {BONDS}, {FLAGS}, {INTEGERS})")
def perform(t: int, bonds: tuple, done: np.ndarray, load: np.ndarray) -> None:
    """Do operation t."""
    first, to, old, new, kind, _ = bonds
    own = 0
    for x in range(first[t], first[t + 1]):
        q = to[x]
        if not done[q]:
            own += old[x]
        elif kind[q] != DELETE:
            load[q] += new[x] - old[x]
            own += new[x]
    load[t], done[t] = own, True


@jit(f"int64({BONDS}, {FLAGS}, {INTEGERS}, {FLAGS})")
def pieces(bonds: tuple, done: np.ndarray, queue: np.ndarray, seen: np.ndarray) -> int:
    """Count the pieces of the graph when some operations are done."""
    first, to, old, new, kind, _ = bonds
    for p in range(kind.size):  # what is not there has been seen
        seen[p] = kind[p] == (DELETE if done[p] else INSERT)
    found = 0
    for root in range(kind.size):
        if seen[root]:
            continue
        found += 1
        queue[0], seen[root] = root, True
        head, tail = 0, 1
        while head < tail:
            p = queue[head]
            head += 1
            for x in range(first[p], first[p + 1]):
                q = to[x]
                if not seen[q] and (new[x] if done[p] and done[q] else old[x]) > 0:
                    queue[tail], seen[q] = q, True
                    tail += 1
    return found


@jit(f"void({BONDS}, {INTEGERS}, float64, {INTEGERS}, {INTEGERS})")
def follow(bonds: tuple, wish: np.ndarray, apart: float, order: np.ndarray, state: np.ndarray) -> None:
    """Fill ``order`` with operations, and ``state`` with what the graph after each is: ``VALID`` plus ``CONNECTED``.

    The first operation of the order ``wish`` is taken after which the graph is valid and connected, and where there is
    none the one that does least harm, where a further piece weighs ``apart``. With 0 the order is ``wish`` itself.
    """
    n = wish.size
    done, seen, queue, load = np.zeros(n, np.bool_), np.empty(n, np.bool_), np.empty(n, np.int64), np.zeros(n, np.int64)
    over = 0
    for k in range(n):
        best, low, count = -1, np.inf, 0
        for r in range(n):
            t = wish[r] if apart > 0.0 else wish[k]
            if done[t]:
                continue
            wrong = over + excess(t, bonds, done, load)
            if wrong < low:
                done[t] = True
                parts = pieces(bonds, done, queue, seen)
                done[t] = False
                harm = wrong + apart * (parts - 1 if parts > 0 else 1)
                if harm < low:
                    best, low, count = t, harm, parts
            if low == 0.0 or apart == 0.0:
                break
        over += excess(best, bonds, done, load)
        perform(best, bonds, done, load)
        order[k] = best
        state[k] = VALID * int(over == 0) + CONNECTED * int(count == 1)


@jit(f"int64({INTEGERS}, int64)")
def count_states(state: np.ndarray, wanted: int) -> int:
    """Return how many graphs are at least what is wanted."""
    found = 0
    for k in range(state.size):
        found += int(state[k] & wanted == wanted)
    return found


@jit(f"void({BONDS}, int64, int64, {INTEGERS}, {INTEGERS})")
def search(bonds: tuple, tries: int, seed: int, order: np.ndarray, state: np.ndarray) -> None:
    """Replace an order by the best one found, in which no fewer graphs are valid; fill what its graphs are.

    The best one has most valid and connected graphs, then most valid ones.
    """
    n, numbers = order.size, np.array([seed % (MODULUS - 1) + 1])
    wish, trial, found = order.copy(), np.empty(n, np.int64), np.empty(n, np.int64)
    follow(bonds, wish, 0.0, order, state)
    least, both = count_states(state, VALID), count_states(state, VALID + CONNECTED)
    valid = least
    for number in range(tries):
        if both == n:
            return
        follow(bonds, wish, LITTLE if number % 2 else APART, trial, found)
        one, two = count_states(found, VALID), count_states(found, VALID + CONNECTED)
        if one >= least and (two > both or (two == both and one > valid)):
            valid, both = one, two
            order[:] = trial
            state[:] = found
        for r in range(n - 1, 0, -1):  # shuffle
            at = int(draw(numbers) * (r + 1))
            wish[r], wish[at] = wish[at], wish[r]


@jit(f"void({BONDS}, {FLAGS})")
def alternate(bonds: tuple, aromatic: np.ndarray) -> None:
    """Move the double bonds of aromatic systems of the target to where the source has them, as far as possible.

    Every atom with a double bond in an aromatic system keeps one, so that hydrogens and charges stay where they are.
    ``aromatic`` marks the bonds of ``to`` among which they may move.
    """
    first, to, old, new, _, _ = bonds
    n = first.size - 1
    needs, met = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    for p in range(n):
        for x in range(first[p], first[p + 1]):
            needs[p] |= aromatic[x] and new[x] == 2
    atoms, slot, best = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    at, free = np.empty(n + 1, np.int64), np.zeros(n, np.bool_)
    for root in range(n):
        if not needs[root] or met[root]:
            continue
        count, head = 1, 0
        atoms[0], met[root] = root, True
        while head < count:  # one aromatic system
            p = atoms[head]
            head += 1
            for x in range(first[p], first[p + 1]):
                q = to[x]
                if aromatic[x] and needs[q] and not met[q]:
                    atoms[count], met[q] = q, True
                    count += 1
        high = 0
        for k in range(count):
            free[atoms[k]] = True
            for x in range(first[atoms[k]], first[atoms[k] + 1]):
                if aromatic[x] and new[x] == 2:
                    high += int(old[x] == 2) - int(old[x] == 1)  # from both ends
        high //= 2
        # Depth first: the first free atom takes each free neighbour in turn.
        depth, score, looks, better = 0, 0, 0, False
        at[0] = -1
        while depth >= 0 and looks < LOOKS:
            looks += 1
            if at[depth] >= 0:  # come back: release the two
                x = slot[depth]
                free[atoms[at[depth]]] = free[to[x]] = True
                score -= int(old[x] == 2) - int(old[x] == 1)
            else:
                at[depth] = 0
                while not free[atoms[at[depth]]]:
                    at[depth] += 1
                slot[depth] = first[atoms[at[depth]]] - 1
            p, x = atoms[at[depth]], slot[depth] + 1
            while x < first[p + 1] and not (aromatic[x] and free[to[x]]):
                x += 1
            if x == first[p + 1]:
                depth -= 1
                continue
            slot[depth] = x
            free[p] = free[to[x]] = False
            score += int(old[x] == 2) - int(old[x] == 1)
            if 2 * (depth + 1) < count:
                depth += 1
                at[depth] = -1
            elif score > high:
                high, better = score, True
                best[: depth + 1] = slot[: depth + 1]
        for k in range(count):
            free[atoms[k]] = False
            if better:
                for x in range(first[atoms[k]], first[atoms[k] + 1]):
                    if aromatic[x] and needs[to[x]]:
                        new[x] = 1
        if better:
            for k in range(count // 2):
                x = best[k]
                q, new[x] = to[x], 2
                for y in range(first[q], first[q + 1]):
                    if x >= first[to[y]] and x < first[to[y] + 1]:
                        new[y] = 2


@jit(f"int64({INTEGERS}, {BONDS}, {FLAGS})")
def check(ptr: np.ndarray, bonds: tuple, aromatic: np.ndarray) -> int:
    """Return the number of pairs, or raise an error where an index leads out of its pair."""
    first, to, old, new, kind, room = bonds
    n = kind.size
    if not (room.size == n and first.size == n + 1 and ptr.size > 0 and ptr[0] == 0 and ptr[-1] == n):
        raise IndexError("the arrays of operations differ in size")
    if not (first[0] == 0 and to.size == old.size == new.size == aromatic.size == first[n]):
        raise IndexError("the arrays of bonds differ in size")
    for t in range(n):
        if not 0 <= first[t] <= first[t + 1] <= to.size:
            raise IndexError("bonds are not in order")
    for p in range(ptr.size - 1):
        if not 0 <= ptr[p] <= ptr[p + 1] <= n:
            raise IndexError("pairs are not in order")
        for x in range(first[ptr[p]], first[ptr[p + 1]]):
            if not ptr[p] <= to[x] < ptr[p + 1]:
                raise IndexError("a bond leads out of its pair")
    return ptr.size - 1


@jit(f"boolean({INTEGERS})")
def permutes(order: np.ndarray) -> bool:
    """Return whether an order names every operation once."""
    seen = np.zeros(order.size, np.bool_)
    for t in order:
        if not 0 <= t < order.size or seen[t]:
            return False
        seen[t] = True
    return True


@jit(f"{BONDS}(int64, int64, {BONDS})")
def part(start: int, stop: int, bonds: tuple) -> tuple:
    """Return the bonds of one pair, places counted from 0; the new bonds are not copied."""
    first, to, old, new, kind, room = bonds
    a, b = first[start], first[stop]
    return first[start : stop + 1] - a, to[a:b] - start, old[a:b], new[a:b], kind[start:stop], room[start:stop]


@jit(f"void({INTEGERS}, {BONDS}, {FLAGS})")
def alternate_all(ptr: np.ndarray, bonds: tuple, aromatic: np.ndarray) -> None:
    """Call ``alternate`` for each pair; pair p has operations ``ptr[p]`` to ``ptr[p + 1]``."""
    for p in range(check(ptr, bonds, aromatic)):
        a, b = bonds[0][ptr[p]], bonds[0][ptr[p + 1]]
        alternate(part(ptr[p], ptr[p + 1], bonds), aromatic[a:b])


@jit(f"void({INTEGERS}, {BONDS}, {FLAGS}, int64, int64, {INTEGERS}, {INTEGERS})")
def search_all(
    ptr: np.ndarray, bonds: tuple, aromatic: np.ndarray, tries: int, seed: int, order: np.ndarray, state: np.ndarray
) -> None:
    """Call ``search`` for each pair, with the operations of ``order`` counted within it.

    With no tries, orders stay as they are and only ``state`` is filled.
    """
    if not state.size == order.size == bonds[4].size:
        raise IndexError("there are not as many states as operations")
    for p in range(check(ptr, bonds, aromatic)):
        a, b = ptr[p], ptr[p + 1]
        if not permutes(order[a:b]):
            raise IndexError("an order does not name every operation once")
        search(part(a, b, bonds), tries, seed, order[a:b], state[a:b])


PLAIN = interpreted(vars(moves), globals())
"""The same functions without numba."""
