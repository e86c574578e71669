#!/usr/bin/env python3
"""Single bodies dropped askew on a rough floor must stay exact: random_drops.py ABUT [FIRST [COUNT [BODIES]]]

Boxes, prisms, cylinders, capsules and ellipsoids with random pose, spin, friction and restitution land, pivot on corners and
rims, begin to slip, stick again and come to rest.  With BODIES > 1 as many boxes fall on each other.  Nothing here is beyond
the exact clock: a run must keep its promises, and one that was stepped in time for a while (audit: storms) counts as failed.
Without FIRST: 60 single bodies, 20 scenes of two boxes, and scenes of two and three in which an event turns a slow slip."""
import json, pathlib, random, subprocess, sys, tempfile

abut, numbers = sys.argv[1], [int(a) for a in sys.argv[2:]]


def shape(r):
    a, b, c = (r.uniform(0.1, 0.5) for _ in range(3))
    return [f"solid.box {{{a}, {b}, {c}}}", f"solid.box {{{a}, {b}, {c}}}", f"solid.prism {{{{{{0, 0}}, {{{a}, 0}}, {{0, {b}}}}}, {c}}}",
            f"cylinder {{{a / 2}, {b}}}", f"capsule {{{a / 3}, {b}}}",
            f"ellipsoid {{{a / 2}, {b / 2}, {c / 2}}}"][r.randrange(6)]


def random_turn(r):
    turn = [r.gauss(0, 1) for _ in range(4)]
    size = sum(x * x for x in turn) ** 0.5
    return ", ".join(str(x / size) for x in turn)


def boxes(seed, count):
    r = random.Random(seed)
    text = f"""world {{ duration = 2, frame = 1/60 }}
material {{ restitution = {r.choice([0, 0.2, 0.5])}, friction = {r.choice([0.2, 0.4, 0.7])} }}
body {{ name = "floor", shape = halfspace {{ normal = {{0, 0, 1}}, offset = 0 }}, fixed = true }}
"""
    for i in range(count):
        turn = random_turn(r)
        sides = ", ".join(str(r.uniform(0.1, 0.5)) for _ in range(3))
        text += f"""body {{ name = "it{i}", shape = solid.box {{{sides}}}, density = 600,
       position = {{{r.uniform(-0.1, 0.1)}, {r.uniform(-0.1, 0.1)}, {0.7 + 0.9 * i}}}, quaternion = {{{turn}}},
       velocity = {{{r.uniform(-0.3, 0.3)}, {r.uniform(-0.3, 0.3)}, 0}}, spin = {{{r.uniform(-3, 3)}, {r.uniform(-3, 3)}, {r.uniform(-3, 3)}}} }}
"""
    return text


def scene(seed, bodies):
    if bodies > 1:
        return boxes(seed, bodies)
    r = random.Random(seed)
    turn = random_turn(r)
    return f"""world {{ duration = 2, frame = 1/60 }}
material {{ restitution = {r.choice([0, 0.2, 0.5])}, friction = {r.choice([0.2, 0.4, 0.7])} }}
body {{ name = "floor", shape = halfspace {{ normal = {{0, 0, 1}}, offset = 0 }}, fixed = true }}
body {{ name = "it", shape = {shape(r)}, density = 600, position = {{0, 0, 0.7}}, quaternion = {{{turn}}},
       velocity = {{{r.uniform(-1, 1)}, {r.uniform(-1, 1)}, 0}}, spin = {{{r.uniform(-3, 3)}, {r.uniform(-3, 3)}, {r.uniform(-3, 3)}}} }}
"""


def wrong(text, file):
    file.write_text(text)
    try:
        run = subprocess.run([abut, "run", str(file), "--json", "-q"], capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "did not end in a minute"
    if run.returncode != 0:
        return run.stderr.strip()[-300:] or f"exit status {run.returncode}"
    audit = json.loads(run.stdout)["audit"]
    if not audit["promises_kept"]:
        return f"a promise was broken: {audit}"
    return f"was stepped in time for {audit['time_stepped_s']:.4f} s" if audit["storms"] else None


def drop(first, count, bodies):
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            text = scene(seed, bodies)
            what = wrong(text, pathlib.Path(folder) / "drop.lua")
            if what:
                failed += 1
                print(f"seed {seed}: {what}\n{text}")
    print(f"{count} drops, {failed} failed")
    return failed


if numbers:
    sys.exit(drop(*(numbers + [0, 60, 1][len(numbers):])) > 0)
# The modes of friction hold for the directions of the steps that follow (198, 85), and a step that failed leaves none of
# its directions behind (216).
turning = [drop(198, 1, 2), drop(216, 1, 2), drop(85, 1, 3)]
sys.exit(drop(0, 60, 1) + drop(0, 20, 2) + sum(turning) > 0)
