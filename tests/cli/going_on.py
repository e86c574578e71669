#!/usr/bin/env python3
"""going_on.py ABUT: runs that are cut and go on, frames, times of every(), and what a scene may not begin with.

A run that ends anywhere and is resumed must have the bits (hash of the state), frames and events of the run that was
not cut; the functions of its scene must keep what they kept.  The rest is counting by hand."""
import json
import os
import subprocess
import sys
import tempfile

ABUT = os.path.abspath(sys.argv[1])
FLOOR = 'body {name = "floor", shape = halfspace {}, fixed = true}\n'
BALL = 'body {name = "b", shape = sphere {0.1}, position = {0, 0, 1}}\n'
failures = []


def call(*words):
    return subprocess.run([ABUT, *words], capture_output=True, text=True)


def write(folder, text, name="scene.lua"):
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())
    return path


def expect(what, got, wanted):
    if got != wanted:
        failures.append(what)
        print("%s: %s, not %s" % (what, got, wanted))


BOUNCE = "world {duration = 1.5, frame = 1/50}\nmaterial {friction = 0.4, restitution = 0.6}\nlocal kept = 0\n" + FLOOR + BALL
RESUMED = {
    "box": "world {duration = 0.8}\nmaterial {restitution = 0.5, friction = 0.3}\n" + FLOOR +
           'body {name = "b", shape = solid.box {0.1, 0.2, 0.3}, position = {0, 0, 0.4}, rotation = {1, 1, 2, 3}}',
    # forces that depend on what happened: impacts so far, and a sum of random numbers
    "on": BOUNCE + 'on("impact", function(e) kept = kept + e.time end)\nforce {"b", value = function(t) return {kept, 0, 0} end}',
    "every": BOUNCE + 'every(0.1, function(t) kept = kept + math.random() end)\nforce {"b", value = function(t) return {kept, 0, 0} end}',
    "both": BOUNCE + 'every(0.1, function(t) kept = 2 * kept + 1 end)\non("impact", function(e) kept = kept / 3 end)\n'
            'force {"b", value = function(t) return {kept, 0, 0} end}',
    "broken hinge": 'world {duration = 1}\nbody {name = "b", shape = sphere {0.1}, mass = 1, position = {1, 0, 0}}\n'
                    'hinge.rod {"b", at = {0, 0, 0}, break_force = 20}',
    "motion": 'world {duration = 0.7, frame = 0.03}\nmaterial {friction = 0.4}\nbody {name = "plate", shape = solid.box {2, 2, 0.1},'
              " kinematic = true, motion = function(t) return {0.1 * math.sin(7 * t), 0, 0.05 * math.cos(9 * t)} end}\n"
              'body {name = "b", shape = sphere {0.1}, position = {0, 0, 0.5}}',
}


def resume(folder):
    """Cut at a whole frame, within one, and a rounding error beside one (0.7 of 1/60 s frames)."""
    for name, scene in RESUMED.items():
        path, recording = write(folder, scene), os.path.join(folder, "rec")
        for mode in ("exact", "live"):
            whole = json.loads(call("run", path, "--mode", mode, "--json").stdout)
            for part in (0.3, 0.41234, 0.7):
                call("run", path, "--mode", mode, "--duration", str(part * whole["simulated_s"]), "-o", recording, "-q")
                rest = json.loads(call("resume", recording, "--duration", str(whole["simulated_s"]), "--json").stdout)
                for key in ("hash", "frames", "events", "simulated_s"):
                    expect("%s, %s, resumed at %g: %s" % (name, mode, part, key), rest[key], whole[key])


def resume_again(folder):
    """A resume goes on to what was planned last, and never takes back what is recorded."""
    path, recording = write(folder, RESUMED["box"]), os.path.join(folder, "rec")
    call("run", path, "--duration", "0.35", "-o", recording, "-q")
    for words, end in (((), 0.35), (("--duration", "0.2"), 0.35), (("--duration", "0.5"), 0.5), ((), 0.5)):
        done = json.loads(call("resume", recording, *words, "--json").stdout)
        expect("resume %s" % " ".join(words), done["simulated_s"], end)
    expect("rows of energy", len(call("energy", recording).stdout.split()), 1 + 31)


def contacts_between_frames(folder):
    """A box pushed by 1 N for each tick of every(0.1): friction holds it with that force between frames, too."""
    path, recording = write(folder, "world {duration = 1, frame = 0.1}\nmaterial {friction = 1}\nlocal ticks = 0\n" + FLOOR +
                            'body {name = "b", shape = solid.box {1, 1, 0.1}, mass = 10, position = {0, 0, 0.05}}\n'
                            'force {"b", at = {0, 0, 0}, value = function(t) return {ticks, 0, 0} end}\n'
                            "every(0.1, function(t) ticks = ticks + 1 end)\n"), os.path.join(folder, "rec")
    call("run", path, "-o", recording, "-q")
    for at, force in ((0.05, 0), (0.35, 3), (0.95, 9)):
        found = json.loads(call("contacts", recording, "--at", str(at), "--json").stdout)["contacts"]
        expect("friction at %g" % at, round(sum(f[0] for c in found for f in c["forces"]), 9), force)


def every_multiple_once(folder):
    """floor(10 / period) calls, each at its own multiple, whatever the frame; two functions in the order of their times."""
    for period, frame in ((0.1, 1 / 60), (0.1, 0.1), (0.01, 0.01), (0.05, 0.3), (0.3, 0.3), (0.7, 0.07), (1 / 60, 1 / 60)):
        path = write(folder, "world {duration = 10, frame = %r}\nlocal n = 0\n" % frame + BALL +
                     "every(%r, function(t) n = n + 1; assert(math.abs(t - n * %r) < 1e-9) end)\n" % (period, period) +
                     "every(9.9999, function(t) print(n) end)")
        done = call("run", path, "--json")
        expect("every %g in frames of %g" % (period, frame), done.stderr.strip(), str(int(9.9999 / period)))
    path = write(folder, "world {duration = 0.5, frame = 0.5}\nlocal seen = {}\n" + BALL +
                 "every(0.2, function(t) seen[#seen + 1] = 'a' end)\nevery(0.1, function(t) seen[#seen + 1] = 'b' end)\n"
                 "every(0.5, function(t) print(table.concat(seen)) end)")
    expect("order of two", call("run", path, "--json").stderr.strip(), "babbabb")


def frames(folder):
    """A duration that is a multiple of the frame, but for rounding, has one row a frame and one for t = 0."""
    path = write(folder, BALL)
    for duration in (1.85, 3.7, 6.9, 0.7):
        done = json.loads(call("run", path, "--duration", str(duration), "--json").stdout)
        expect("frames in %g s" % duration, (done["frames"], done["simulated_s"]), (round(60 * duration) + 1, duration))


def overlap_in_one_point(folder):
    """Round things with one centre overlap by the sum of their radii; a ball in a cavity by how much it is larger."""
    for a, b, wanted in (("sphere {1}", "sphere {0.5}", 1.5), ("sphere {1}", "capsule {0.1, 0.2}", 1.1),
                         ("capsule {1, 1}", "capsule {1, 1}", 2), ("sphere {1, inside = true}", "sphere {2}", 1),
                         ("sphere {1, inside = true}", "sphere {0.9}", None)):
        path = write(folder, "body {shape = %s, fixed = true}\nbody {shape = %s}" % (a, b))
        found = json.loads(call("check", path, "--json").stdout)["overlaps"]
        expect("%s and %s" % (a, b), round(found[0]["depth"], 9) if found else None, wanted)


def heads(folder):
    """What editors put before a scene: the mark of UTF-8, a line for the shell."""
    for head in (b"\xef\xbb\xbf", b"#!/usr/bin/env abut\n", b"\xef\xbb\xbf#!/bin/sh\n"):
        done = call("run", write(folder, head + b"bdy {}\n"), "-q")
        expect("line behind %r" % head, done.stderr.split(": ")[1].split(":")[-1], str(1 + head.count(b"\n")))
        expect("run behind %r" % head, call("run", write(folder, head + BALL.encode()), "-q").returncode, 0)


def building(folder):
    """The world stands once the scene was read: a function that the run calls cannot add to it."""
    for what in ("body {shape = sphere {1}}", "material {friction = 1}", "world {}", "sphere {1}", "on('impact', print)", "param('x', 1)"):
        done = call("run", write(folder, BALL + "every(0.1, function(t)\n  %s\nend)" % what), "-q")
        expect("%s in every()" % what, (done.returncode, ":3: " in done.stderr, "the run" in done.stderr), (2, True, True))


def root(folder):
    """A scene as JSON elsewhere finds its meshes below --root."""
    other = os.path.join(folder, "other")
    os.mkdir(other)
    write(folder, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n", "tet.obj")
    path = write(folder, 'world {duration = 0.1}\nbody {shape = solid.mesh {"tet.obj"}}')
    moved = write(other, call("run", path, "--dump-json").stdout, "moved.json")
    expect("without --root", call("run", moved, "-q").returncode, 2)
    hashes = [json.loads(call("run", *words, "--json").stdout)["hash"] for words in ((path,), (moved, "--root", folder))]
    expect("with --root", hashes[1], hashes[0])


for check in (resume, resume_again, contacts_between_frames, every_multiple_once, frames, overlap_in_one_point, heads,
              building, root):
    with tempfile.TemporaryDirectory() as place:
        check(place)
print("%d failed" % len(failures))
sys.exit(1 if failures else 0)
