#!/usr/bin/env python3
"""Things that spin at up to 1e5 rad/s and touch something at the tips of their swing only, for less than a microsecond.

    grazing_sweeps.py ABUT

A body turns about a principal axis, free of forces, with its centre at rest.  Its tips go round on the radius R; a wall,
an edge or a point stands at the distance D = R - overlap from the axis (or R + overlap: then nothing may happen).  The
instant of the first contact is known in closed form, whatever the program samples: for a tip at the angle b it is when
b + w t = -acos(D / R); for an ellipse with half axes a, b where its support, or its boundary, is D in that direction.
"""
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

A, B = 0.1, 0.004  # half length and half width of what spins
WALL = 'body{name="wall",shape=halfspace{},rotation={math.pi/2,0,-1,0},position={%.17g,0,0},fixed=true}\n'
# a plate with its face, one of its edges (across the axis, not along what spins), or one of its corners at x = D
FACE = 'body{name="wall",shape=solid.box{0.001,0.3,0.3},position={%.17g+0.0005,0,0},fixed=true}\n'
EDGE = ('body{name="wall",shape=solid.hull{{{0,-0.1,-0.1},{0,0.1,0.1},{0.02,0.1,-0.1},{0.02,-0.1,0.1}}},'
        'position={%.17g,0,0},fixed=true}\n')
POINT = ('body{name="wall",shape=solid.hull{{{0,0,0},{0.02,-0.001,-0.001},{0.02,0.001,-0.001},{0.02,0,0.001}}},'
         'position={%.17g,0,0},fixed=true}\n')


def box_tips():
    a = math.atan2(B, A)
    return [a, -a, math.pi - a, math.pi + a]


def first_pass(tips, start, spin, half):
    """When the first tip comes to the angle -half."""
    return min((-half - start - t) % (2 * math.pi) for t in tips) / spin


def ellipse_time(start, spin, distance, vertex):
    """When the ellipse reaches D: its support (a wall), or its boundary (a point) in the direction of x."""
    if vertex:  # D^2 (cos^2/A^2 + sin^2/B^2) = 1
        sine2 = (1 / distance**2 - 1 / A**2) / (1 / B**2 - 1 / A**2)
    else:  # A^2 cos^2 + B^2 sin^2 = D^2
        sine2 = (A * A - distance**2) / (A * A - B * B)
    half = math.asin(math.sqrt(sine2))
    return min((-half - start - t) % (2 * math.pi) for t in (0, math.pi)) / spin


CASES = [  # name, shape, its wall, how far its tips are
    ("vertex, half-space", f"solid.box{{{2*A},{2*B},0.02}}", WALL, "tips"),
    ("vertex, face", f"solid.box{{{2*A},{2*B},0.02}}", FACE, "tips"),
    ("edge, edge", f"solid.box{{{2*A},{2*B},0.06}}", EDGE, "tips"),
    ("rim, half-space", f"cylinder{{{B},{2*A}}}", WALL, "tips"),
    ("rim, face", f"cylinder{{{B},{2*A}}}", FACE, "tips"),
    ("capsule, face", f"capsule{{{B},{2*(A-B)}}}", FACE, "capsule"),
    ("capsule, corner", f"capsule{{{B},{2*(A-B)}}}", POINT, "capsule"),
    ("ellipsoid, half-space", f"ellipsoid{{{A},{B},{B}}}", WALL, "support"),
    ("ellipsoid, corner", f"ellipsoid{{{A},{B},{B}}}", POINT, "boundary"),
]


def expected(kind, start, spin, overlap):
    """D, and the time of the first contact."""
    if kind == "tips":
        radius, tips = math.hypot(A, B), box_tips()
    elif kind == "capsule":  # the end is a ball about the tip of the axis: R^2 sin^2 + ... = it reaches x = D
        return A - overlap, None
    else:
        distance = A - overlap
        return distance, ellipse_time(start, spin, distance, kind == "boundary") if overlap > 0 else None
    distance = radius - overlap
    return distance, first_pass(tips, start, spin, math.acos(distance / radius)) if overlap > 0 else None


def capsule_time(start, spin, distance, corner):
    """The end is a ball of radius B about (A - B) (cos, sin): it reaches a wall where (A - B) cos + B = D, and the
    point (D, 0) where its distance from that is B."""
    c = A - B
    cosine = (c * c + distance**2 - B * B) / (2 * c * distance) if corner else (distance - B) / c
    return first_pass([0, math.pi], start, spin, math.acos(cosine))


def events(abut, folder, text):
    scene, record = folder / "graze.lua", folder / "graze.abut"
    scene.write_text(text)
    done = subprocess.run([abut, "run", str(scene), "-o", str(record), "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        return None, f"exit {done.returncode}: {done.stderr.strip()} {done.stdout[-300:]}"
    listed = subprocess.run([abut, "events", str(record), "--json"], capture_output=True, text=True)
    record.unlink()
    return [e["time"] for e in json.loads(listed.stdout)["events"] if e["kind"] == "impact"], None


def trouble(abut, folder, case, spin, overlap, start):
    name, shape, wall, kind = case
    distance, when = expected(kind, start, spin, overlap)
    if kind == "capsule" and overlap > 0:
        when = capsule_time(start, spin, distance, wall is POINT)
    turned = (math.cos(start / 2), 0, 0, math.sin(start / 2))
    if shape[0] == "c":  # the axis of cylinders and capsules is z
        turned = product(turned, (math.sqrt(0.5), 0, math.sqrt(0.5), 0))
    turn = "quaternion={%.17g,%.17g,%.17g,%.17g}," % turned
    length = 2.2 * math.pi / spin
    text = (f"world{{gravity={{0,0,0}},duration={length:.17g},frame={length:.17g}}}\n"
            "material{restitution=0.5,friction=0}\n" + wall % distance +
            f'body{{name="spins",shape={shape},mass=1,{turn}spin={{0,0,{spin}}}}}\n')
    times, wrong = events(abut, folder, text)
    if wrong:
        return wrong + "\n" + text
    if when is None:
        return f"impacts at {times[:3]}, but it misses\n{text}" if times else None
    # a thousandth of a radian per unit of rounding is lost where the tip moves along the wall: dt = dD / (w R sin)
    slack = 1e-12 / spin + 4e-16 / (spin * math.sqrt(2 * A * overlap)) * 100
    if not times or abs(times[0] - when) > slack + 1e-6 / spin:
        return f"impact at {times[:1]}, not {when:.15g}\n{text}"
    return None


def product(p, q):
    return (p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3], p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
            p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1], p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0])


def main():
    abut, failed, count = sys.argv[1], 0, 0
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None  # recordings are synced: a busy disk takes seconds
    with tempfile.TemporaryDirectory(dir=memory) as name:
        for case in CASES:
            for spin in (1e4, 1e5):
                for overlap in (1e-3, 1e-5, 1e-6, -1e-6):
                    what = trouble(abut, Path(name), case, spin, overlap, 0.7 + 0.13 * count % 0.5)
                    count += 1
                    if what:
                        failed += 1
                        print(f"{case[0]}, {spin:g} rad/s, {overlap:g} m: {what}", flush=True)
    print(f"{count} grazing sweeps, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
