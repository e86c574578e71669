#!/usr/bin/env python3
"""Smooth bodies thrown on planes, boxes, dishes, in bowls and on each other: every run ends, keeps its promises, and
gives the same hash twice.

    random_smooth.py ABUT [FIRST COUNT]

Loop surfaces of cages (eggs, bowls, marbles, oloids, a table with four feet, lumps), Bezier patches, ellipsoids,
spheres; friction 0 to 1, restitution 0 to 0.8.  The promises are the audit's: no overlap beyond epsilon, energy and
momentum balanced.  SEEDS are nine in a row, what a build has time for (`make soak` runs many),
three that overlapped where a time step refused to push a place out, and three where
contacts with a coarser surface were missed (1152, 1341, 1382).  FIRST and COUNT try others; bodies that happen to overlap where they are put are refused by the command, and left out.
"""
import json
import math
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SEEDS = [2, 31, 37, 1152, 1341, 1382, *range(10, 19)]
SECONDS = 60  # of processor time that a simulated second may take before a run counts as one that does not end
MESHES = Path(__file__).resolve().parents[2] / "scenes" / "meshes"
CAGES = {"egg": 0.04, "bowl": 0.06, "marble": 0.05, "oloid": 0.05, "table": 0.05, "lump": 0.06, "block": 0.08}


def write_cage(path, vertices, faces):
    lines = [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in vertices]
    lines += ["f " + " ".join(str(i + 1) for i in face) for face in faces]
    path.write_text("\n".join(lines) + "\n")


def table(path):
    """A slab of 3 by 3 cells, the four at its corners drawn out below into feet."""
    vertices, faces, known = [], [], {}

    def at(*p):
        if p not in known:
            known[p] = len(vertices)
            vertices.append(p)
        return known[p]

    cells = [(i, j, 0) for i in range(3) for j in range(3)] + [(i, j, -1) for i in (0, 2) for j in (0, 2)]
    corner = [((0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)), ((0, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 0))]
    sides = {(0, 0, 1): corner[0], (0, 0, -1): corner[1], (1, 0, 0): ((1, 0, 0), (1, 1, 0), (1, 1, 1), (1, 0, 1)),
             (-1, 0, 0): ((0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 0)), (0, 1, 0): ((0, 1, 0), (0, 1, 1), (1, 1, 1), (1, 1, 0)),
             (0, -1, 0): ((0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1))}
    for i, j, k in cells:
        for (a, b, c), quad in sides.items():
            if (i + a, j + b, k + c) not in cells:
                faces.append([at((i + x - 1.5) * 0.7, (j + y - 1.5) * 0.7, (k + z) * 0.5) for x, y, z in quad])
    write_cage(path, vertices, faces)


def lump(path, shape):
    """An octahedron, its edges halved once, every vertex at another distance."""
    corners = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
    vertices, middle, faces = list(corners), {}, []

    def between(a, b):
        key = (min(a, b), max(a, b))
        if key not in middle:
            middle[key] = len(vertices)
            vertices.append(tuple((p + q) / math.sqrt(2) for p, q in zip(vertices[a], vertices[b])))
        return middle[key]

    for x in (0, 1):
        for y in (2, 3):
            for z in (4, 5):
                a, b, c = (x, y, z) if (x + y + z) % 2 == 0 else (x, z, y)
                d, e, f = between(a, b), between(b, c), between(c, a)
                faces += [(a, d, f), (d, b, e), (f, e, c), (d, e, f)]
    write_cage(path, [tuple(p * shape.uniform(0.7, 1.2) for p in v) for v in vertices], faces)


def block(path):
    v = [(x, y, z) for z in (-1, 1) for y in (-0.7, 0.7) for x in (-0.5, 0.5)]
    write_cage(path, v, [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)])


def cages(folder):
    meshes = folder / "meshes"
    meshes.mkdir()
    for name in ("egg", "bowl", "marble"):
        shutil.copy(MESHES / f"{name}-cage.obj", meshes)
    shutil.copy(Path(__file__).parent / "meshes" / "oloid-cage.obj", meshes)
    table(meshes / "table-cage.obj")
    lump(meshes / "lump-cage.obj", random.Random(7))
    block(meshes / "block-cage.obj")


def net(shape, width, bend):
    """Control points of an open dish (bend > 0: hollow) with the outside above."""
    rows = []
    for j in range(4):
        for i in range(4):
            x, y = i - 1.5, j - 1.5
            rows.append(f"{{{x * width / 3:.4f},{y * width / 3:.4f},{bend * width * (x * x + y * y) / 9 + shape.uniform(0, 0.02) * width:.4f}}}")
    return "surface.bezier{control={" + ",".join(rows) + "}}"


def loop(name, scale):
    return f'surface.loop{{"meshes/{name}-cage.obj",scale={scale:.4f}}}'


def vector(numbers):
    return "{" + ",".join(f"{x:.3f}" for x in numbers) + "}"


def thrown(r, name, height, spread):
    kind = r.choice(list(CAGES) * 2 + ["ellipsoid", "sphere", "box"])
    size = r.uniform(0.6, 1.2)
    if kind == "ellipsoid":
        shape = f"ellipsoid{{{0.05 * size:.4f},{r.uniform(0.02, 0.05):.4f},{r.uniform(0.02, 0.05):.4f}}}"
    elif kind == "sphere":
        shape = f"sphere{{{0.04 * size:.4f}}}"
    elif kind == "box":
        shape = f"solid.box{{{0.08 * size:.4f},{r.uniform(0.03, 0.08):.4f},{r.uniform(0.03, 0.08):.4f}}}"
    else:
        shape = loop(kind, CAGES[kind] * size * 0.7)
    turn = [r.gauss(0, 1) for _ in range(3)]
    return (f'body{{name="{name}",shape={shape},density=800,position={vector([r.uniform(-spread, spread), r.uniform(-spread, spread), height])},'
            f"rotation={{{r.uniform(0, 3):.3f},{turn[0]:.3f},{turn[1]:.3f},{turn[2]:.3f}}},"
            f"velocity={vector([r.uniform(-0.5, 0.5), r.uniform(-0.5, 0.5), r.uniform(-1, 0)])},"
            f"spin={vector([r.uniform(-8, 8) for _ in range(3)])}}}\n")


def ground(r):
    """The fixed bodies, how high to start above them, and how far to the side."""
    floor = 'body{name="floor",shape=halfspace{normal={0,0,1},offset=0},fixed=true}\n'
    kind = r.choice(["floor", "floor", "box", "bowl", "bowl", "dish", "ramp"])
    if kind == "box":
        return floor + f'body{{name="step",shape=solid.box{{0.2,0.2,0.1}},position={{0.05,0,0.05}},fixed=true}}\n', 0.25, 0.1
    if kind == "bowl":
        return f'body{{name="bowl",shape={loop("bowl", r.uniform(0.15, 0.25))},fixed=true}}\n', 0.3, 0.08
    if kind == "dish":
        return floor + f'body{{name="dish",shape={net(r, 0.6, r.choice([0.3, 0.6, -0.2]))},position={{0,0,0.15}},fixed=true}}\n', 0.4, 0.1
    if kind == "ramp":
        return floor + f'body{{name="ramp",shape=solid.box{{0.8,0.8,0.1}},position={{0.2,0,0.1}},rotation={{{r.uniform(0.1, 0.5):.3f},0,1,0}},fixed=true}}\n', 0.45, 0.1
    return floor, 0.15, 0.15


def scene(seed):
    r = random.Random(seed)
    fixed, height, spread = ground(r)
    friction, restitution = r.choice([0, 0.2, 0.5, 1.0]), r.choice([0, 0, 0.4, 0.8])
    text = f"world{{duration=1,frame=1/60}}\nmaterial{{restitution={restitution},friction={friction}}}\n" + fixed
    for i in range(r.choice([1, 1, 2, 2, 3])):
        text += thrown(r, f"b{i}", height + 0.16 * i, spread)
    return text


def run(abut, path):
    """Exit status, what was wrong, the hash."""
    try:
        done = subprocess.run(["prlimit", f"--cpu={SECONDS}", abut, "run", str(path), "--strict", "--json"], capture_output=True, text=True)
    except OSError as problem:
        return 1, str(problem), None
    if done.returncode != 0:
        return done.returncode, done.stderr.strip() or done.stdout.strip()[-300:], None
    return 0, "", json.loads(done.stdout)["hash"]


def main():
    abut = sys.argv[1]
    seeds = range(int(sys.argv[2]), int(sys.argv[2]) + int(sys.argv[3])) if len(sys.argv) > 3 else SEEDS
    failed = left_out = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cages(folder)
        for seed in seeds:
            path = folder / f"smooth{seed}.lua"
            path.write_text(scene(seed))
            first, second = run(abut, path), run(abut, path)
            if first[0] == 2 and first == second and "overlaps at the start" in first[1]:
                left_out += 1
            elif first[0] != 0 or first != second:
                failed += 1
                print(f"seed {seed}: exit {first[0]}: {first[1]}" if first == second else f"seed {seed}: {first}, then {second}", flush=True)
    print(f"{len(seeds) - left_out} scenes, {failed} failed" + (f", {left_out} left out" if left_out else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
