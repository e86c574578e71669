#!/usr/bin/env python3
"""Sharp, thin things that fly and spin past round ones: edges and rims whose nearest places run along them fast.

    random_sweeps.py ABUT [FIRST [COUNT]]

No gravity; frames are long, so that steps are.  Every run must keep its promises by the audit, which knows nothing of
the clock's contacts.
"""
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROUND = ["capsule{0.08,0.3}", "cylinder{0.1,0.3}", "ellipsoid{0.2,0.12,0.08}", "sphere{0.12}", "capsule{0.01,0.5}",
         "cylinder{0.02,0.5}", "cylinder{0.2,0.02}"]
SHARP = ["solid.box{1.2,0.02,0.01}", "solid.box{0.8,0.4,0.01}", "solid.tetrahedron{0.5}", "solid.box{0.3,0.3,0.3}",
         "solid.box{1,0.01,0.01}", "cylinder{0.3,0.01}", "cylinder{0.02,1}"]


def numbers(values):
    return "{" + ",".join(f"{v:.4f}" for v in values) + "}"


def scene(seed):
    rng = random.Random(seed)
    sharp, other, spin = rng.choice(SHARP), rng.choice(ROUND), rng.choice([5, 30, 100])
    within = lambda most: [rng.uniform(-most, most) for _ in range(3)]
    turn = lambda: numbers([rng.uniform(0, 3)] + [rng.gauss(0, 1) for _ in range(3)])
    start = within(1)
    size = sum(x * x for x in start) ** 0.5
    start = [1.5 * x / size for x in start]
    velocity = [-x * rng.uniform(1, 6) + rng.uniform(-0.3, 0.3) for x in start]
    held = rng.choice(["fixed=true", "mass=2,spin=" + numbers(within(spin))])
    return ("world{gravity={0,0,0},duration=0.8,frame=1/30}\n"
            f"material{{restitution={rng.choice([0, 0.5, 1])},friction={rng.choice([0, 0.4])}}}\n"
            f'body{{name="round",shape={other},rotation={turn()},{held}}}\n'
            f'body{{name="sharp",shape={sharp},mass=1,position={numbers(start)},rotation={turn()},'
            f"velocity={numbers(velocity)},spin={numbers(within(spin))}}}\n")


def trouble(abut, path, seed):
    path.write_text(scene(seed))
    done = subprocess.run([abut, "run", str(path), "--json"], capture_output=True, text=True)
    if done.returncode not in (0, 1) or not done.stdout:
        return f"exit {done.returncode}: {done.stderr.strip()}"
    audit = json.loads(done.stdout)["audit"]
    return None if audit["promises_kept"] else audit["broken"]


def main():
    abut, first, count = sys.argv[1], int((sys.argv[2:] or ["0"])[0]), int((sys.argv[3:] or ["40"])[0])
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            what = trouble(abut, Path(folder) / "sweep.lua", seed)
            if what:
                failed += 1
                print(f"seed {seed}: {what}\n{scene(seed)}", flush=True)
    print(f"{count} sweeps, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
