#!/usr/bin/env python3
"""Bodies of all shapes, thrown on each other, on the floor and on a ramp: every run ends and keeps its promises.

    random_heaps.py ABUT [--live | --hard] [--certify] [FIRST COUNT]

The promise is the audit's, which looks at all pairs with the regions and the index and knows nothing of the clock's
contacts: no overlap beyond epsilon, energy and momentum balanced.  The seeds of SEEDS are scenes that went wrong once
(edges that pass through being parallel, rims over edges, bodies pushed out of one another into a third); FIRST and
COUNT try others.  With --live the live clock runs such scenes, the first sixty and those of LIVE_SEEDS that went wrong once, and the
promise is that of its audit: no overlap of more than a twentieth of the smallest body, energy, momentum.  Its bits are
the same everywhere, and so are the heaps that keep it.

With --hard the live clock runs heaps that are made to be hard for it: thin discs, needles and plates, solids with dents,
small bodies among ones up to ten times as large, thrown at up to 10 m/s and 40 rad/s on floors, walls, ramps, edges,
beams and rings; the first hundred and those of HARD_SEEDS that went wrong once.  With --certify each run is recorded and the
certifier looks at it too, which knows all pairs and nothing of the clock's contacts.
"""
import math
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SEEDS = [0, 5, 6, 7, 9, 10, 12, 29, 37, 39, 43, 159, 342, 461, 1005, 1030, 1096, 1110, 1137, 1207, 1250]
LIVE_SEEDS = [*range(60), 90, 139, 243, 249, 273, 337, 358, 524, 552, 604, 641, 645, 657, 660, 808, 1402, 461, 953, 1459, 2684, 2778,
              2967]
SHAPES = [
    "solid.box{0.4,0.3,0.2}", "solid.box{0.2,0.2,0.2}", "sphere{0.15}", "capsule{0.08,0.2}", "cylinder{0.12,0.25}",
    "ellipsoid{0.2,0.15,0.1}", "solid.tetrahedron{0.4}",
    "solid.prism{{{-0.2,-0.1},{0.2,-0.1},{0.2,0},{0,0},{0,0.2},{-0.2,0.2}},0.2}", "solid.cylinder{0.12,0.25,8}",
    "solid.torus{0.2,0.07,10,6}",
]

HARD_SEEDS = [*range(100), 140, 256, 299, 342, 379, 519, 625, 661, 819, 977, 978, 1033, 1101, 1126, 1137, 1213, 1262,
              1277, 1292, 1333, 1418, 1674, 1799, 1865, 2099, 2150, 2348, 2695, 445]
L_SHAPE = "{{{-0.2,-0.1},{0.2,-0.1},{0.2,0},{0,0},{0,0.2},{-0.2,0.2}},0.2}"
U_SHAPE = "{{{-0.2,-0.15},{0.2,-0.15},{0.2,0.15},{0.1,0.15},{0.1,-0.05},{-0.1,-0.05},{-0.1,0.15},{-0.2,0.15}},0.15}"
HARD_SHAPES = [
    "cylinder{0.2,0.06}", "cylinder{0.15,0.02}", "capsule{0.02,0.5}", "solid.box{0.4,0.3,0.02}",
    "ellipsoid{0.2,0.2,0.03}", "ellipsoid{0.2,0.15,0.1}", "solid.tetrahedron{0.4}", "solid.prism" + L_SHAPE,
    "solid.prism" + U_SHAPE, "solid.torus{0.2,0.07,10,6}", "solid.box{0.2,0.2,0.2}", "sphere{0.15}",
    "cylinder{0.05,0.4}", "solid.cylinder{0.12,0.25,8}",
]


def vector(numbers, digits):
    return "{" + ",".join(f"{x:.{digits}f}" for x in numbers) + "}"


def body(name, shape, height):
    between = random.uniform
    turn = [random.gauss(0, 1) for _ in range(3)]
    place = [between(-0.2, 0.2), between(-0.2, 0.2)]
    angle = random.choice([0, between(0, 3)])
    velocity = [between(-1, 1), between(-1, 1), between(-3, 0)]
    spin = [between(-5, 5) for _ in range(3)]
    return (f'body{{name="{name}",shape={shape},density=1000,position={{{place[0]:.3f},{place[1]:.3f},{height:.2f}}},'
            f"rotation={{{angle:.3f},{turn[0]:.3f},{turn[1]:.3f},{turn[2]:.3f}}},"
            f"velocity={vector(velocity, 2)},spin={vector(spin, 2)}}}\n")


def scene(seed):
    random.seed(seed)
    friction, restitution = random.choice([0, 0, 0.2, 0.5, 1.0]), random.choice([0, 0, 0.3, 0.7])
    count = random.randint(1, 5)
    text = (f"world{{duration=1.5,frame=1/60}}\nmaterial{{restitution={restitution},friction={friction}}}\n"
            'body{name="floor",shape=halfspace{normal={0,0,1},offset=0},fixed=true}\n')
    if random.random() < 0.4:
        text += ('body{name="ramp",shape=solid.box{2,2,0.2},position={0.6,0,0.2},'
                 f"rotation={{{random.uniform(0.1, 0.6):.3f},0,1,0}},fixed=true}}\n")
    for i in range(count):
        shape = random.choice(SHAPES)
        text += body(f"b{i}", shape, 1.2 + 0.6 * i)
    return text


def scaled(shape, factor):
    """The shape with all lengths times a factor; numbers of sides stay."""
    def times(match):
        return match[0] if "." not in match[0] else f"{float(match[0]) * factor:.4f}"
    kind, brace, numbers = shape.partition("{")
    return kind + brace + re.sub(r"[0-9.]+", times, numbers)


def fixed(name, shape, place, turn):
    return (f'body{{name="{name}",shape={shape},position={vector(place, 3)},rotation={vector(turn, 3)},'
            "fixed=true}\n")


def obstacle(name):
    """A ramp, a wall, an edge upwards, a beam or a ring, near the middle."""
    between, kind = random.uniform, random.choice(["ramp", "wall", "edge", "beam", "ring"])
    around = [between(0, 0.3), *(random.gauss(0, 1) for _ in range(3))]
    place = [between(-0.3, 0.3), between(-0.3, 0.3)]
    if kind == "ramp":
        return fixed(name, "solid.box{2,2,0.2}", [0.6, 0, 0.2], [between(0.1, 0.8), 0, 1, 0])
    if kind == "wall":
        return fixed(name, "solid.box{0.1,3,2}", [random.choice([-1.6, 1.6]), 0, 1], [between(-0.15, 0.15), 0, 1, 0])
    if kind == "edge":
        return fixed(name, "solid.box{0.3,2,0.3}", [place[0], 0, between(0.1, 0.4)], [math.pi / 4, 0, 1, 0])
    if kind == "beam":
        return fixed(name, "solid.box{0.06,2,0.06}", [*place, between(0.2, 0.7)], around)
    return fixed(name, "solid.torus{0.3,0.1,16,8}", [*place, between(0.1, 0.5)], around)


def hard_body(name, shape, height, size):
    between = random.uniform
    turn = [between(0, math.pi), *(random.gauss(0, 1) for _ in range(3))]
    place = [between(-0.3, 0.3), between(-0.3, 0.3), height]
    speed, rate = random.choice([1, 3, 10]), random.choice([1, 10, 40])
    velocity = [between(-0.5, 0.5) * speed, between(-0.5, 0.5) * speed, between(-0.7, 0) * speed]
    spin = [between(-0.57, 0.57) * rate for _ in range(3)]
    return (f'body{{name="{name}",shape={scaled(shape, size)},density=1000,position={vector(place, 3)},'
            f"rotation={vector(turn, 3)},velocity={vector(velocity, 2)},spin={vector(spin, 2)}}}\n")


def hard_scene(seed):
    random.seed(seed)
    between = random.uniform
    friction, restitution = random.choice([0, between(0, 1)]), random.choice([0, 0, between(0, 0.9)])
    largest = random.choice([1, 1, 3, 10])
    text = (f"world{{duration=1.5,frame=1/60}}\nmaterial{{restitution={restitution:.2f},friction={friction:.2f}}}\n"
            'body{name="floor",shape=halfspace{normal={0,0,1},offset=0},fixed=true}\n')
    for i in range(random.choice([0, 1, 1, 2])):
        text += obstacle(f"o{i}")
    height = 1.2
    for i in range(random.randint(1, 6)):
        size = largest ** between(-0.5, 0.5)
        height += 0.3 * size
        text += hard_body(f"b{i}", random.choice(HARD_SHAPES), height, size)
        height += 0.3 * size
    return text


def certified(abut, record):
    """What the certifier says against a recording, None where it says nothing."""
    run = subprocess.run([abut, "certify", str(record)], capture_output=True, text=True)
    return None if run.returncode == 0 else (run.stdout + run.stderr).strip()


def main():
    live, hard, certify = ("--live" in sys.argv, "--hard" in sys.argv, "--certify" in sys.argv)
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    abut, mode = words[0], ["--mode", "live"] if live or hard else []
    seeds = HARD_SEEDS if hard else LIVE_SEEDS if live else SEEDS
    if len(words) > 2:
        seeds = range(int(words[1]), int(words[1]) + int(words[2]))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            path = Path(folder) / f"heap{seed}.lua"
            path.write_text(hard_scene(seed) if hard else scene(seed))
            record = Path(folder) / "heap.rec"
            words = [abut, "run", str(path), *mode, "--strict", "-q", *(["-o", str(record)] if certify else [])]
            run = subprocess.run(words, capture_output=True, text=True)
            against = certified(abut, record) if certify else None
            failed += run.returncode != 0 or against is not None
            if run.returncode != 0:
                print(f"seed {seed}: exit {run.returncode}: {run.stderr.strip()}")
            if against is not None:
                print(f"seed {seed}: certify: {against}")
    print(f"{len(seeds)} heaps, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
