#!/usr/bin/env python3
"""Heaps and chains that bodies which cannot give crush: presses, jaws, a ball, an arm that sweeps them against a wall.

    random_crush.py ABUT [FIRST COUNT]...

Nothing can keep the promise of overlap there, and the audit says so.  But the run goes on: every one ends, with numbers that
are finite (the live clock stops a run that leaves them, with status 1), and no energy comes from nothing.  Without FIRST and
COUNT the first of them.
"""
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

SEEDS = list(range(16))
SHAPES = [
    "solid.box{0.4,0.3,0.2}", "sphere{0.15}", "capsule{0.08,0.2}", "cylinder{0.12,0.25}", "ellipsoid{0.2,0.12,0.1}",
    "solid.torus{0.2,0.08,12,8}", "solid.tetrahedron{0.4}",
    "solid.prism{{{0,0},{0.3,0},{0.3,0.1},{0.1,0.1},{0.1,0.3},{0,0.3}},0.2}"
]
PRESSES = {
    "press": 'body { name="press", shape=solid.box{4,4,0.5}, kinematic=true, position={0,0,%(above)g}, velocity={0,0,-%(speed)g} }',
    "ball": 'body { name="ball", shape=sphere{0.8}, kinematic=true, position={0,0,%(above)g}, velocity={0,0,-%(speed)g} }',
    "jaws": 'for side = -1, 1, 2 do body { name="jaw" .. side, shape=solid.box{0.5,4,4}, kinematic=true, '
            'position={-%(aside)g * side,0,2}, velocity={%(speed)g * side,0,0} } end',
    "arm": 'body { name="arm", shape=solid.box{3,0.3,0.4}, kinematic=true, position={0,0.9,0.25}, spin={0,0,3 * %(speed)g} }\n'
           'body { name="wall", shape=halfspace{normal={1,0,0},offset=-0.8}, fixed=true }'
}


def scene(seed):
    r = random.Random(seed)
    lines = [
        'world { mode = "live", duration = 4 }',
        f"material {{ friction = {r.choice([0, 0.3, 0.8])}, restitution = {r.choice([0, 0, 0.5])} }}",
        'body { name="floor", shape=halfspace{normal={0,0,1},offset=0}, fixed=true }'
    ]
    kinds, count = r.sample(SHAPES, 3), r.randint(4, 20)
    for i in range(count):
        place = f"{r.uniform(-0.4, 0.4):.4f},{r.uniform(-0.4, 0.4):.4f},{0.4 + 0.35 * i:.4f}"
        turn = f"{r.uniform(0, 3):.4f},{r.uniform(-1, 1):.4f},{r.uniform(-1, 1):.4f},1"
        lines.append(f'body {{ name="b{i}", shape={r.choice(kinds)}, density={r.choice([100, 1000, 8000])}, '
                     f"position={{{place}}}, rotation={{{turn}}} }}")
    if r.random() < 0.4:
        lines += [f'hinge.ball{{"b{i}","b{i + 1}", at={{0,0,{0.57 + 0.35 * i:.4f}}}}}' for i in range(0, count - 1, 2)]
    speed = r.choice([0.5, 2, 8])
    lines.append(PRESSES[r.choice(sorted(PRESSES))] % {"speed": speed, "above": 1.4 + 0.35 * count + speed, "aside": 1.3 + speed})
    return "\n".join(lines)


def crush(abut, seed, folder):
    path = Path(folder) / f"crush{seed}.lua"
    path.write_text(scene(seed))
    run = subprocess.run([abut, "run", str(path), "--allow-overlap", "--json"], capture_output=True, text=True, timeout=600)
    if run.returncode != 0:
        return run.stderr.strip()
    gained = json.loads(run.stdout)["audit"]["energy_error_relative"]
    return f"gained {gained:.3g} of its energy" if gained > 0.01 else ""


def main():
    numbers = [int(word) for word in sys.argv[2:]]
    seeds = [s for first, count in zip(numbers[::2], numbers[1::2]) for s in range(first, first + count)] or SEEDS
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            words = crush(sys.argv[1], seed, folder)
            failed += bool(words)
            if words:
                print(f"seed {seed}: {words}")
    print(f"{len(seeds)} heaps crushed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
