#!/usr/bin/env python3
"""pins.py ABUT: pins of n facets that a motor turns in loose rings with holes of m facets, which hang on them.

Every run is strict: nothing overlaps by more than epsilon, energy is accounted for, nothing is stepped in time, and the
certificate of the recording agrees.  The ring stays on its pin: its centre within the play, which is what n-gon in
m-gon leave."""
import csv, io, json, math, os, subprocess, sys, tempfile

RADIUS = 0.02
CASES = [(12, 12, 0.02), (12, 24, 0.005), (32, 24, 0.01), (24, 32, 0.001), (64, 48, 0.002)]

SCENE = """
world {title = "pin", gravity = {0, -9.81, 0}, mode = "exact", duration = 1, frame = 0.01}
material {restitution = 0, friction = 0}
local pin = body {name = "pin", shape = solid.mesh {file = "pin.obj"}, density = 1000, spin = {0, 0, 2 * math.pi}}
hinge.pin {pin, nil, at = {0, 0, 0}, axis = {0, 0, 1}, motor = {speed = 2 * math.pi}}
local ring = body {name = "ring", shape = solid.mesh {file = "ring.obj"}, density = 1000}
hinge.planar {ring, nil, at = {0, 0, 0}, axis = {0, 0, 1}}
"""


def polygon(n, r, phase):
    angles = [2 * math.pi * (k + phase) / n for k in range(n)]
    return [(r * math.cos(t), r * math.sin(t)) for t in angles]


def write(path, points, faces):
    with open(path, "w") as f:
        f.writelines("v %r %r %r\n" % p for p in points)
        f.writelines("f %s\n" % " ".join(str(i + 1) for i in face) for face in faces)


def write_prism(path, outline, z):
    n = len(outline)
    points = [(x, y, s * z) for s in (-1, 1) for x, y in outline]
    sides = [(k, (k + 1) % n, n + (k + 1) % n, n + k) for k in range(n)]
    write(path, points, [tuple(range(n - 1, -1, -1)), tuple(range(n, 2 * n))] + sides)


def write_ring(path, outer, hole, z):
    """Outline and hole have the same number of corners."""
    n, faces = len(outer), []
    points = [(x, y, s * z) for outline in (outer, hole) for s in (-1, 1) for x, y in outline]
    for k in range(n):
        j = (k + 1) % n
        faces += [(k, j, n + j, n + k), (2 * n + j, 2 * n + k, 3 * n + k, 3 * n + j)]
        faces += [(n + k, n + j, 3 * n + j), (n + k, 3 * n + j, 3 * n + k)]
        faces += [(j, k, 2 * n + k), (j, 2 * n + k, 2 * n + j)]
    write(path, points, faces)


def run(abut, folder, n, m, play):
    inner = RADIUS * (1 + play)  # of the circle within the hole
    hole = polygon(m, inner / math.cos(math.pi / m), 0.5)
    write_prism(os.path.join(folder, "pin.obj"), polygon(n, RADIUS, 0), 0.03)
    # one side is heavier: the ring hangs, and swings
    outer = [(2 * x + (0.03 if x > 0 else 0), 2 * y) for x, y in polygon(m, RADIUS, 0.5)]
    write_ring(os.path.join(folder, "ring.obj"), outer, hole, 0.01)
    with open(os.path.join(folder, "pin.lua"), "w") as f:
        f.write(SCENE)
    call = lambda *args: subprocess.run([abut, *args], cwd=folder, capture_output=True, text=True)
    done = call("run", "pin.lua", "-o", "pin.abut", "--strict", "--json")
    if done.returncode != 0:
        return done.stderr.strip()
    audit = json.loads(done.stdout)["audit"]
    if not audit["promises_kept"] or audit.get("time_stepped_s", 0) > 0:
        return "audit %s" % audit
    if call("certify", "pin.abut").returncode != 0:
        return "not certified"
    # the centre of mass is on the heavier side; its distance from the pin's axis changes by the play at most,
    # which is from the corners of the one polygon to those of the other
    rows = list(csv.DictReader(io.StringIO(call("track", "pin.abut", "--body", "ring").stdout)))
    away = [math.hypot(float(r["x"]), float(r["y"])) for r in rows]
    most = 2 * (inner / math.cos(math.pi / m) - RADIUS * math.cos(math.pi / n))
    if max(away) - min(away) > most:
        return "the ring left the pin: %g .. %g m from it" % (min(away), max(away))
    return None


def main():
    failed = 0
    for n, m, play in CASES:
        with tempfile.TemporaryDirectory() as folder:
            problem = run(os.path.abspath(sys.argv[1]), folder, n, m, play)
        if problem:
            print("pin of %d facets in %d, play %g: %s" % (n, m, play, problem))
            failed += 1
    print("%d pins, %d failed" % (len(CASES), failed))
    sys.exit(1 if failed else 0)


main()
