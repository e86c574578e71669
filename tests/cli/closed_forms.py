#!/usr/bin/env python3
"""closed_forms.py ABUT [WORD]: small scenes of the whole scene language, each with an answer from mechanics.

A case is a scene, a body, a time, and what columns of `abut track --at` must be there; the formula stands beside it.
Every run is strict: its audit must keep the promises.  With WORD only the cases whose name has it."""
import csv
import io
import math
import os
import subprocess
import sys
import tempfile

G = 9.81
FLOOR = 'body {name = "floor", shape = halfspace {normal = {0, 0, 1}, offset = 0}, fixed = true}\n'
CASES = []


def case(name, scene, body, time, wanted, tolerance=1e-7):
    CASES.append((name, scene, body, time, wanted, tolerance))


def integrate(f, y, end, n=4000):
    """Runge-Kutta of order four: an error of 1e-11 and less in what follows."""
    h = end / n
    for i in range(n):
        step = lambda k, c: [a + c * h * b for a, b in zip(y, k)]
        k1 = f(y)
        k2 = f(step(k1, 0.5))
        k3 = f(step(k2, 0.5))
        k4 = f(step(k3, 1))
        y = [a + h / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(y, k1, k2, k3, k4)]
    return y


# ---- rolling and spinning resistance: torques rolling * N and spinning * N, which stop the body and then hold it
def resistance():
    ball = 'body {name = "b", shape = sphere {0.1}, mass = 1, position = {0, 0, 0.1}, %s}\n'
    law = "material {friction = {static = 0.8, dynamic = 0.8, %s}}\n"
    # m a = -F, I a / R = F R - d N with I = 2/5 m R^2: a = -5/7 g d / R until it stands
    a = 5 / 7 * G * 0.2
    case("rolling stops", "world {duration = 2}\n" + law % "rolling = 0.02" + FLOOR + ball %
         "velocity = {1, 0, 0}, spin = {0, 10, 0}", "b", 2, {"x": 1 / (2 * a), "vx": 0, "wy": 0})
    alpha = 0.01 * G / 0.004  # of the spin about the normal
    scene = "world {duration = 1}\n" + law % "spinning = 0.01" + FLOOR + ball % "spin = {0, 0, %d}"
    for spin in (20, -20):
        case("spinning slows", scene % spin, "b", 0.5, {"wz": math.copysign(20 - 0.5 * alpha, spin)})
        case("spinning stops", scene % spin, "b", 1, {"wz": 0, "alphaz": 0})
    # on a slope: up with both against it, then back where gravity is more than the resistance
    for d, steep in ((0.02, True), (0.04, False)):
        up, down = 5 / 7 * (0.3 * G + 0.95 * G * d / 0.1), 5 / 7 * (0.3 * G - 0.95 * G * d / 0.1)
        x = 1 / (2 * up) - (0.5 * down * (2 - 1 / up)**2 if steep else 0)
        case("rolling up and back", "world {duration = 2, gravity = {%r, 0, %r}}\n" % (-0.3 * G, -0.95 * G) +
             law % ("rolling = %g" % d) + FLOOR + ball % "velocity = {1, 0, 0}, spin = {0, 10, 0}", "b", 2, {"x": x})
    # a cylinder on a slope: a = 2/3 (g_x - d/R g_z), or none
    for d in (0.01, 0.05):
        a = max(0, 2 / 3 * (0.3 * G - 0.95 * G * d / 0.1))
        case("cylinder on a slope", "world {duration = 1, gravity = {%r, 0, %r}}\n" % (0.3 * G, -0.95 * G) +
             law % ("rolling = %g" % d) + FLOOR +
             'body {name = "b", shape = cylinder {0.1, 0.3}, position = {0, 0, 0.1}, rotation = {math.pi / 2, 1, 0, 0}}',
             "b", 1, {"x": a / 2})
    # a box that slides without friction, its four corners sharing N
    case("box with spinning resistance", "world {duration = 1}\nmaterial {friction = {static = 0, dynamic = 0, spinning = 0.01}}\n" +
         FLOOR + 'body {name = "b", shape = solid.box {0.2, 0.2, 0.1}, mass = 1, position = {0, 0, 0.05}, spin = {0, 0, 5},'
         " velocity = {1, 0, 0}}", "b", 1, {"wz": 0, "x": 1})


def turntable():
    """The axis of rolling turns: with u = v - O z x r, w = z x u / R and the torque -d N w / |w|,
    (1/m + R^2/I) f = O z x v - R d N / I (w / |w|) x z."""
    r, d, o, i, n = 0.1, 0.004, 2.0, 0.4 * 0.01, G

    def rate(y):
        w = [-(y[3] - o * y[0]) / r, (y[2] + o * y[1]) / r]
        size = math.hypot(*w)
        k, c = 1 + r * r / i, r * d * n / i / size
        return [y[2], y[3], (-o * y[3] - c * w[1]) / k, (o * y[2] + c * w[0]) / k]

    y = integrate(rate, [0.3, 0, 0.5, 0.4], 1.5)
    case("turntable with rolling resistance",
         "world {duration = 1.5}\nmaterial {friction = {static = 5, dynamic = 5, rolling = 0.004}}\n"
         'body {name = "table", shape = halfspace {normal = {0, 0, 1}}, kinematic = true, spin = {0, 0, 2}}\n'
         'body {name = "b", shape = sphere {0.1}, mass = 1, position = {0.3, 0, 0.1}, velocity = {0.5, 0.4, 0}, spin = {2, 5, 0}}',
         "b", 1.5, {"x": y[0], "y": y[1], "vx": y[2], "vy": y[3]})


resistance()
turntable()


def track(abut, folder, scene, body, time):
    path, recording = os.path.join(folder, "scene.lua"), os.path.join(folder, "scene.abut")
    with open(path, "w") as f:
        f.write(scene)
    call = lambda *words: subprocess.run([abut, *words], capture_output=True, text=True)
    done = call("run", path, "-o", recording, "--strict", "-q")
    if done.returncode == 0:
        done = call("track", recording, "--body", body, "--at", repr(time))
    if done.returncode != 0:
        return None, "exit %d: %s" % (done.returncode, done.stderr.strip())
    return next(csv.DictReader(io.StringIO(done.stdout))), None


def main():
    abut, word = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    cases, failed = [c for c in CASES if word in c[0]], 0
    for name, scene, body, time, wanted, tolerance in cases:
        with tempfile.TemporaryDirectory() as folder:
            row, problem = track(abut, folder, scene, body, time)
        for key, value in wanted.items():
            if not problem and not abs(float(row[key]) - value) <= tolerance:
                problem = "%s at %g is %s, not %.12g" % (key, time, row[key], value)
        if problem:
            failed += 1
            print("%s: %s" % (name, problem))
    print("%d scenes with closed forms, %d failed" % (len(cases), failed))
    return 1 if failed or not cases else 0


sys.exit(main())
