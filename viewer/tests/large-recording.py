#!/usr/bin/env python3
"""A recording of many bodies over many minutes: large-recording.py ABUT OUT [BODIES [SECONDS]]

Ten seconds are simulated by the live clock, at 30 frames a second: boxes, balls and cylinders rain on a floor, bounce and come to
rest, so that frames have from no contact to one a body.  Their rows are then repeated, with later times, until there are SECONDS."""
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK_S, FRAME_RATE = 10, 30


def scene(bodies):
    lines = ['-- rain', f'world {{ title = "{bodies} bodies", duration = {BLOCK_S}, frame = 1/{FRAME_RATE}, mode = "live" }}',
             'material { restitution = 0.55, friction = 0.4 }',
             'body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }']
    shapes = ['solid.box {0.3, 0.24, 0.2}', 'sphere {0.16}', 'cylinder { radius = 0.13, height = 0.3 }']
    side = int(bodies ** 0.5 + 1)
    for i in range(bodies - 1):
        x, y, z = 0.6 * (i % side), 0.6 * (i // side), 0.5 + 4.0 * ((i * 137) % 101) / 101
        spin = [((i * k) % 17 - 8) / 3 for k in (5, 7, 11)]
        lines.append(f'body {{ name = "b{i}", shape = {shapes[i % 3]}, density = 800, position = {{{x:.3f}, {y:.3f}, {z:.4f}}},'
                     f' spin = {{{spin[0]:.3f}, {spin[1]:.3f}, {spin[2]:.3f}}} }}')
    return "\n".join(lines) + "\n"


def columns(db, table, leave_out):
    return [c[1] for c in db.execute(f"PRAGMA table_info({table})") if c[1] not in leave_out]


def repeat(path, seconds):
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode=OFF")
    db.execute("PRAGMA synchronous=OFF")
    frames = db.execute("SELECT max(id) FROM frame").fetchone()[0]
    events = db.execute("SELECT ifnull(max(id), -1) + 1 FROM event").fetchone()[0]
    db.execute("BEGIN")
    for k in range(1, seconds // BLOCK_S):
        later, id_later = k * BLOCK_S, k * frames
        for table, fixed, where in [
                ("frame", {"id": f"id + {id_later}", "t": f"t + {later}"}, f"id BETWEEN 1 AND {frames}"),
                ("contact", {"id": "NULL", "frame": f"frame + {id_later}"}, f"frame BETWEEN 1 AND {frames}"),
                ("event", {"id": f"id + {k * events}", "t": f"t + {later}"}, f"id < {events}")]:
            names = columns(db, table, ())
            values = ", ".join(fixed.get(n, n) for n in names)
            db.execute(f"INSERT INTO {table}({', '.join(names)}) SELECT {values} FROM {table} WHERE {where}")
    db.execute("DELETE FROM segment")
    db.execute("COMMIT")
    db.execute("UPDATE meta SET value = ? WHERE key = 'duration'", (str(seconds),))


def main():
    abut, out = sys.argv[1:3]
    bodies = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    seconds = int(sys.argv[4]) if len(sys.argv) > 4 else 600
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rain.lua")
        file.write_text(scene(bodies))
        subprocess.run([abut, "run", str(file), "-o", out, "-q"], check=True)
    repeat(out, seconds)
    size = Path(out).stat().st_size
    print(f"{out}: {bodies} bodies, {seconds} s, {size / 1e9:.2f} GB")


main()
