#!/usr/bin/env python3
"""certify_tampered.py ABUT: recordings as they are made are certified; each number that is changed by hand in one is found.

What is changed: a place, a velocity, sums of energy and momentum, an impulse, an impact that is taken out, the dense output between two
frames, and a body that is moved off its hinge.  The live clock has no dense output, and no impulses that could be added up."""
import json, os, shutil, sqlite3, struct, subprocess, sys, tempfile

SCENE = """world {duration = 1.5, mode = "%s"}
material {friction = 0.4, restitution = 0.5}
body {name = "floor", shape = halfspace {}, fixed = true}
body {name = "box", shape = solid.box {0.2, 0.2, 0.2}, mass = 2, position = {0, 0, 0.5}, velocity = {1, 0, 0}, spin = {1, 2, 3}}
body {name = "ball", shape = sphere {0.1}, mass = 2, position = {0, 1, 0.5}, velocity = {1, 0, 0}, spin = {1, 2, 3}}
body {name = "bob", shape = sphere {0.1}, mass = 2, position = {0, 3, 1.5}}
hinge.ball {"bob", at = {0, 3, 2.5}}
"""
FLOOR, BOX, BALL, BOB = range(4)
X, Z, VX = 0, 2, 7  # of the 19 numbers of a motion


def change(blob, place, by):
    numbers = list(struct.unpack("<%dd" % (len(blob) // 8), blob))
    numbers[place] += by
    return struct.pack("<%dd" % len(numbers), *numbers)


def motion(frame, body, number, by):
    def edit(db):
        (blob,) = db.execute("SELECT motions FROM frame WHERE id = ?", (frame,)).fetchone()
        db.execute("UPDATE frame SET motions = ? WHERE id = ?", (change(blob, 19 * body + number, by), frame))
    return edit


def sql(text):
    return lambda db: db.execute(text)


def dense(db):
    number, blob = db.execute("SELECT id, coefficients FROM segment ORDER BY id LIMIT 1 OFFSET 40").fetchone()
    db.execute("UPDATE segment SET coefficients = ? WHERE id = ?", (change(blob, 0, 0.01), number))


FIRST = "id = (SELECT min(id) FROM event WHERE kind = 'impact')"
EDITS = [("box in the floor", motion(89, BOX, Z, -0.02), "overlap"), ("bob off its hinge", motion(60, BOB, X, 0.01), "hinge 1"),
         ("velocity", motion(60, BOB, VX, 0.5), "energy"), ("kinetic energy", sql("UPDATE frame SET kinetic = kinetic * 1.01 WHERE id = 50"), "energy"),
         ("dissipated", sql("UPDATE frame SET dissipated = dissipated * 0.9 WHERE id > 50"), "energy"),
         ("momentum", sql("UPDATE frame SET px = px + 0.1 WHERE id = 20"), "momentum"),
         ("angular momentum", sql("UPDATE frame SET lz = lz + 0.1 WHERE id = 20"), "momentum")]
EXACT = [("impulse", sql("UPDATE event SET jz = jz * 1.1 WHERE " + FIRST), "recorded impulses"),
         ("impact taken out", sql("DELETE FROM event WHERE " + FIRST), "recorded impulses"), ("dense output", dense, "jumps by")]


def main(abut):
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        scene, whole, edited = (os.path.join(folder, name) for name in ("scene.lua", "whole.abut", "edited.abut"))
        for mode in ("exact", "live"):
            with open(scene, "w") as f:
                f.write(SCENE % mode)
            subprocess.run([abut, "run", scene, "-o", whole, "-q"], check=True)
            for name, edit, word in [("nothing", lambda db: None, "")] + EDITS + (EXACT if mode == "exact" else []):
                shutil.copy(whole, edited)
                db = sqlite3.connect(edited)
                edit(db)
                db.commit(), db.close()
                done = subprocess.run([abut, "certify", edited, "--json"], capture_output=True, text=True)
                broken = json.loads(done.stdout)["broken"] if done.stdout else done.stderr
                count += 1
                if done.returncode != (1 if word else 0) or word not in broken or (not word and broken):
                    failed += 1
                    print("%s, %s: exit %d, %r" % (mode, name, done.returncode, broken))
    print("%d recordings, %d failed" % (count, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
