#!/usr/bin/env python3
"""abut solve against rational arithmetic: solve_fractions.py ABUT

Problems of few rows, written as INTERFACE.md says, are solved here by trying every active set in fractions, which
shares nothing with the library; then `abut solve` by its exact solver and by Lemke must find the same status, the
same w (unique for semidefinite A), and the same z where there is only one.
"""
import itertools, json, pathlib, random, subprocess, sys, tempfile
from fractions import Fraction as F

INF = float("inf")


def linear(matrix, right):
    """One solution of matrix x = right with its free unknowns 0; None when there is none."""
    rows = [list(r) + [b] for r, b in zip(matrix, right)]
    n, pivots, top = len(matrix), [], 0
    for c in range(n):
        p = next((r for r in range(top, n) if rows[r][c] != 0), None)
        if p is None:
            continue
        rows[top], rows[p] = rows[p], rows[top]
        rows[top] = [v / rows[top][c] for v in rows[top]]
        for r in range(n):
            if r != top and rows[r][c] != 0:
                rows[r] = [v - rows[r][c] * w for v, w in zip(rows[r], rows[top])]
        pivots.append(c)
        top += 1
    if any(rows[r][n] != 0 for r in range(top, n)):
        return None, False
    x = [F(0)] * n
    for r, c in enumerate(pivots):
        x[c] = rows[r][n]
    return x, top == n


def solutions(a, b, lo, hi):
    """Every (z, w) that some active set gives: free rows solved exactly, the others at a bound."""
    n = len(b)
    for places in itertools.product("ful", repeat=n):
        if any((p == "l" and lo[i] == -INF) or (p == "u" and hi[i] == INF) for i, p in enumerate(places)):
            continue
        z = [F(0) if p == "f" else F(lo[i] if p == "l" else hi[i]) for i, p in enumerate(places)]
        free = [i for i in range(n) if places[i] == "f"]
        right = [-b[i] - sum(a[i][j] * z[j] for j in range(n) if j not in free) for i in free]
        x, regular = linear([[a[i][j] for j in free] for i in free], right)
        if x is None:
            continue
        for i, v in zip(free, x):
            z[i] = v
        w = [b[i] + sum(a[i][j] * z[j] for j in range(n)) for i in range(n)]
        fits = all(lo[i] <= z[i] <= hi[i] for i in range(n)) and all(
            w[i] == 0 or (w[i] > 0 and z[i] == lo[i]) or (w[i] < 0 and z[i] == hi[i]) for i in range(n))
        if fits:
            yield z, w, regular


def gram(rows, masses=None):
    masses = masses or [1] * len(rows[0])
    return [[sum(F(x) * F(y) / m for x, y, m in zip(p, q, masses)) for q in rows] for p in rows]


def problems():
    contact = lambda n: ([0] * n, [INF] * n)
    legs = [[1, x, y] for x in (-1, 1) for y in (-1, 1)]
    yield "four legs", gram(legs), [F(-10)] * 4, *contact(4)
    yield "four legs, load outside", gram(legs), [F(-10 + 12 * x, 1) for x in (0, 0, 1, 1)], *contact(4)
    yield "the same contact three times", gram([[1, 2]] * 3 + [[1, -1]]), [F(-6)] * 3 + [F(-1)], *contact(4)
    for power in (13, 27):  # powers of two: A has no rounding
        heavy = gram([[1, 0], [-1, 1], [-2, 1]], [F(1), F(2) ** power])
        yield f"masses 1 : 2^{power}", heavy, [F(-10), F(-1), F(2)], *contact(3)
    yield "a weight of 2^27 on 1 on 2^27", gram([[1, 0, 0], [-1, 1, 0], [0, -1, 1]], [F(2) ** 27, F(1), F(2) ** 27]), \
        [F(-10), F(0), F(0)], *contact(3)
    yield "walls that close", gram([[1], [-1]]), [F(-1), F(-1)], *contact(2)
    yield "walls that open", gram([[1], [-1]]), [F(1), F(1)], *contact(2)
    yield "hinges that contradict", gram([[1, 0], [1, 0], [0, 1]]), [F(-1), F(-2), F(3)], [-INF] * 3, [INF] * 3
    yield "redundant hinges", gram([[1, 0], [2, 0], [0, 1]]), [F(-1), F(-2), F(3)], [-INF] * 3, [INF] * 3
    yield "a hinge pulls, contacts push", gram([[1, 1, 0], [0, 1, 1], [1, 0, 1]]), [F(5), F(-3), F(-1)], \
        [-INF, 0, 0], [INF] * 3
    for load in (-9, F(-1, 2), 0, 7):
        yield f"a motor of 2 against {load}", gram([[1, 1], [1, 0]]), [F(load), F(-1)], [-2, 0], [2, INF]
    yield "a row without mass", [[F(0), F(0)], [F(0), F(2)]], [F(3), F(-1)], *contact(2)
    yield "a row without mass that must push", [[F(0), F(0)], [F(0), F(2)]], [F(-3), F(-1)], *contact(2)
    yield "the same with a bound", [[F(0), F(0)], [F(0), F(2)]], [F(-3), F(-1)], [0, 0], [4, INF]
    yield "no mass, hardly a load", [[F(0)] * 2] * 2, [F(5e-324), F(0)], *contact(2)
    yield "no load", gram([[1, 0], [1, 1], [2, 1]]), [F(0)] * 3, *contact(3)
    yield "just touching", gram([[1, 0], [1, 1]]), [F(-1), F(-1)], *contact(2)
    yield "a given force", gram([[1, 0], [1, 1]]), [F(-1), F(1)], [F(3, 2), -INF], [F(3, 2), INF]
    yield "ropes: they only pull", gram([[1, 0, 1], [0, 1, 1], [1, 1, 0]]), [F(4), F(-1), F(2)], [-INF] * 3, [0] * 3
    yield "a third of a third", [[F(1, 3), F(1, 7)], [F(1, 7), F(1, 5)]], [F(-1, 9), F(1, 11)], *contact(2)
    dice = random.Random(5)
    kinds = [(0, INF), (-INF, INF), (-1, 1), (-INF, 0), (0, F(1, 2))]
    for k in range(10):
        n, columns = dice.randint(3, 5), dice.randint(1, 4)
        rows = [[dice.randint(-2, 2) for _ in range(columns)] for _ in range(n)]
        rows[1] = rows[0] if k % 3 == 0 else rows[1]
        bounds = [dice.choice(kinds) for _ in range(n)]
        masses = [F(2) ** dice.choice((0, 0, 10, -10)) for _ in range(columns)]
        yield f"random {k}", gram(rows, masses), [F(dice.randint(-4, 4)) for _ in range(n)], \
            [l for l, _ in bounds], [h for _, h in bounds]


def text(a, b, lo, hi):
    bound = lambda x: ("inf" if x > 0 else "-inf") if x in (INF, -INF) else float(x)
    return json.dumps({"A": [[float(x) for x in r] for r in a], "b": [float(x) for x in b],
                       "lo": [bound(x) for x in lo], "hi": [bound(x) for x in hi]})


def rounded(a, b):
    """The problem that the file holds: its decimals are doubles."""
    return [[F(float(x)) for x in r] for r in a], [F(float(x)) for x in b]


def check(command, folder, name, a, b, lo, hi):
    a, b = rounded(a, b)
    found = list(solutions(a, b, lo, hi))
    path = folder / "problem.json"
    path.write_text(text(a, b, lo, hi))
    size = max([abs(x) for x in b] + [F(0)]) or F(1)
    wrong = []
    for solver in ("exact", "lemke"):
        run = subprocess.run([command, "solve", str(path), "--solver", solver, "--json"], capture_output=True, text=True)
        answer = json.loads(run.stdout) if run.stdout else {"status": run.stderr}
        want = "solved" if found else "infeasible"
        if answer["status"] != want:
            wrong.append(f"{solver}: {answer['status']}, want {want}")
            continue
        if not found:
            continue
        z, w, _ = found[0]
        # z is rounded to doubles: that alone moves w by u |A||z| (docs/complementarity.md, "attainable")
        limit = float(max(sum(abs(x * y) for x, y in zip(r, z)) for r in a)) * 2.0**-53
        wrong += [f"{solver}: w[{i}] = {g!r}, want {v}" for i, (g, v) in enumerate(zip(answer["w"], w))
                  if abs(g - float(v)) > 1e-12 * float(size) + 8 * limit]
        different = [any(other[i] != z[i] for other, _, _ in found) for i in range(len(b))]
        for i, g in enumerate(answer["z"]):
            if answer["determined"][i] and different[i]:
                wrong.append(f"{solver}: z[{i}] is said to be determined and is not")
            elif limit < 1e-13 * float(size) and answer["determined"][i] and abs(g - float(z[i])) > 1e-11 * max(1, abs(float(z[i]))):
                wrong.append(f"{solver}: z[{i}] = {g!r}, want {z[i]}")
        if answer["unique"] and any(different):
            wrong.append(f"{solver}: said to be unique")
    return [f"{name}: {w}" for w in wrong]


def check_file(abut, path):
    """A problem too large for all its active sets: the answers must hold themselves, w = A z + b in fractions."""
    problem, wrong = json.loads(path.read_text()), []
    b = [F(x) for x in problem["b"]]
    for solver in ("exact", "lemke"):
        done = subprocess.run([abut, "solve", path, "--solver", solver, "--json"], capture_output=True, text=True)
        answer = json.loads(done.stdout)
        z = [F(x) for x in answer["z"]]
        w = [x + sum(F(a) * y for a, y in zip(row, z)) for row, x in zip(problem["A"], b)]
        size = max(map(abs, b))
        off = max(max(-min(w), -min(z), max(min(x, y) for x, y in zip(z, w))), F(0))
        if answer["status"] != "solved" or off > size / 10**9:
            wrong.append(f"{path.name} by {solver}: {answer['status']}, off by {float(off / size):g}")
    return wrong


def main():
    wrong, count = [], 0
    # 39 points of pins in holes that are a little too large: the interior path runs into bounds until x / s overflows
    wrong += check_file(sys.argv[1], pathlib.Path(__file__).parent / "loose_pins.json")
    with tempfile.TemporaryDirectory() as folder:
        for problem in problems():
            wrong += check(sys.argv[1], pathlib.Path(folder), *problem)
            count += 1
    for line in wrong:
        print(line)
    print(f"{count} problems, {len(wrong)} differences")
    return 1 if wrong else 0


sys.exit(main())
