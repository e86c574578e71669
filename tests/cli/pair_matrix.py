#!/usr/bin/env python3
"""Every kind of shape dropped on every other, in random poses, with and without friction and bounce.

    pair_matrix.py ABUT [POSES [FALLING GROUND]]

Each run must end with its promises kept by the audit, which knows nothing of the clock's contacts; the energy must never
rise; and a second run, on two threads, must end in the same bits.  POSES (1) is the number of poses of every ordered
pair; with 1 the materials are dealt out over the pairs, otherwise every pose is run with each of the four.
"""
import csv
import io
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

SHAPES = {
    "box": "solid.box{0.4,0.3,0.2}",
    "hull": "solid.hull{{{0,0,0.2},{0.25,0,0.05},{-0.1,0.22,0},{-0.15,-0.2,-0.02},{0.1,-0.12,-0.18},{0.02,0.15,-0.2}}}",
    "tetrahedron": "solid.tetrahedron{0.4}",
    "L": "solid.prism{{{-0.2,-0.1},{0.2,-0.1},{0.2,0},{0,0},{0,0.2},{-0.2,0.2}},0.2}",
    "sphere": "sphere{0.15}",
    "ellipsoid": "ellipsoid{0.2,0.15,0.1}",
    "capsule": "capsule{0.08,0.2}",
    "cylinder": "cylinder{0.12,0.25}",
}
WALLS = {
    "half-space": 'body{name="floor",shape=halfspace{normal={0.1,0.05,1},offset=0},fixed=true}\n',
    "cavity": 'body{name="bowl",shape=sphere{1.2,inside=true},position={0,0,1.2},fixed=true}\n',
}
MATERIALS = [(friction, restitution) for friction in (0, 0.5) for restitution in (0, 0.5)]


def numbers(values, digits=3):
    return "{" + ",".join(f"{v:.{digits}f}" for v in values) + "}"


def rotation(rng):
    """No turn, a quarter turn (faces and ends come to lie flat), or any."""
    kind = rng.randrange(3)
    axis = [[1, 0, 0], [0, 1, 0], [1, 1, 0]][rng.randrange(3)] if kind < 2 else [rng.gauss(0, 1) for _ in range(3)]
    angle = [0, 1.5707963267948966, rng.uniform(0, 3)][kind]
    return f"rotation={{{angle!r},{axis[0]!r},{axis[1]!r},{axis[2]!r}}}"


def falling(name, shape, height, rng):
    place = [rng.uniform(-0.1, 0.1), rng.uniform(-0.1, 0.1), height]
    velocity = [rng.uniform(-0.5, 0.5), rng.uniform(-0.5, 0.5), rng.uniform(-2, 0)]
    spin = [rng.choice([0, rng.uniform(-5, 5)]) for _ in range(3)]
    return (f'body{{name="{name}",shape={shape},position={numbers(place)},{rotation(rng)},'
            f"velocity={numbers(velocity)},spin={numbers(spin)}}}\n")


def scene(above, below, pose, material):
    rng = random.Random(f"{above} {below} {pose}")
    friction, restitution = material
    text = f"world{{duration=1,frame=1/60}}\nmaterial{{restitution={restitution},friction={friction}}}\n"
    if below in WALLS:
        return text + WALLS[below] + falling("above", SHAPES[above], 0.9, rng)
    if rng.random() < 0.5:
        text += f'body{{name="below",shape={SHAPES[below]},{rotation(rng)},fixed=true}}\n'
    else:
        text += 'body{name="floor",shape=halfspace{normal={0,0,1},offset=-0.5},fixed=true}\n'
        text += falling("below", SHAPES[below], 0, rng)
    return text + falling("above", SHAPES[above], 0.75, rng)


def run(abut, path, *options):
    return subprocess.run([abut, "run", str(path), "--json", *options], capture_output=True, text=True)


def rises(abut, recording):
    """By how much the energy of bodies on which nothing does work rises from a frame to the next, of the largest."""
    text = subprocess.run([abut, "energy", str(recording)], capture_output=True, text=True, check=True).stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    total = [float(r["total"]) for r in rows]
    size = max(max(float(r["kinetic"]), abs(float(r["potential"]))) for r in rows)
    return max([0.0] + [b - a for a, b in zip(total, total[1:])]) / size


def trouble(abut, folder, text):
    path, recording = Path(folder) / "pair.lua", Path(folder) / "pair.abut"
    path.write_text(text)
    recording.unlink(missing_ok=True)
    first = run(abut, path, "-o", str(recording), "--threads", "1")
    if first.returncode != 0:
        return f"exit {first.returncode}: {first.stderr.strip()}"
    answer = json.loads(first.stdout)
    if not answer["audit"]["promises_kept"]:
        return f"promises: {answer['audit']}"
    up = rises(abut, recording)
    if up > 1e-6:
        return f"the energy rises by {up:.3g} of the largest"
    second = run(abut, path, "--threads", "2")
    if second.returncode != 0 or json.loads(second.stdout)["hash"] != answer["hash"]:
        return "a second run ends elsewhere"
    return None


def main():
    abut, poses = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    pairs = [(a, b) for a in SHAPES for b in [*SHAPES, *WALLS]]
    if len(sys.argv) > 4:
        pairs = [(sys.argv[3], sys.argv[4])]
    count = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, (above, below) in enumerate(pairs):
            for pose in range(poses):
                materials = MATERIALS if poses > 1 else [MATERIALS[number % 4]]
                for material in materials:
                    text = scene(above, below, pose, material)
                    what = trouble(abut, folder, text)
                    count += 1
                    if what:
                        failed += 1
                        print(f"{above} on {below}, pose {pose}, friction and restitution {material}: {what}", flush=True)
    print(f"{count} drops, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
