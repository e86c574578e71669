#!/usr/bin/env python3
"""scene_claims.py ABUT SCENES [NAME]: what the opening comment of every scene in the folder says is to be seen, is seen.

Each scene is run to its end with `--strict`; its claims are checked on the recording, against the closed form that the comment names,
and `abut certify` looks at the recording by other means: bodies may overlap that the clock has no contact for.
A scene without a function here fails: whoever adds one says what to see, and checks it."""
import csv
import io
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

G = 9.81
CLAIMS = {}


class Run:
    """A recorded run of a scene, and what `abut` tells of it."""

    def __init__(self, abut, folder, name, *options):
        self.abut, self.rec = abut, str(folder / ("%s.abut" % name))
        call = [abut, "run", str(SCENES / (name + ".lua")), "-o", self.rec, "--strict", "--json", *options]
        done = subprocess.run(call, capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError("exit %d: %s" % (done.returncode, done.stderr.strip()))
        self.summary = json.loads(done.stdout)
        self.end = self.summary["simulated_s"]
        self.folder, self.name = folder, name

    def again(self, *options):
        return Run(self.abut, self.folder, self.name, *options)

    def _ask(self, *words):
        return subprocess.run([self.abut, *words], capture_output=True, text=True, check=True).stdout

    def _rows(self, text):
        return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(io.StringIO(text))]

    def track(self, body):
        return self._rows(self._ask("track", self.rec, "--body", body))

    def at(self, body, time=None):
        return self._rows(self._ask("track", self.rec, "--body", body, "--at", repr(self.end if time is None else time)))[0]

    def energy(self):
        return self._rows(self._ask("energy", self.rec))

    def events(self, kind=None, *bodies):
        all = json.loads(self._ask("events", self.rec, "--json"))["events"]
        return [e for e in all if kind in (None, e["kind"]) and set(bodies) <= set(e["bodies"])]

    def certify(self):
        done = subprocess.run([self.abut, "certify", self.rec], capture_output=True, text=True)
        holds(done.returncode == 0, "it is certified: " + (done.stdout + done.stderr).strip().split("\n")[-1])

    def contacts(self, time):
        return json.loads(self._ask("contacts", self.rec, "--at", repr(time), "--json"))["contacts"]


def claim(name):
    def keep(function):
        CLAIMS[name] = function
        return function
    return keep


def near(value, wanted, tolerance, what="it"):
    if not abs(value - wanted) <= tolerance:
        raise AssertionError("%s is %.12g, not %.12g (to %g)" % (what, value, wanted, tolerance))


def holds(condition, what):
    if not condition:
        raise AssertionError("not so: " + what)


def axis(row, v):
    """A direction of the body in world axes."""
    w, x, y, z = (row[k] for k in ("qw", "qx", "qy", "qz"))
    t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])]
    return [v[0] + w * t[0] + y * t[2] - z * t[1], v[1] + w * t[1] + z * t[0] - x * t[2], v[2] + w * t[2] + x * t[1] - y * t[0]]


def speed(row):
    return math.hypot(row["vx"], row["vy"], row["vz"]) + 0.1 * math.hypot(row["wx"], row["wy"], row["wz"])


def forces(run, time, *bodies):
    return [f for c in run.contacts(time) if set(bodies) <= set(c["bodies"]) for f in c["forces"]]


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def solve(columns, right):
    """Cramer's rule for three unknowns."""
    a, b, c = columns
    det = dot(a, cross(b, c))
    return [dot(right, cross(b, c)) / det, dot(a, cross(right, c)) / det, dot(a, cross(b, right)) / det]


def runge_kutta(rates, state, h):
    """One step of the classical method for a list of vectors."""
    add = lambda k, f: [[x + f * y for x, y in zip(p, q)] for p, q in zip(state, k)]
    k1 = rates(state)
    k2 = rates(add(k1, h / 2))
    k3 = rates(add(k2, h / 2))
    k4 = rates(add(k3, h))
    mean = [[(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(*v)] for v in zip(k1, k2, k3, k4)]
    return add(mean, h)


def quad(f, a, b, n=2000):
    """Integral of f from a to b where f may be like (x - a)^-1/2 there: with x = a + (b - a) u^2 that is smooth.  Simpson's rule."""
    g = lambda u: f(a + (b - a) * u * u) * 2 * (b - a) * u if u > 0 else g(1e-4)
    h = 1 / n
    return h / 3 * sum((1 if k in (0, n) else 4 if k % 2 else 2) * g(k * h) for k in range(n + 1))


def energy_stays(run, part):
    rows = run.energy()
    scale = max(abs(r["kinetic"]) for r in rows) + max(r["potential"] for r in rows) - min(r["potential"] for r in rows)
    for r in rows:
        near(r["total"], rows[0]["total"], part * scale, "the energy at %g s" % r["t"])


def energy_falls(run, but=()):
    rows = run.energy()
    scale = max(abs(r["kinetic"]) for r in rows)
    for a, b in zip(rows, rows[1:]):
        holds(b["total"] <= a["total"] + 1e-9 * scale, "the energy falls at %g s" % b["t"])
    return rows


# ---- standing

@claim("arch")
def arch(run):
    for i in range(1, 8):
        first, last = run.at("stone%d" % i, 0), run.at("stone%d" % i)
        near(last["x"], first["x"], 1e-9), near(last["z"], first["z"], 1e-9)
    area = 7 / 2 * math.sin(math.pi / 7) * (1.4**2 - 1)  # of wedges between two circles' chords
    for stone in ("stone1", "stone7"):
        carried = sum(f[2] for f in forces(run, 1, "floor", stone))
        near(abs(carried), area * 0.5 * 2400 * G / 2, 1e-3, "the load of " + stone)


@claim("card-house")
def card_house(run):
    near(run.at("roof")["z"], run.at("roof", 0)["z"], 1e-9)
    fallen = run.again("--set", "friction=0.1")
    holds(fallen.at("roof")["z"] < 0.9 * fallen.at("roof", 0)["z"], "with friction 0.1 the house falls")
    # mu > tan(f) (1 + 2 p) / (2 (1 + p)), p = 1/2: 0.1786 for 15 degrees, but for the thickness of a card (1:90)
    for mu, stands in ((0.19, True), (0.17, False)):
        other = run.again("--set", "friction=%g" % mu)
        moved = abs(other.at("roof")["z"] - other.at("roof", 0)["z"])
        holds((moved < 1e-6) == stands, "with friction %g it %s" % (mu, "stands" if stands else "falls"))


@claim("chair")
def chair(run):
    last = run.at("chair")
    holds(axis(last, [0, 0, 1])[2] > 1 - 1e-9 and speed(last) < 1e-6, "it stands upright")
    feet = {tuple(round(v, 3) for v in p) for c in run.contacts(2) for p in c["points"]}
    legs = {(x > last["x"], y > last["y"]) for x, y, z in feet}
    holds(len(legs) == 4, "on four feet")
    weight = sum(f[2] for f in forces(run, 2))
    rows = run.energy()
    mass = (rows[0]["potential"] - 0) / G / run.at("chair", 0)["z"]
    near(abs(weight), mass * G, 1e-6 * mass * G, "what the feet carry")
    holds(not all(c["determined"] for c in run.contacts(2)), "the forces are not unique")


@claim("live-heavy-on-light")
def heavy_on_light(run):
    for k in range(10):
        near(run.at("box%d" % k)["z"], k + 0.5, 1e-6)
    for k in range(1, 10):
        near(sum(abs(f[2]) for f in forces(run, 5, "box%d" % (k - 1), "box%d" % k)), (2**10 - 2**k) * G, 1e-3 * 2**10 * G)


@claim("live-pyramid")
def live_pyramid(run):
    for row, k in ((0, 0), (10, 5), (19, 0)):
        near(run.at("box%d.%d" % (row, k))["z"], row + 0.5, 0.005)
    top = run.track("box19.0")
    near(top[-1]["x"], top[-60]["x"], 1e-4, "the top creeps:"), near(top[-1]["z"], top[-60]["z"], 1e-4)


@claim("overbalanced-stack")
def overbalanced(run):
    near(run.at("brick1")["z"], 0.25, 1e-7)
    for i in range(2, 6):
        holds(axis(run.at("brick%d" % i), [1, 0, 0])[2] < -0.01, "brick %d tips" % i)
    standing = run.again("--set", "bricks=3")  # 0.3 n = 0.9 < 1
    for i in range(1, 4):
        near(standing.at("brick%d" % i)["z"], 0.5 * i - 0.25, 1e-9)


# ---- falling over

@claim("domino-row")
def domino_row(run):
    n, high, thick, step = 8, 0.048, 0.0075, 0.02
    for i in range(1, n + 1):
        holds(abs(axis(run.at("domino%d" % i), [0, 0, 1])[2]) < 0.7, "domino %d has fallen" % i)
    times = [run.events("impact", "domino%d" % i, "domino%d" % (i + 1))[0]["time"] for i in range(1, n)]
    holds(all(a < b for a, b in zip(times, times[1:])), "the wave goes through the row")
    waits = [b - a for a, b in zip(times, times[1:])]
    holds(all(b < a for a, b in zip(waits, waits[1:])), "and gets faster")
    near(step / waits[-1] / math.sqrt(G * high), 1.1, 0.15, "its speed, in sqrt(g h),")
    # the first one turns about its edge until its corner meets the next one's face: sin(a) = gap / high
    k2, r, lean = (thick**2 + high**2) / 3, math.hypot(thick, high) / 2, math.atan(thick / high)
    rate = lambda a: math.sqrt(9 + 2 * G * r / k2 * (math.cos(lean) - math.cos(a - lean)))
    end = math.asin((step - thick) / high)
    n = 4000
    h = end / n
    near(times[0], h / 3 * sum((1 if k in (0, n) else 4 if k % 2 else 2) / rate(k * h) for k in range(n + 1)), 1e-8, "the first meeting")
    stopped = math.sqrt(2 * G * r / k2 * (1 - math.cos(lean)))
    holds(stopped < 3, "3 rad/s are enough")


@claim("tipping-block")
def tipping(run):
    a, w, h = math.radians(30), 0.2, 1.0
    want = G * (h * math.sin(a) - w * math.cos(a)) / 2 / ((w * w + h * h) / 3)
    near(run.at("block", 0)["alphay"], want, 1e-7 * want)
    holds(axis(run.at("block"), [0, 0, 1])[0] > 0.9, "it has fallen over")


@claim("rocking-block")
def rocking(run):
    rows = [e["time"] for e in run.events("impact", "block")]
    first = run.at("block", rows[0] - 1e-9)["wy"], run.at("block", rows[0])["wy"]
    near(first[1] / first[0], 1 - 1.5 / 26, 1e-6, "w+/w-")
    holds(all(c - b < b - a for a, b, c in zip(rows, rows[1:], rows[2:4])), "half periods get shorter")


@claim("hit-stack")
def hit_stack(run):
    holds(run.at("brick3")["z"] < 0.2, "the top brick falls")
    for i in (1, 2):
        near(run.at("brick%d" % i)["x"], 0, 0.02, "brick %d along x" % i), near(run.at("brick%d" % i)["z"], 0.1 * i - 0.05, 1e-6)
    blows = {tuple(e["bodies"]): e["impulse"] for e in run.events("impact") if e["time"] < 0.0701}
    time = run.events("impact", "ball")[0]["time"]
    near(time, (0.4 - 0.05) / 5, 1e-9, "the time of the impact")
    ball, brick = 7800 * 4 / 3 * math.pi * 0.05**3, 2000 * 0.4 * 0.2 * 0.1
    j, below = blows[("brick3", "ball")], blows[("brick2", "brick3")]
    near(ball * (5 - run.at("ball", time)["vx"]), abs(j[0]), 1e-8, "what the ball loses")
    near(brick * run.at("brick3", time)["vx"], abs(j[0]) - abs(below[0]), 1e-8, "what the top brick gets")
    for impulse in (below, blows[("brick1", "brick2")]):
        holds(math.hypot(impulse[0], impulse[1]) <= 0.25 * abs(impulse[2]) * (1 + 1e-9), "friction is within its cone")


@claim("ladder")
def ladder(run):
    l, f0, g = 4.0, math.radians(60), G
    # the capsule's end centres slide: a rod of length l - 2 r between lines, with the inertia m l^2 / 12
    d = l - 0.02
    k = d * d / 4 + l * l / 12
    leaves = math.asin(2 / 3 * math.sin(f0))
    t = quad(lambda f: -1 / math.sqrt(g * d * (math.sin(f0) - math.sin(f)) / k), f0, leaves)
    lost = [e["time"] for e in run.events("contact-lost", "wall", "ladder")]
    near(lost[0], t, 1e-6, "it leaves the wall at")
    rate = math.sqrt(g * d * (math.sin(f0) / 3) / k)
    vx = d / 2 * math.sin(leaves) * rate
    near(run.at("ladder", lost[0] + 0.01)["vx"], vx, 1e-6, "the speed of its centre")
    near(vx, math.sqrt(g * l * math.sin(f0)**3) / 3, 0.01, "for a thin rod")


@claim("tetrahedron-in-notch")
def tetrahedron(run):
    last = run.at("tetrahedron")
    holds(speed(last) < 1e-6, "it comes to lie")
    contacts = run.contacts(2)
    holds(sorted(c["dimension"] for c in contacts) == [1, 2], "on an area and a line")
    sides = {round(n[0] / abs(n[0])) for c in contacts for n in c["normals"] if abs(n[0]) > 0.1}
    holds(sides == {-1, 1}, "on both flanks")
    weight = 1000 * 0.4**3 / (6 * math.sqrt(2)) * G
    pushes = [([p[i] - last["xyz"[i]] for i in range(3)], f, n) for c in contacts for p, f, n in zip(c["points"], c["forces"], c["normals"])]
    total = [sum(f[i] for p, f, n in pushes) for i in range(3)]
    turn = [sum(cross(p, f)[i] for p, f, n in pushes) for i in range(3)]
    near(abs(total[2]), weight, 1e-6 * weight, "what carries it"), near(math.hypot(total[0], total[1]), 0, 1e-6 * weight)
    near(math.hypot(*turn), 0, 1e-7 * weight, "the moment of the forces")
    for p, f, n in pushes:
        normal = dot(f, n)
        holds(math.hypot(*[f[i] - normal * n[i] for i in range(3)]) <= 0.1 * abs(normal) + 1e-9 * weight, "a force is within its cone")


@claim("two-fingers")
def two_fingers(run):
    slow = 0.05 * G
    after = lambda way: (1 - math.sqrt(1 - 2 * slow * way)) / slow
    leaves, tips = after(0.5), after(0.7 - 0.05 * 0.15)
    near(run.events("contact-lost", "finger1", "block")[0]["time"], leaves, 1e-6, "it leaves the first finger at")
    near([e["time"] for e in run.events("contact-changed", "finger2", "block")][-1], tips, 1e-6, "it tips at")
    for t in (0.2, leaves - 1e-3, leaves + 1e-3, tips - 1e-3):
        row = run.at("block", t)
        near(row["vx"], 1 - slow * t, 1e-7, "its speed at %g s" % t), near(row["z"], 0.15, 1e-9, "its height"), near(row["vz"], 0, 1e-8)
        for n in (n for c in run.contacts(t) for n in c["normals"]):
            near(abs(n[2]), 1, 1e-9, "a normal along z")
    # before the first is left its load and the other's balance the moment of friction about the middle
    t = 0.45
    x, points = run.at("block", t)["x"], [(p, f) for c in run.contacts(t) for p, f in zip(c["points"], c["forces"])]
    near(sum(abs(f[2]) * (p[0] - x) for p, f in points), 0.05 * 144 * G * 0.15, 1e-6, "the moment of the loads")
    holds(not run.events("impact", "block"), "there is no jolt")


@claim("figure-on-stairs")
def figure(run):
    energy_falls(run)
    holds(run.summary["audit"]["constraint_error_m"] < 1e-9, "hinges hold to rounding")
    steps = {b for e in run.events("impact") for b in e["bodies"] if b.startswith("step")}
    holds(len(steps) >= 2, "limbs hit several steps: %s" % sorted(steps))


@claim("tumbling-rings")
def rings(run):
    rows, impacts = energy_falls(run), [e["time"] for e in run.events("impact")]
    quiet = [(a, b) for a, b in zip(rows, rows[1:]) if not any(a["t"] <= t <= b["t"] for t in impacts)]
    holds(len(quiet) > 10, "there are frames without an impact")
    for a, b in quiet:
        near(b["total"], a["total"], 1e-9 * rows[0]["total"], "without impacts the energy at %g s" % b["t"])
    holds(rows[-1]["total"] < 0.5 * rows[0]["total"], "impacts take energy")


@claim("tori-in-a-bin")
def tori(run):
    lowest = min(run.at("ring%d" % i)["z"] for i in range(64))
    holds(lowest > 0.19, "none sinks in")
    fast = max(speed(run.at("ring%d" % i)) for i in range(64))
    holds(fast < 0.05, "they come to rest: the fastest at %g m/s" % fast)


# ---- impacts

@claim("bouncing-ball")
def bouncing(run):
    t1 = math.sqrt(2 / G)
    times = [e["time"] for e in run.events("impact", "ball")]
    for k in range(4):
        near(times[k], t1 * (1 + 2 * sum(0.5**i for i in range(1, k + 1))), 1e-9)
    near(t1 * 3, 1.3546, 5e-5)
    holds(run.at("ball", 1.35)["z"] > 0.1 + 1e-9 and speed(run.at("ball", 1.36)) < 1e-9, "it rests after 1.3546 s")


@claim("cradle-propagation")
def cradle_propagation(run):
    for i in range(1, 6):
        near(run.at("ball%d" % i)["vx"], i == 5, 1e-9)
    blows = run.events("impact")
    holds([sorted(e["bodies"]) for e in blows] == [["ball%d" % i, "ball%d" % (i + 1)] for i in range(1, 5)], "one pair after the other")
    for e in blows:
        near(e["time"], 0.5, 1e-9, "the time of an impact"), near(abs(e["impulse"][0]), 1, 1e-9, "its impulse")


@claim("cradle-simultaneous")
def cradle_simultaneous(run):
    for i, v in ((1, -1 / 3), (2, 2 / 3), (3, 2 / 3)):
        near(run.at("ball%d" % i)["vx"], v, 1e-12)


@claim("nine-to-one")
def nine_to_one(run):
    for ball in ("heavy", "light"):
        near(run.at(ball)["vz"], 0, 1e-12)
    holds(len({e["time"] for e in run.events("impact")}) == 1, "at once")
    near(run.events("impact")[0]["time"], 0.5, 1e-9, "the time of the impact")
    for pair in (("light", "heavy"), ("floor", "light")):
        near(abs(run.events("impact", *pair)[0]["impulse"][2]), 9, 1e-9, "the impulse between " + " and ".join(pair))


@claim("painleve-rod")
def painleve(run):
    holds(run.events("impulse-without-impact"), "an impulse without impact")
    smooth = run.again("--set", "friction=0.5")
    holds(not smooth.events("impulse-without-impact"), "none with friction 0.5")
    c, s, mu = 0.6, 0.8, 0.5  # of a thin rod; this one is 2 cm thick
    normal = abs(sum(f[2] for f in forces(smooth, 0)))
    near(normal, G / (1 + 3 * c * (c - mu * s)), 0.05 * G, "N")


@claim("struck-from-below")
def struck_from_below(run):
    u = math.sqrt(16 - 2 * G * 0.34)
    time = (4 - u) / G
    blows = [e for e in run.events("impact") if abs(e["time"] - time) < 1e-3]
    holds(len(blows) == 1 and set(blows[0]["bodies"]) == {"plank", "ball"}, "the supports give no impulse")
    near(blows[0]["time"], time, 1e-9, "the time of the impact")
    near(run.at("plank", blows[0]["time"])["vz"], 0.75 * u, 1e-9, "the plank's speed"), near(run.at("ball", blows[0]["time"])["vz"], 0.25 * u, 1e-9)
    near(run.events("contact-lost", "supports", "plank")[0]["time"], time, 1e-9, "it leaves the supports at")


@claim("tripping-block")
def tripping(run):
    l, h, s, v = 0.3, 0.6, 0.05, 2
    blow = run.events("impact")[0]["time"]
    near(blow, 0.3, 1e-9, "it meets the ridge at")
    spin = v * (h / 2 - s) / ((l * l + h * h) / 12 + l * l / 4 + (h / 2 - s)**2)
    row = run.at("block", blow)
    near(row["wy"], spin, 1e-8, "its spin"), near(row["vx"], spin * (h / 2 - s), 1e-8), near(row["vz"], spin * l / 2, 1e-8)
    near(spin, 4.08, 0.005, "the figure in the comment")
    holds(axis(run.at("block"), [0, 0, 1])[2] < 0.1, "it falls over")


@claim("over-the-edge")
def over_the_edge(run):
    tips = 0.4
    holds(any(abs(e["time"] - tips) < 1e-8 for e in run.events("contact-changed", "table", "block")), "it tips at 0.4 s")
    for t in (0.2, tips - 1e-6):
        row = run.at("block", t)
        near(row["vx"], 1, 1e-9), near(row["wy"], 0, 1e-9), near(row["z"], 0.9, 1e-9)
    # g d / (I/m + d^2) at the overhang d = v t, but for what it has turned until then
    for t in (0.001, 0.002):
        near(run.at("block", tips + t)["alphay"], 12 * G * t / 0.4, 1e-3 * G * 12 * t / 0.4, "the angular acceleration after %g s" % t)
    holds(run.events("contact-lost", "table", "block") and run.contacts(run.end)[0]["bodies"].count("floor"), "it leaves the table for the floor")


# ---- rolling and sliding

@claim("demo")
def demo(run):
    t = 2 * 2 / (7 * 0.3 * G)
    stick = [e["time"] for e in run.events("stick", "sliding")]
    near(stick[0], t, 1e-8), near(run.at("sliding", 1)["vx"], 10 / 7, 1e-8)
    holds(run.events("impact", "block") and run.events("impact", "bouncing"), "block and ball strike the floor")


@claim("sliding-block")
def sliding(run):
    a = math.radians(30)
    near(run.at("block")["x"], G * (math.sin(a) - 0.5 * math.cos(a)) * 2, 1e-7)
    near(run.again("--set", "friction=0.58").at("block")["x"], 0, 1e-9)


@claim("ball-in-bowl")
def ball_in_bowl(run):
    energy_stays(run, 1e-9)
    # from rest at 1.2 rad to the bottom: a quarter of the period of a pendulum of length 7 (R - r) / 5
    length = 7 * 0.8 / 5
    quarter = quad(lambda f: -1 / math.sqrt(2 * G / length * (math.cos(f) - math.cos(1.2))), 1.2, 0)
    near(run.at("ball", quarter)["x"], 0, 1e-7, "x after a quarter of the period")
    holds(not run.events("slip", "ball"), "no slip")


@claim("ball-on-turntable")
def turntable(run):
    period = 2 * math.pi / (2 / 7 * 3)
    first, later = run.at("ball", 0), run.at("ball", period)
    near(later["x"], first["x"], 1e-7), near(later["y"], first["y"], 1e-7)
    half = run.at("ball", period / 2)
    quarter = run.at("ball", period / 4)
    cx, cy = (first["x"] + half["x"]) / 2, (first["y"] + half["y"]) / 2
    near(math.hypot(quarter["x"] - cx, quarter["y"] - cy), math.hypot(first["x"] - cx, first["y"] - cy), 1e-7, "the radius")


def rolling_disk(radius, half, rolling, axle, spin):
    """Rates of the axle and the spin of a disk of unit mass that rolls on its rim without slip, against the torque rolling * N.
    With p from the middle to the contact, v = -w x p:  I w' + p x (w' x p) = p x (g z - w x p') - w x I w + N t, and
    N = g - (w' x p + w x p').z, linear in w' as well."""
    across, along = (3 * radius**2 + 4 * half**2) / 12, radius**2 / 2
    flat = math.hypot(axle[0], axle[1])
    down = [axle[0] * axle[2] / flat, axle[1] * axle[2] / flat, -flat]  # from the middle to the rim's lowest point
    turn = cross(spin, axle)
    slope = (axle[0] * turn[0] + axle[1] * turn[1]) / flat
    fall = [(turn[i] * axle[2] + axle[i] * turn[2] - down[i] * slope) / flat for i in range(3)]
    p = [radius * down[i] - half * axle[i] for i in range(3)]
    drag = cross(spin, [radius * fall[i] - half * turn[i] for i in range(3)])
    momentum = [across * spin[i] + (along - across) * dot(spin, axle) * axle[i] for i in range(3)]
    size = math.hypot(spin[0], spin[1])
    against = [-rolling * spin[0] / size, -rolling * spin[1] / size, 0]
    gyre, lever = cross(spin, momentum), cross(p, [-drag[0], -drag[1], G - drag[2]])
    right = [lever[i] - gyre[i] + against[i] * (G - drag[2]) for i in range(3)]
    rise = [p[1], -p[0], 0]
    columns = [[(across + dot(p, p)) * (i == j) + (along - across) * axle[i] * axle[j] - p[i] * p[j] + against[i] * rise[j]
                for i in range(3)] for j in range(3)]
    return turn, solve(columns, right)


@claim("eulers-disk")
def eulers_disk(run):
    energy_falls(run)
    r, half, k, lean0, per = 0.04, 0.002, 0.0005, math.radians(20), 40
    rows = run.track("disk")
    lean = lambda row: math.atan2(math.hypot(*axis(row, [0, 0, 1])[:2]), axis(row, [0, 0, 1])[2])
    holds(not run.events("slip") and not run.events("contact-lost"), "it rolls to the end")
    # the equations of rolling by themselves, with another integrator
    state = [axis(rows[0], [0, 0, 1]), [rows[0][c] for c in ("wx", "wy", "wz")]]
    speeds = []
    for n, row in enumerate(rows[:240]):
        near(lean(row), math.atan2(math.hypot(state[0][0], state[0][1]), state[0][2]), 2e-7, "the lean at %g s" % row["t"])
        speeds.append((lean(row), -dot(state[1], [state[0][0] * state[0][2], state[0][1] * state[0][2], state[0][2]**2 - 1]) / math.sin(lean(row))**2))
        for _ in range(per):
            state = runge_kutta(lambda y: rolling_disk(r, half, k, *y), state, 1 / 60 / per)
    holds(all(b[1] > a[1] for a, b in zip(speeds[::30], speeds[30::30])), "the contact runs round ever faster")
    for a, speed in speeds:
        # 4 g / r, but for the thickness (2 d / r) and for the spin about its own axis, of the order of the lean
        near(speed**2 * math.sin(a) * r / 4 / G, 1, 0.03 + 1.2 * a, "W^2 sin(a) in 4 g / r at the lean %g" % a)
    # sqrt(a) falls evenly: from the middle of the run to its end as the thin disk whose middle stands still
    slope = (math.sqrt(lean(rows[120])) - math.sqrt(lean(rows[-1]))) / (rows[-1]["t"] - 2)
    near(slope, 2 * k * math.sqrt(G / r) / (3 * r), 0.03 * slope, "the fall of sqrt(a)")
    holds(lean(rows[-1]) < 0.002, "it is flat in the end")
    for row in run.again("--set", "rolling=0").track("disk"):
        near(lean(row), lean0, 1e-8, "without losses the lean")


@claim("egg")
def egg(run):
    rows, energy = run.track("egg"), run.energy()
    up = [axis(r, [0, 0, 1])[2] for r in rows]
    holds(abs(up[0]) < 0.1 and up[-1] < -0.99, "it stands up: %g" % up[-1])
    holds(rows[-1]["z"] > 1.25 * rows[0]["z"], "and rises")
    holds(not run.events("contact-lost"), "it stays on the floor")
    stick = run.events("stick")[0]["time"]
    near(stick, 2.2, 0.15, "when it stops sliding")
    # Jellett's J in the mean, and a' = friction m g h^2 / J: what is left out is of the order g / (h W^2) = 2 %
    mass = energy[0]["potential"] / G / rows[0]["z"]
    def jellett(k):
        r, e = rows[k], energy[k]
        x, v = [r["x"], r["y"], r["z"]], [r["vx"], r["vy"], r["vz"]]
        spin = [a - mass * b for a, b in zip([e["lx"], e["ly"], e["lz"]], cross(x, v))]
        return dot(spin, [a - b for a, b in zip(x, run.contacts(r["t"])[0]["points"][0])])
    values = [jellett(k) for k in range(10, 130, 5)]
    mean = sum(values) / len(values)
    for value in values:
        near(value, mean, 0.02 * mean, "Jellett's J")
    begin, angle = 10, math.acos(up[10])
    for k in range(begin, 120):
        angle += 0.1 * mass * G * ((rows[k]["z"] + rows[k + 1]["z"]) / 2)**2 / mean / 60
        near(math.acos(up[k + 1]), angle, 0.05, "the angle of the axis at %g s" % rows[k + 1]["t"])


def sliding_ball(radius, offset, mass, across, along, friction, axle, spin, way):
    """Rates of axle, spin and velocity (x, y) of a ball whose centre of mass lies `offset` from its middle, against the axle, while it slides:
    v' = F / m, I w' = p x F - w x I w with p = offset axle - radius z, F = N (z - friction u/|u|), and z'' = -offset axle_z''."""
    p = [offset * axle[0], offset * axle[1], offset * axle[2] - radius]
    turn, at = cross(spin, axle), cross(spin, p)
    u = [way[0] + at[0], way[1] + at[1]]
    push = [-friction * u[0] / math.hypot(*u), -friction * u[1] / math.hypot(*u), 1]
    momentum = [across * spin[i] + (along - across) * dot(spin, axle) * axle[i] for i in range(3)]
    inverse = lambda t: [t[i] / across + (1 / along - 1 / across) * dot(t, axle) * axle[i] for i in range(3)]
    free, pushed = inverse([-x for x in cross(spin, momentum)]), inverse(cross(p, push))
    bend = cross(spin, turn)[2]
    force = (G - offset * (cross(free, axle)[2] + bend)) / (1 / mass + offset * cross(pushed, axle)[2])
    return turn, [a + force * b for a, b in zip(free, pushed)], [force / mass * push[0], force / mass * push[1]]


@claim("tippe-top")
def tippe_top(run):
    rows, per = run.track("top"), 80
    up = [axis(r, [0, 0, 1])[2] for r in rows]
    holds(up[0] > 0.99 and up[-1] < -0.99, "it turns upside down: %g" % up[-1])
    near(rows[-1]["wz"], 160 * 0.8 / 1.2, 0.5, "its spin in the end")
    def jellett(r):
        a, w = axis(r, [0, 0, 1]), [r["wx"], r["wy"], r["wz"]]
        momentum = [2.6e-6 * w[i] + 0.2e-6 * dot(w, a) * a[i] for i in range(3)]
        return dot(momentum, [(0.02 if i == 2 else 0) - 0.004 * a[i] for i in range(3)])
    for r in rows:
        near(jellett(r), jellett(rows[0]), 1e-7 * jellett(rows[0]), "Jellett's product at %g s" % r["t"])
    # the equations of sliding by themselves, with another integrator
    holds(run.events("stick")[0]["time"] > 2.5, "it slides until it stands on its head")
    state = [axis(rows[0], [0, 0, 1]), [0, 0, 160], [0, 0]]
    for row in rows[:151]:
        near(state[0][2], axis(row, [0, 0, 1])[2], 1e-6, "its axle at %g s" % row["t"])
        for _ in range(per):
            state = runge_kutta(lambda y: sliding_ball(0.02, 0.004, 0.02, 2.6e-6, 2.8e-6, 0.1, *y), state, 1 / 60 / per)
    rough = run.again("--set", "friction=0.3")
    holds(rough.events("stick")[0]["time"] < 0.014 and min(axis(r, [0, 0, 1])[2] for r in rough.track("top")) > 0.99,
          "with friction 0.3 it rolls, and never turns over")


def oloid_generator(t, x=1, z=1):
    """Ends of a generator, by the angle on the first circle; the angle s on the other has (1 + cos s) (1 + cos t) = 1."""
    c = math.cos(t)
    return [x * math.sin(t), -0.5 - c, 0.0], [0.0, 0.5 - c / (1 + c), z * math.sqrt(max(0, 1 + 2 * c)) / (1 + c)]


def oloid_quarter(n):
    first = [math.pi / 2 * k / n for k in range(n + 1)]
    return first + [math.acos(-math.cos(t) / (1 + math.cos(t))) for t in reversed(first[:-1])]


def oloid_advance():
    """How far the oloid comes when all of it was unrolled once: triangles between neighbouring generators laid into the plane."""
    turns, ends = oloid_quarter(300), []
    for x, z, back in ((1, 1, 0), (1, -1, 1), (-1, -1, 0), (-1, 1, 1)):
        ends += [oloid_generator(t, x, z) for t in (turns[::-1] if back else turns)][1 if ends else 0:]
    def third(p, q, from_p, from_q):
        d = math.dist(p, q)
        along = (from_p**2 - from_q**2 + d * d) / (2 * d)
        aside = math.sqrt(max(0, from_p**2 - along**2))
        e = [(q[0] - p[0]) / d, (q[1] - p[1]) / d]
        return [p[0] + along * e[0] - aside * e[1], p[1] + along * e[1] + aside * e[0]]
    a, b = [0.0, 0.0], [math.dist(*ends[0]), 0.0]
    for (a0, b0), (a1, b1) in zip(ends, ends[1:]):
        b = third(a, b, math.dist(a0, b1), math.dist(b0, b1))
        a = third(a, b, math.dist(a0, a1), math.dist(b1, a1))
    return math.hypot(*a)


@claim("oloid")
def oloid(run):
    start = run.events("impact")[0]["time"]  # it is let fall a little
    rows = [r for r in run.energy() if r["t"] > start]
    for r in rows:
        near(r["total"], rows[0]["total"], 1e-9 * abs(rows[0]["total"]), "the energy at %g s" % r["t"])
    holds(not run.events("slip") and not run.events("contact-lost"), "it rolls without slip")
    near(oloid_advance(), 4.837, 1e-3, "the way of an oloid that unrolls")
    # the direction of the floor, seen from the body; where its x changes its sign, half of the surface was unrolled
    rows = run.track("oloid")
    floor = [axis({**r, "qx": -r["qx"], "qy": -r["qy"], "qz": -r["qz"]}, [0, 0, -1]) for r in rows]
    places = []
    for a, b, p, q in zip(rows, rows[1:], floor, floor[1:]):
        if p[0] * q[0] < 0:
            f = p[0] / (p[0] - q[0])
            places.append([a[c] + f * (b[c] - a[c]) for c in ("x", "y")])
    holds(len(places) >= 5, "it unrolls twice")
    ways = [[b[0] - a[0], b[1] - a[1]] for a, b in zip(places, places[2:])]
    for way in ways:
        near(math.hypot(*way) / 0.05, oloid_advance(), 0.015 * 4.84, "the way, in r,")
        near(math.atan2(way[1], way[0]), math.atan2(ways[0][1], ways[0][0]), 0.01, "its direction")
    # all tangent planes of the oloid, and no others, come to lie on the floor
    planes = []
    for x, z in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        for t in oloid_quarter(6):
            a, b = oloid_generator(t, x, z)
            d = [b[i] - a[i] for i in range(3)]  # and the tangent of either circle, which the generator is not along
            n = max(cross([x * math.cos(t), math.sin(t), 0], d), cross([0, -b[2], b[1] - 0.5], d), key=lambda v: dot(v, v))
            planes.append([v / math.copysign(math.hypot(*n), dot(n, a)) for v in n])
    for n in planes:
        holds(max(dot(n, f) for f in floor) > math.cos(0.12), "the plane across (%g, %g, %g) comes down" % tuple(n))
    for f in floor:
        holds(max(dot(n, f) for n in planes) > math.cos(0.2), "(%g, %g, %g) is across a tangent plane" % tuple(f))


@claim("gomboc-like")
def gomboc(run):
    last = run.at("body")
    holds(speed(last) < 1e-3, "it comes to rest: %g m/s" % speed(last))
    points = [p for c in run.contacts(run.end) for p in c["points"]]
    near(math.hypot(points[0][0] - last["x"], points[0][1] - last["y"]), 0, 1e-3, "the centre's distance from above the contact")


@claim("bowl")
def bowl(run):
    last = max([e["time"] for e in run.events("impact")], default=0)  # it is let fall a little
    rows = [r for r in run.energy() if r["t"] > last]
    for r in rows:
        near(r["total"], rows[0]["total"], 1e-6 * abs(rows[0]["total"]), "the energy at %g s" % r["t"])
    first = run.at("bowl", 0)
    for r in run.track("bowl"):
        near(r["x"], first["x"], 1e-9), near(r["y"], first["y"], 1e-9)
    holds(run.events("patch-crossed", "bowl"), "the contact wanders over patches")


@claim("marble-in-bowl")
def marble(run):
    energy_falls(run)
    crossed = {(i, e["entities"][i]["id"]) for e in run.events("patch-crossed") for i in (0, 1)}
    holds(all(len({k for i, k in crossed if i == body}) > 5 for body in (0, 1)), "patches of both are crossed")
    holds(not run.events("contact-lost"), "one contact lasts")
    # no slip, and no loss after the first impact
    start = run.events("impact")[0]["time"]
    rows = [r for r in run.energy() if r["t"] > start]
    holds(not run.events("slip"), "it rolls")
    for r in rows:
        near(r["total"], rows[0]["total"], 1e-8 * abs(rows[0]["total"]), "the energy at %g s" % r["t"])


@claim("cam-and-follower")
def cam(run):
    for t in (0.3, 1.1, 2.7, 4):
        near(run.at("follower", t)["z"], 0.1 + 0.025 + 0.03 * math.sin(4 * t), 1e-7, "the follower at %g s" % t)


def spin_reverses(run, body, before):
    spins = [(r["t"], r["wz"]) for r in run.track(body)]
    holds(any(a[1] * spins[0][1] < 0 for a in spins if a[0] < before), "the spin reverses before %g s" % before)
    return spins


@claim("rattleback")
def rattleback(run):
    energy_stays(run, 1e-9)
    near(run.at("rattleback", 25.476)["wz"], 0, 0.02, "the spin at 25.476 s")
    holds(all(r["wz"] > 0 for r in run.track("rattleback") if r["t"] < 25.4), "for the first time")


@claim("rattleback-ellipsoid")
def rattleback_ellipsoid(run):
    energy_stays(run, 1e-8)
    spin_reverses(run, "top", 5)
    holds(not run.events("slip", "top"), "it never slips")


@claim("rattleback-tap")
def rattleback_tap(run):
    energy_stays(run, 1e-9)
    holds(max(abs(r["wz"]) for r in run.track("rattleback")) > 0.05, "the rocking turns it")
    holds(not run.events("rolling-ends"), "it stays in contact coordinates")


@claim("rattleback-rolling-friction")
def rattleback_friction(run):
    spins = spin_reverses(run, "rattleback", 30)
    holds(all(s < 0 for t, s in spins if t > 30), "it does not reverse again")
    rows = energy_falls(run)
    for r in rows:
        near(r["total"] + r["dissipated"], rows[0]["total"], 1e-8 * abs(rows[0]["total"]), "energy and what was dissipated")
    # it rocks no more: the spin slows evenly
    near(run.at("rattleback", 85)["wz"] - run.at("rattleback", 75)["wz"], 10 * 0.0001 * 5 * G / 10, 1e-6, "what ten seconds take of the spin")
    free = run.again("--set", "rolling=0", "--set", "spinning=0")
    signs = [r["wz"] > 0 for r in free.track("rattleback") for _ in [0] if abs(r["wz"]) > 0.35]
    holds(sum(a != b for a, b in zip(signs, signs[1:])) == 2 and signs[-1], "without friction losses it reverses twice")


# ---- hinges and flight

@claim("double-pendulum")
def double_pendulum(run):
    energy_stays(run, 1e-8)
    # the two equations of the comment by themselves, with bars that are 0.05 thick (i: 12 I / m l^2)
    i, per = 1.0025, 40
    def rates(state):
        a, b, p, q = state[0]
        c, s = math.cos(a - b), math.sin(a - b)
        m = [5 / 4 + i / 12, c / 2, 1 / 4 + i / 12]  # of a'', of both, of b''
        right = [1.5 * G * math.cos(a) - s / 2 * q * q, 0.5 * G * math.cos(b) + s / 2 * p * p]
        det = m[0] * m[2] - m[1]**2
        return [[p, q, (m[2] * right[0] - m[1] * right[1]) / det, (m[0] * right[1] - m[1] * right[0]) / det]]
    state = [[0.0, 0.0, 0.0, 0.0]]
    for upper, lower in list(zip(run.track("upper"), run.track("lower")))[:151]:
        a, b = state[0][:2]
        near(upper["x"], math.cos(a) / 2, 1e-6, "x of the upper bar at %g s" % upper["t"])
        near(lower["x"], math.cos(a) + math.cos(b) / 2, 1e-6, "x of the lower bar"), near(lower["z"], -math.sin(a) - math.sin(b) / 2, 1e-6)
        for _ in range(per):
            state = runge_kutta(rates, state, 1 / 60 / per)


@claim("four-bar")
def four_bar(run):
    # the crank turns by -3 t about y (so its end rises or falls); the coupler's end is where two circles meet
    for t in (0.5, 1.3, 2.9, 4):
        b = run.at("crank", t)
        end = [2 * b["x"], 2 * b["z"]]
        near(math.hypot(*end), 0.3, 1e-9, "the crank's length")
        angle = math.remainder(math.atan2(end[1], end[0]), 2 * math.pi)
        near(abs(math.remainder(abs(angle) - abs(math.remainder(3 * t, 2 * math.pi)), 2 * math.pi)), 0, 1e-8, "the crank's angle")
        c, r = run.at("coupler", t), run.at("rocker", t)
        joint = [2 * c["x"] - end[0], 2 * c["z"] - end[1]]
        near(math.dist(joint, end), 1.0, 1e-8, "the coupler's length"), near(math.dist(joint, [1, 0]), 0.8, 1e-8, "the rocker's length")
        near(r["x"], (joint[0] + 1) / 2, 1e-8), near(r["z"], joint[1] / 2, 1e-8)
    holds(run.summary["audit"]["constraint_error_m"] < 1e-9, "pins do not drift")


@claim("slider-crank")
def slider_crank(run):
    for t in (0.4, 1.7, 3):
        w = 6 * t
        near(run.at("piston", t)["x"], 0.3 * math.cos(w) + math.sqrt(1 - (0.3 * math.sin(w))**2), 1e-8)


@claim("dzhanibekov")
def dzhanibekov(run):
    rows = run.energy()
    for r in rows:
        near(r["kinetic"], rows[0]["kinetic"], 1e-7 * rows[0]["kinetic"])
        for k in ("lx", "ly", "lz"):
            near(r[k], rows[0][k], 1e-7 * 6)
    up = [axis(r, [0, 1, 0])[1] for r in run.track("nut")]
    flips = sum(1 for a, b in zip(up, up[1:]) if a * b < 0)
    holds(flips >= 5, "it turns over again and again: %d times" % flips)
    # half the period: 2 K(m) / rate of Jacobi's functions, for I = (1, 2, 3) and w = (0.01, 3, 0.02)
    e2, l2 = 1e-4 + 2 * 9 + 3 * 4e-4, 1e-4 + 4 * 9 + 9 * 4e-4
    i1, i2, i3 = (3, 2, 1) if l2 > 2 * e2 else (1, 2, 3)
    m = (i2 - i3) * (i1 * e2 - l2) / ((i1 - i2) * (l2 - i3 * e2)) if l2 > 2 * e2 else (i2 - i1) * (i3 * e2 - l2) / ((i3 - i2) * (l2 - i1 * e2))
    rate = math.sqrt(abs((i1 - i2) * (l2 - i3 * e2)) / (1 * 2 * 3)) if l2 > 2 * e2 else math.sqrt((i3 - i2) * (l2 - i1 * e2) / 6)
    a, b = 1.0, math.sqrt(1 - abs(m))
    for _ in range(40):
        a, b = (a + b) / 2, math.sqrt(a * b)
    half = 2 * (math.pi / (2 * a)) / rate
    times = [k / 60 for k, (p, q) in enumerate(zip(up, up[1:])) if p * q < 0]
    near((times[-1] - times[0]) / (len(times) - 1), half, 2 / 60 / (len(times) - 1) + 1e-3, "the time between two flips")


@claim("top")
def top(run):
    energy_stays(run, 1e-8)
    tilt = [math.acos(axis(r, [0, 0, 1])[2]) for r in run.track("top")]
    near(min(tilt), 0.6, 1e-6, "the least tilt")
    # cusps: u = cos(tilt) between u0 and the root of (1 - u^2) b = a^2 (u0 - u), with a = I3 w / I1, b = 2 m g l / I1
    i1, i3, m, l = 0.0015 + 0.5 * 0.01, 0.0006, 0.5, 0.1
    a, b, u0 = i3 * 150 / i1, 2 * m * G * l / i1, math.cos(0.6)
    p = a * a / b
    u1 = (p - math.sqrt(p * p - 4 * (p * u0 - 1))) / 2
    near(max(tilt), math.acos(u1), 2e-4, "the largest tilt")


def main():
    global SCENES
    abut, SCENES, only = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    failed, names = 0, sorted(p.stem for p in SCENES.glob("*.lua"))
    for name in names:
        if only and name not in only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                holds(name in CLAIMS, "what to see in it is checked here")
                run = Run(abut, Path(folder), name)
                run.certify()
                CLAIMS[name](run)
            except (AssertionError, ArithmeticError, LookupError, ValueError, subprocess.CalledProcessError) as problem:
                failed += 1
                print("%s: %s" % (name, problem))
    print("%d scenes, %d failed" % (len(only or names), failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
