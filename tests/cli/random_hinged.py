#!/usr/bin/env python3
"""Mechanisms of all kinds of hinges, hung up, thrown, dropped on a floor and at each other: what the clock promises holds.

    random_hinged.py ABUT FIRST COUNT [FIRST COUNT ...] [--live | --exact] [--keep FOLDER]

A seed makes one or two mechanisms: chains and trees of one to seven bodies by random hinges at random places, with limits,
motors and springs, masses of 1 to 1e4, lengths of 1 cm to 10 m, and loops.  All hinges are made where the bodies are at
time 0, so there is a configuration that satisfies them all, and velocities go along the hinges: each body has that of its
parent and a random rate along what their hinge leaves free, in mechanisms with loops none, so that they move as one.
What would contradict itself is left out: motors without a bound in loops and above floors (two of them, or one and the floor, may want
different things), motors and limits in the loop's closing hinge, a limit that does not hold at time 0.  Bodies of one mechanism do not collide.
Seeds from 20000 on have springs besides, between bodies and to the ground.

What must hold:

    numbers         the run ends, and all that was recorded is finite
    promises        the audit's: hinges, overlap, energy of each frame, momentum
    energy          without motors, friction and restitution below one, over the whole run: no frame above the first by more than
                    a hundredth of the largest (kinetic, potential against the least), what the audit promises for a frame
    the exact clock (with --live, where nothing can strike: no floor, one mechanism, no limits) after 0.2 s every centre is where
                    it is by the exact clock, to what the fastest body goes in one sub-step: O(h).  Some motions magnify what is small
                    (a heavy body that flings a light one off); where it is farther off, steps of a quarter and of a sixteenth
                    must come closer, and in the end as close as that
"""
import csv
import io
import json
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

KINDS = ["ball", "pin", "slider", "cylinder", "universal", "planar", "weld", "rod", "screw", "point_on_plane", "point_on_line"]
ANGLE = {"pin", "screw", "universal", "planar"}
TRAVEL = {"slider", "cylinder", "point_on_line"}
SOON = 0.2
SPRINGS_FROM = 20000


# ---- vectors

def add(a, b):
    return [x + y for x, y in zip(a, b)]


def sub(a, b):
    return [x - y for x, y in zip(a, b)]


def scale(s, a):
    return [s * x for x in a]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def unit(a):
    return scale(1 / math.sqrt(dot(a, a)), a)


def direction():
    return unit([random.gauss(0, 1) for _ in range(3)])


def across(a):
    """A random direction orthogonal to a."""
    return unit(cross(a, direction()))


def words(a):
    return "{" + ",".join(repr(x) for x in a) + "}"


# ---- bodies

class Body:
    def __init__(self, name, length, mass):
        part = lambda: random.uniform(0.2, 1) * length
        self.name, self.mass = name, mass
        kind = random.choice(["box", "box", "sphere", "capsule", "cylinder", "ellipsoid"])
        if kind == "box":
            sides = [part(), part(), part()]
            self.shape, self.radius = f"solid.box{words(sides)}", math.sqrt(dot(sides, sides)) / 2
        elif kind == "sphere":
            self.radius = part() / 2
            self.shape = f"sphere{{{self.radius!r}}}"
        elif kind == "ellipsoid":
            axes = [part() / 2, part() / 2, part() / 2]
            self.shape, self.radius = f"ellipsoid{words(axes)}", max(axes)
        else:
            r, l = part() / 4, part()
            self.shape = f"{kind}{{{r!r},{l!r}}}"
            self.radius = l / 2 + r
        self.turn = [random.uniform(0, 3), *direction()]
        self.center, self.velocity, self.spin = [0, 0, 0], [0, 0, 0], [0, 0, 0]

    def velocity_at(self, p):
        return add(self.velocity, cross(self.spin, sub(p, self.center)))

    def text(self, group):
        return (f'body{{name="{self.name}",group="{group}",shape={self.shape},mass={self.mass!r},position={words(self.center)},'
                f"rotation={words(self.turn)},velocity={words(self.velocity)},spin={words(self.spin)}}}\n")


# ---- a mechanism

class Mechanism:
    def __init__(self, name, world, hung, planar_loop):
        self.name, self.world, self.bodies, self.hinges = name, world, [], []
        self.hung, self.driven, self.limited, self.damped = hung, False, False, False
        count = random.randint(1 if hung else 2, 7)
        self.loop = count > 2 and (planar_loop or random.random() < 0.2)
        self.parallel = direction() if self.loop and random.random() < 0.5 else None
        chain = random.random() < 0.5
        for i in range(count):
            body = Body(f"{name}{i}", world["length"] * 10 ** random.uniform(-0.4, 0.4),
                        world["mass"] * 10 ** random.uniform(0, world["ratio"]))
            if i == 0 and not hung:
                body.velocity, body.spin = scale(world["speed"], direction()), scale(world["rate"], direction())
            else:
                parent = None if i == 0 else self.bodies[-1 if chain else random.randrange(i)]
                self.hang(body, parent)
            self.bodies.append(body)
        if self.loop:
            self.close()

    def coordinate(self, kind, closing):
        """Limits, motor, spring."""
        w, text = self.world, ""
        size = 1 if kind in ANGLE else w["length"]
        if random.random() < 0.25 and not closing:
            lo, hi = -size * random.uniform(0.05, 2), size * random.uniform(0.05, 2)
            text += f",limits={{{lo!r},{hi!r}}}"
            self.limited = True
        force = w["mass"] * w["length"] * (w["length"] if kind in ANGLE else 1) * 10 ** random.uniform(0, 3)
        if random.random() < 0.25 and w["motors"] and not closing:
            bound = f",max_force={force!r}" if self.loop or w["floor"] or w["pair"] or random.random() < 0.6 else ""
            text += f",motor={{speed={size * random.uniform(-10, 10)!r}{bound}}}"
            self.driven = True
        if random.random() < 0.2:
            k, c = force * 10 / size, force / size * random.choice([0, 0.1, 1])
            text += f",stiffness={k!r},damping={c!r},rest={random.choice([0, size * random.uniform(-0.5, 0.5)])!r}"
            self.damped |= c > 0
        return text

    def hinge(self, kind, a, b, at, axis, more, swap):
        first, second = (b, a) if swap and b else (a, b)
        names = f'"{first.name}"' + (f',"{second.name}"' if second else "")
        self.hinges.append(f"hinge.{kind}{{{names},at={words(at)},axis={words(axis)}{more}}}\n")

    def hang(self, body, parent):
        """Places a body at a new hinge on its parent, and gives it a velocity along the hinge."""
        kind, w = ("pin" if self.parallel else random.choice(KINDS)), self.world
        axis, way = self.parallel or direction(), direction()
        if self.parallel:
            way = across(axis)
        at = add(parent.center, scale(parent.radius * random.uniform(0.3, 1), way)) if parent else [0, 0, 0]
        near = unit(add(across(axis), scale(0.5, way))) if self.parallel else unit(add(direction(), scale(0.5, way)))
        if self.parallel:
            near = unit(sub(near, scale(dot(near, axis), axis)))
        swap, more, rate = parent and random.random() < 0.3, "", 0 if self.loop else w["rate"]
        turn, slide, there = [0, 0, 0], [0, 0, 0], at
        amount = lambda: rate * random.uniform(-1, 1)
        if kind == "rod":
            reach = w["length"] * random.uniform(0.3, 1.5)
            there = add(at, scale(reach, near))
            turn, slide = scale(amount(), direction()), scale(amount() * reach, across(near))
            ends = (there, at) if not swap else (at, there)
            more = f",at_b={words(ends[1])}"
        elif kind in ("ball", "point_on_plane", "point_on_line"):
            turn = scale(amount(), direction())
        elif kind in ("pin", "cylinder", "planar"):
            turn = scale(amount(), axis)
        elif kind == "universal":
            other = across(axis)
            turn, more = add(scale(amount(), axis), scale(amount(), other)), f",axis_b={words(other)}"
        elif kind == "screw":
            pitch, angle = w["length"] * random.choice([-0.1, 0.05, 0.3]), amount()
            turn, slide, more = scale(angle, axis), scale(pitch * angle, axis), f",pitch={pitch!r}"
        if kind in ("slider", "cylinder", "point_on_line"):
            slide = scale(amount() * w["length"], axis)
        if kind in ("planar", "point_on_plane"):
            slide = scale(amount() * w["length"], across(axis))
        if kind in ANGLE | TRAVEL:
            more += self.coordinate(kind, False)
        body.center = add(there, scale(body.radius * random.uniform(0.2, 1), near))
        body.spin = add(parent.spin if parent else [0, 0, 0], turn)
        held = add(parent.velocity_at(at) if parent else [0, 0, 0], slide)
        body.velocity = add(held, cross(body.spin, sub(body.center, there)))
        self.hinge(kind, body, parent, ends[0] if kind == "rod" else at, axis, more, swap)

    def close(self):
        """A loop, from the last body to an earlier one or to the ground, closed where it is."""
        last, first = self.bodies[-1], random.choice(self.bodies[:-2])
        if self.hung and random.random() < 0.5 and not any(self.bodies[0].spin + self.bodies[0].velocity):
            first = None
        at = add(last.center, scale(last.radius, across(self.parallel) if self.parallel else direction()))
        if self.parallel:
            kind = random.choice(["pin", "ball", "point_on_plane", "rod"])
            axis = self.parallel if kind == "pin" else across(self.parallel)
        else:
            kind, axis = random.choice(["ball", "rod", "point_on_plane", "point_on_line", "planar", "universal", "cylinder"]), direction()
        more = f",axis_b={words(across(axis))}" if kind == "universal" else ""
        if kind == "rod":
            end = add(at, scale(self.world["length"], across(self.parallel) if self.parallel else direction()))
            more = f",at_b={words(end)}"
            if first is None:
                return self.hinge("rod", last, None, at, axis, more, False)
        self.hinge(kind, last, first, at, axis, more, False)

    def reach(self):
        return max(math.sqrt(dot(b.center, b.center)) + b.radius for b in self.bodies)

    def move(self, shift, velocity):
        for body in self.bodies:
            body.center, body.velocity = add(body.center, shift), add(body.velocity, velocity)
        self.shift = shift

    def text(self):
        return "".join(b.text(self.name) for b in self.bodies) + "".join(self.hinges)


def springs(random, bodies, world):
    """Between bodies of the mechanisms, and from them to the ground: from soft ones to some that swing half round in a sub-step."""
    text = ""
    for _ in range(random.randint(1, 3)):
        a, b = random.choice(bodies), random.choice(bodies + [None])
        if a is b:
            b = None
        aside = [random.gauss(0, 1) * world["length"] for _ in range(3)]
        end, off = b.center if b else add(a.center, aside), [random.gauss(0, 1) * a.radius / 2 for _ in range(3)]
        length = math.dist(add(a.center, off), end) * random.uniform(0.7, 1.2)
        k = a.mass * 10 ** random.uniform(0, 4)
        c = math.sqrt(k * a.mass) * random.choice([0, 0, 0.1, 2])
        names = f'"{a.name}"' + (f',"{b.name}"' if b else "")
        text += (f"spring{{{names},at_a={words(add(a.center, off))},at_b={words(end)},length={length!r},"
                 f"stiffness={k!r},damping={c!r}}}\n")
    return text


class Scene:
    def __init__(self, seed):
        random.seed(seed)
        w = self.world = {"length": 10 ** random.uniform(-1.5, 0.5), "mass": 10 ** random.uniform(-2, 1),
                          "ratio": random.choice([0, 1, 2, 4]), "rate": random.choice([0, 1, 5, 20]),
                          "floor": random.random() < 0.4, "pair": random.random() < 0.2, "motors": random.random() < 0.6}
        w["speed"] = w["length"] * random.choice([0, 1, 5])
        restitution, friction = random.choice([0, 0, 0.5, 1]), random.choice([0, 0.5])
        times = random.choice(["", "", "", ",step=1/60,substeps=1", ",step=1/240"])
        self.substep = {"": 1 / 240, ",step=1/60,substeps=1": 1 / 60, ",step=1/240": 1 / 960}[times]
        gravity = random.choice([[0, 0, -9.81]] * 4 + [[0, 0, 0]])
        parts = [Mechanism("a", w, random.random() < 0.6, False)]
        texts = [parts[0].text()]
        if w["pair"]:
            parts.append(Mechanism("b", w, False, False))
            apart = parts[0].reach() + parts[1].reach() + 0.1 * w["length"]
            parts[1].move_hinges(scale(apart, unit([random.gauss(0, 1), random.gauss(0, 1), random.uniform(0, 2)])))
            texts.append(parts[1].text())
        bodies = [b for p in parts for b in p.bodies]
        floor = ""
        if w["floor"]:
            low = min(b.center[2] - b.radius for b in bodies) - w["length"] * random.uniform(0.01, 2)
            floor = f'body{{name="floor",shape=halfspace{{normal={{0,0,1}},offset={low!r}}},fixed=true}}\n'
        if seed >= SPRINGS_FROM:
            texts.append(springs(random.Random(seed), bodies, w))
        self.meets = w["floor"] or w["pair"]
        self.driven = any(p.driven for p in parts)
        self.limited = any(p.limited for p in parts)
        self.bodies = bodies
        self.conservative = not self.driven and not (self.meets and (friction or restitution < 1))
        self.text = (f"world{{duration=2,frame=1/60,gravity={words(gravity)}{times}}}\n"
                     f"material{{restitution={restitution},friction={friction}}}\n{floor}{''.join(texts)}")


def move_hinges(self, shift):
    """A mechanism that hangs on nothing, somewhere else, thrown back to where it was."""
    for body in self.bodies:
        body.center = add(body.center, shift)
        body.velocity = add(body.velocity, scale(-self.world["speed"], unit(shift)))
    moved = []
    for text in self.hinges:
        for key in ("at=", "at_b="):
            i = text.find("," + key)
            if i >= 0:
                j = text.index("}", i)
                place = [float(x) for x in text[i + len(key) + 2:j].split(",")]
                text = text[:i] + "," + key + words(add(place, shift)) + text[j + 1:]
        moved.append(text)
    self.hinges = moved


Mechanism.move_hinges = move_hinges


# ---- runs

def call(*args):
    return subprocess.run([str(a) for a in args], capture_output=True, text=True)


def table(text):
    return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(io.StringIO(text))]


def check_energy(abut, recording, scene):
    rows = table(call(abut, "energy", recording).stdout)
    if not all(math.isfinite(x) for row in rows for x in row.values()):
        return "a number in the energies is not finite"
    if not scene.conservative:
        return None
    least = min(r["potential"] for r in rows)
    still = sum(b.mass for b in scene.bodies) * 9.81e-6 * scene.world["length"] / 2  # at the rest speed
    largest = max(still, *(r["kinetic"] + r["potential"] - least for r in rows))
    gain = max(r["total"] for r in rows) - rows[0]["total"]
    return f"energy grows by {gain / largest:.3g} of the largest" if gain > 0.01 * largest else None


def places(abut, recording, bodies):
    rows = [table(call(abut, "track", recording, "--body", b.name, "--at", SOON).stdout)[0] for b in bodies]
    return [[r[k] for k in "xyz"] for r in rows], max(math.sqrt(sum(r["v" + k] ** 2 for k in "xyz")) for r in rows)


def compare(abut, path, folder, scene):
    """Against the exact clock."""
    exact, live = folder / "exact.abut", folder / "live.abut"
    run = call(abut, "run", path, "--mode", "exact", "--duration", SOON, "-o", exact, "-q", "--strict")
    if run.returncode != 0:
        return f"exact clock: {run.stderr.strip()}"
    there, speed = places(abut, exact, scene.bodies)
    most, was = scene.substep * max(speed, math.sqrt(9.81 * scene.world["length"])), []
    for finer in (1, 4, 16):
        if finer > 1:
            path.write_text(scene.text.replace("step=1/", "step=1/%d/" % finer) if "step=" in scene.text else
                            scene.text.replace("world{", "world{step=1/60/%d," % finer))
            call(abut, "run", path, "--mode", "live", "--duration", SOON, "-o", live, "-q")
        here, _ = places(abut, live, scene.bodies)
        was.append(max(math.dist(a, b) for a, b in zip(here, there)))
        if was[-1] <= most:
            return None
    return f"{', '.join('%.3g' % x for x in was)} m from the exact clock after {SOON} s, more than {most:.3g}"


def broken_promises(audit):
    limits = {"deepest_overlap_m": "overlap_limit_m", "constraint_error_m": "constraint_limit_m",
              "energy_error_relative": "energy_limit_relative"}
    over = [f"{name} {audit[name]:.3g} of {audit[limit]:.3g}" for name, limit in limits.items()
            if limit in audit and not audit[name] <= audit[limit]]
    return over if over or audit["promises_kept"] else [audit.get("broken", "a promise is broken")]


def check(abut, seed, mode, folder):
    scene = Scene(seed)
    path = folder / f"hinged{seed}.lua"
    path.write_text(scene.text)
    recording = folder / "live.abut"
    run = call(abut, "run", path, "--mode", mode, "-o", recording, "--json")
    if not run.stdout:
        return f"exit {run.returncode}: {run.stderr.strip()}"
    summary = json.loads(run.stdout)
    problems = []
    if summary["status"] != "completed":
        problems.append(f"{summary['status']}: {run.stderr.strip()}")
    problems += broken_promises(summary["audit"])
    if summary["status"] == "completed":
        problems.append(check_energy(abut, recording, scene))
        if mode == "live" and not scene.meets and not scene.limited:
            problems.append(compare(abut, path, folder, scene))
    return "; ".join(p for p in problems if p)


def main():
    args = sys.argv[1:]
    mode = "exact" if "--exact" in args else "live"
    keep = args[args.index("--keep") + 1] if "--keep" in args else None
    args = [a for a in args if a not in ("--live", "--exact", "--keep", keep)]
    abut, numbers = args[0], [int(x) for x in args[1:]]
    seeds = [s for first, count in zip(numbers[::2], numbers[1::2]) for s in range(first, first + count)]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            problem = check(abut, seed, mode, Path(keep or folder))
            if problem:
                failed += 1
                print(f"seed {seed}: {problem}", flush=True)
    print(f"{len(seeds)} mechanisms, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
