#!/usr/bin/env python3
"""Single bodies dropped askew on a rough floor must stay exact: random_drops.py ABUT [FIRST [COUNT]]

Boxes, prisms, cylinders, capsules and ellipsoids with random pose, spin, friction and restitution land, pivot on corners and
rims, begin to slip, stick again and come to rest.  Nothing here is beyond the exact clock: a run must keep its promises, and
one that was stepped in time for a while (audit: storms) counts as failed."""
import json, pathlib, random, subprocess, sys, tempfile

abut, first = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
count = int(sys.argv[3]) if len(sys.argv) > 3 else 60


def shape(r):
    a, b, c = (r.uniform(0.1, 0.5) for _ in range(3))
    return [f"solid.box {{{a}, {b}, {c}}}", f"solid.box {{{a}, {b}, {c}}}", f"solid.prism {{{{{{0, 0}}, {{{a}, 0}}, {{0, {b}}}}}, {c}}}",
            f"cylinder {{{a / 2}, {b}}}", f"capsule {{{a / 3}, {b}}}",
            f"ellipsoid {{{a / 2}, {b / 2}, {c / 2}}}"][r.randrange(6)]


def scene(seed):
    r = random.Random(seed)
    turn = [r.gauss(0, 1) for _ in range(4)]
    size = sum(x * x for x in turn) ** 0.5
    turn = ", ".join(str(x / size) for x in turn)
    return f"""world {{ duration = 2, frame = 1/60 }}
material {{ restitution = {r.choice([0, 0.2, 0.5])}, friction = {r.choice([0.2, 0.4, 0.7])} }}
body {{ name = "floor", shape = halfspace {{ normal = {{0, 0, 1}}, offset = 0 }}, fixed = true }}
body {{ name = "it", shape = {shape(r)}, density = 600, position = {{0, 0, 0.7}}, quaternion = {{{turn}}},
       velocity = {{{r.uniform(-1, 1)}, {r.uniform(-1, 1)}, 0}}, spin = {{{r.uniform(-3, 3)}, {r.uniform(-3, 3)}, {r.uniform(-3, 3)}}} }}
"""


def wrong(seed, file):
    file.write_text(scene(seed))
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


failed = 0
with tempfile.TemporaryDirectory() as folder:
    for seed in range(first, first + count):
        what = wrong(seed, pathlib.Path(folder) / "drop.lua")
        if what:
            failed += 1
            print(f"seed {seed}: {what}\n{scene(seed)}")
print(f"{count} drops, {failed} failed")
sys.exit(failed > 0)
