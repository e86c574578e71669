#!/usr/bin/env python3
"""closed_forms.py ABUT [WORD]: small scenes of the whole scene language, each with an answer from mechanics.

A case is a scene, a body, a time, and what columns of `abut track --at` must be there; the formula stands beside it.
With `live` the live clock must come as near as that.  Every run is strict: its audit must keep the promises.  With WORD only the cases whose name has it."""
import csv
import io
import json
import math
import os
import subprocess
import sys
import tempfile

G = 9.81
FLOOR = 'body {name = "floor", shape = halfspace {normal = {0, 0, 1}, offset = 0}, fixed = true}\n'
CASES = []


def case(name, scene, body, time, wanted, tolerance=1e-7, live=None):
    CASES.append((name, scene, body, time, wanted, tolerance, "exact"))
    if live is not None:
        CASES.append((name + ", live", scene, body, time, wanted, live, "live"))


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


# ---- up a slope of tan = 1/2: a = g_x + mu_d N until it stands, where the static coefficient decides whether it comes back
def slopes():
    gx, n = G / math.sqrt(5), 2 * G / math.sqrt(5)
    for static, v in ((0.6, 0.5), (0.6, 1), (0.6, 2), (0.52, 1.3), (0.48, 1), (0.48, 2)):
        up, down = gx + 0.3 * n, gx - 0.3 * n if static < 0.5 else 0
        t, rest = v / up, 1 - v / up
        for shape in ("solid.box {0.4, 0.4, 0.1}", "cylinder {0.2, 0.1}"):
            case("up a slope with two coefficients", "world {duration = 1, gravity = {%r, 0, %r}}\n" % (gx, -n) +
                 "material {friction = {static = %g, dynamic = 0.3}}\n" % static + FLOOR +
                 'body {name = "b", shape = %s, position = {0, 0, 0.05}, velocity = {%r, 0, 0}}' % (shape, -v), "b", 1,
                 {"x": down / 2 * rest**2 - v * t / 2, "vx": down * rest}, 1e-7, 0.02)  # live: the way of a sub-step


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


# ---- functions of time: asked from t = 0 on, where they begin
def functions():
    body = 'body {name = "b", shape = sphere {0.1}, %s}\n'
    # kinematic: x = t^1.5 has no value before 0, v = 1.5 t^0.5
    case("motion that begins at 0", "world {duration = 1}\n" + body %
         "kinematic = true, motion = function(t) return {t ^ 1.5, 0, 0} end", "b", 0.5, {"x": 0.5**1.5, "vx": 1.5 * 0.5**0.5})
    # a force that begins at 0: m v = t^1.5 / 1.5
    case("force that begins at 0", "world {duration = 1, gravity = {0, 0, 0}}\n" + body % "mass = 2" +
         'force {"b", value = function(t) return {math.sqrt(t), 0, 0} end}', "b", 1, {"vx": 1 / 3})
    # the first and second derivatives at the start itself: x = sin 3t, angle = t^2 about z
    case("motion at the start", "world {duration = 0.1}\n" + body %
         "kinematic = true, motion = function(t) return {math.sin(3 * t), 0, 0}, {math.cos(t * t / 2), 0, 0, math.sin(t * t / 2)} end",
         "b", 0, {"x": 0, "vx": 3, "ax": 0, "wz": 0, "alphaz": 2}, 1e-5)
    # on a plate that moves as 0.1 sin 5t, never as fast downwards as the fall
    case("box on a shaken plate", "world {duration = 1}\n"
         'body {name = "plate", shape = solid.box {2, 2, 0.1}, kinematic = true, motion = function(t) return {0, 0, 0.1 * math.sin(5 * t)} end}\n'
         'body {name = "b", shape = solid.box {0.2, 0.2, 0.2}, position = {0, 0, 0.15}, velocity = {0, 0, 0.5}}', "b", 1,
         {"z": 0.15 + 0.1 * math.sin(5)}, 1e-6)


# ---- hinges: limits, motors, breaking, ends of rods
def hinges():
    wheel = 'world {duration = 2, gravity = {0, 0, 0}}\nbody {name = "b", shape = cylinder {0.5, 0.1}, mass = 2}\n'
    # I = 1/4: a torque of 1/2 gives 2 rad/s^2, up to the speed of the motor
    motor = 'hinge.pin {"b", at = {0, 0, 0}, axis = {0, 0, 1}, motor = {speed = 3, max_force = 0.5}}'
    case("motor that is limited", wheel + motor, "b", 1, {"wz": 2})
    case("motor at its speed", wheel + motor, "b", 2, {"wz": 3})
    case("motor against a limit", wheel + 'hinge.pin {"b", at = {0, 0, 0}, axis = {0, 0, 1}, limits = {-1, 1}, motor = {speed = 1, max_force = 5}}',
         "b", 2, {"wz": 0, "qz": math.sin(0.5)})
    # a load of 9.81 + 5 t breaks the hinge at 20 N; then it falls with it
    t = (20 - G) / 5
    case("hinge that breaks", 'world {duration = 3}\nbody {name = "b", shape = sphere {0.1}, mass = 1}\n'
         'hinge.ball {"b", at = {0, 0, 0}, break_force = 20}\nforce {"b", value = function(t) return {0, 0, -5 * t} end}', "b", 3,
         {"vz": -(G * (3 - t) + 2.5 * (9 - t * t))}, 1e-6)
    # a kinematic body keeps its velocity whatever it hangs on, and nobody promised to hold it
    case("kinematic on a hinge", 'world {duration = 1}\nbody {name = "b", shape = sphere {0.1}, kinematic = true, velocity = {1, 0, 0}}\n'
         'hinge.ball {"b", at = {0, 0, 1}}', "b", 1, {"x": 1, "z": 0}, 1e-12, 1e-12)
    # a pin with a spring of 5 N m that breaks at 20 N: I th" = -m g sin th - 5 (th - pi/2), m = L = 1; it carries w^2 + g cos th along and
    # th" + g sin th across.  What the spring holds then is lost (the run is strict: its energy must add up)
    inertia = 1 + 0.4 * 0.01
    rate = lambda y: [y[1], -(G * math.sin(y[0]) + 5 * (y[0] - math.pi / 2)) / inertia]
    load = lambda y: math.hypot(y[1]**2 + G * math.cos(y[0]), rate(y)[1] + G * math.sin(y[0]))
    late, early, y = 0.0, 0.0, [math.pi / 2, 0]
    while load(y) < 20:
        early, y = late, integrate(rate, y, 1e-3, 1)
        late += 1e-3
    for _ in range(50):
        t = (early + late) / 2
        y = integrate(rate, [math.pi / 2, 0], t, 1000)
        early, late = (t, late) if load(y) < 20 else (early, t)
    case("pin with a spring that breaks", 'world {duration = 1}\nbody {name = "b", shape = sphere {0.1}, mass = 1, position = {1, 0, 0}}\n'
         'hinge.pin {"b", at = {0, 0, 0}, axis = {0, 1, 0}, stiffness = 5, break_force = 20}', "b", 1,
         {"vx": y[1] * math.cos(y[0]), "vz": y[1] * math.sin(y[0]) - G * (1 - t), "wy": -y[1]}, 1e-6)
    # two equal balls on a rod turn about its middle
    case("rod between two", 'world {duration = 1, gravity = {0, 0, 0}}\nbody {name = "a", shape = sphere {0.1}, mass = 1, position = {1, 0, 0}, velocity = {0, -1, 0}}\n'
         'body {name = "b", shape = sphere {0.1}, mass = 1, velocity = {0, 1, 0}}\nhinge.rod {"a", "b"}', "b", 1,
         {"x": 0.5 - 0.5 * math.cos(2), "y": 0.5 * math.sin(2)})
    # a pitch p (metres a radian): (m p^2 + I) angle" = -m g p, I = 1/2 m r^2
    a = -G / (1 + 0.005 / 0.05**2)
    case("screw", 'world {duration = 1}\nbody {name = "b", shape = cylinder {0.1, 0.2}, mass = 1}\n'
         'hinge.screw {"b", at = {0, 0, 0}, axis = {0, 0, 1}, pitch = 0.05}', "b", 1, {"z": a / 2, "vz": a})


# ---- limits: held from the start, against any motor, and as a lock
def limits():
    ball = 'body {name = "b", shape = sphere {0.1}, mass = 1}\n'
    slider = ball + 'hinge.slider {"b", axis = {0, 0, 1}, %s}'
    rests = {"z": 0, "vz": 0, "az": 0}
    case("begins at its limit", "world {duration = 0.5}\n" + slider % "limits = {0, 1}", "b", 0.5, rests, 1e-9, 1e-9)
    case("begins at its upper limit", 'world {duration = 0.5, gravity = {0, 0, 9.81}}\n' + slider % "limits = {-1, 0}", "b", 0.5, rests, 1e-9, 1e-9)
    case("limits that lock", "world {duration = 0.5}\n" + slider % "limits = {0, 0}, motor = {speed = 1}", "b", 0.5, rests, 1e-9, 1e-9)
    case("falls to its limit", "world {duration = 1}\n" + slider % "limits = {-1, 0.5}", "b", 1, {"z": -1, "vz": 0}, 1e-9, 1e-9)
    case("motor without bound at a limit", "world {duration = 1}\n" + slider % "limits = {-1, 0.5}, motor = {speed = 1}", "b", 1,
         {"z": 0.5, "vz": 0}, 1e-9, 1e-9)
    # away from the limit once its speed turns: the travel is the integral of -sin(pi t) from 1 to 1.5
    case("motor that turns back", "world {duration = 1.5}\n" + slider % "limits = {-1, 0.5}, motor = {speed = function(t) return math.sin(math.pi * t) end}",
         "b", 1.5, {"z": 0.5 - 1 / math.pi, "vz": -1}, 1e-6, 5e-3)
    case("motor that holds its speed", "world {duration = 2}\n" + slider % "motor = {speed = 1, max_force = 15}", "b", 2,
         {"vz": 1, "z": 2 - 0.5 / (15 - G)}, 1e-7, 1 / 60)  # live: the way of a step
    # a ball of 1 kg rises by 0.3 m and strikes another that rests on its limit: that leaves with (1 + e) / 2 of its speed; or a locked one, which
    # takes nothing: it comes back with e of it
    v = math.sqrt(25 - 2 * G * 0.3)
    t = 0.3 - (5 - v) / G
    for lock, speed, body, height in (("0, 2", 0.75 * v, "a", 1), ("0, 0", -0.5 * v, "b", 0.8)):
        case("struck on its limit", "world {duration = 0.3}\nmaterial {restitution = 0.5}\n"
             'body {name = "a", shape = sphere {0.1}, mass = 1, position = {0, 0, 1}}\n'
             'body {name = "b", shape = sphere {0.1}, mass = 1, position = {0, 0, 0.5}, velocity = {0, 0, 5}}\n'
             'hinge.slider {"a", axis = {0, 0, 1}, limits = {%s}}\nhinge.slider {"b", axis = {0, 0, 1}}' % lock, body, 0.3,
             {"z": height + speed * t - G / 2 * t * t, "vz": speed - G * t}, 1e-8, 0.05)  # live: gravity of a sub-step
    wheel = 'world {duration = 2, gravity = {0, 0, 0}}\nbody {name = "b", shape = cylinder {0.5, 0.1}, mass = 2}\n' \
            'hinge.pin {"b", axis = {0, 0, 1}, motor = {speed = function(t) %s end, %s}}'
    case("motor that begins at 0", wheel % ("return t ^ 1.5", ""), "b", 1, {"wz": 1, "qz": math.sin(0.2)}, 1e-6)
    # a jump: at once, or with I alpha = max_force (I = 1/4)
    case("motor that jumps", wheel % ("return t < 1 and 0 or 2", ""), "b", 1.5, {"wz": 2, "qz": math.sin(0.5)}, 2e-3, 2e-2)
    case("bounded motor that jumps", wheel % ("return t < 1 and 0 or 2", "max_force = 1"), "b", 1.25, {"wz": 1}, 1e-6, 0.1)
    case("motor in millimetres", 'world {unit = "mm", duration = 1, gravity = {0, 0, 0}}\nbody {name = "b", shape = sphere {100}, mass = 1}\n'
         'hinge.slider {"b", axis = {1, 0, 0}, motor = {speed = function(t) return 500 end}}', "b", 1, {"x": 0.5})
    case("spring in millimetres", 'world {unit = "mm", duration = 1, gravity = {0, 0, 0}}\nbody {name = "b", shape = sphere {100}, mass = 1}\n'
         'hinge.slider {"b", axis = {1, 0, 0}, stiffness = 10, rest = 100}', "b", 1, {"x": 0.1 * (1 - math.cos(math.sqrt(10)))})


# ---- impacts with friction: |T| = min(mu (1 + e) v, 2/7 u) of a ball of mass 1 that comes in with v down and u along
def impacts():
    law = "world {duration = 0.5, gravity = {0, 0, 0}}\nmaterial {restitution = %g, friction = %g}\n" + FLOOR
    ball = 'body {name = "b", shape = sphere {0.1}, mass = 1, position = {0, 0, 0.3}, velocity = {%g, %g, -2}, spin = {0, %g, 0}}'
    for mu, e in ((0.1, 0.8), (0.9, 0.5), (0.3, 1)):
        t = min(mu * (1 + e) * 2, 2 / 7 * 3)
        case("oblique impact", law % (e, mu) + ball % (3, 0, 0), "b", 0.5, {"vx": 3 - t, "vz": 2 * e, "wy": 25 * t}, 1e-9, 1e-6)
    case("impact with back spin", law % (0.6, 0.2) + ball % (0, 0, 30), "b", 0.5, {"vx": 0.64, "wy": 30 - 16}, 1e-9, 1e-6)
    case("impact aslant", law % (0.6, 0.2) + ball % (3, 4, 0), "b", 0.5, {"vx": 3 - 0.384, "vy": 4 - 0.512}, 1e-9, 1e-6)
    # a ball (k = 2/5) or cylinder (1/2) rolls against a step: angular momentum about its edge, m v (R - h) + k m R v = (1 + k) m R^2 w;
    # the floor bears nothing, and so cannot jam it, however rough it is
    t = (0.7 - math.sqrt(0.05)) / 2.5
    for mu in (0.3, 5, 50):
        for shape, k in (("sphere {0.3}", 0.4), ("cylinder {0.3, 0.4}, rotation = {math.pi / 2, 1, 0, 0}", 0.5)):
            case("rolling against a step", "world {duration = 0.3}\nmaterial {friction = %g}\n" % mu + FLOOR +
                 'body {name = "step", shape = solid.box {1, 1, 0.1}, fixed = true, position = {1, 0, 0.05}}\n'
                 'body {name = "b", mass = 1, position = {-0.2, 0, 0.3}, velocity = {2.5, 0, 0}, spin = {0, 2.5 / 0.3, 0}, shape = %s}' % shape,
                 "b", t, {"wy": 2.5 * (0.2 + k * 0.3) / ((1 + k) * 0.09)}, 1e-6)
    # Poisson's law, the end of a leaning rod (r from the centre to the contact, K = 1/m + ...): compression sticks, K J = -u; expansion
    # gives e J_n, and slips: what would hold it is more than mu e J_n
    th, i, mu, e = 0.3, 0.02, 0.2, 0.5
    x, z = -0.2 * math.cos(th), -0.2 * math.sin(th) - 0.05
    kxx, kzz, kxz = 1 + z * z / i, 1 + x * x / i, -x * z / i
    jx, jz = ((-0.7 * kzz - 2 * kxz) / (kxx * kzz - kxz * kxz), (2 * kxx + 0.7 * kxz) / (kxx * kzz - kxz * kxz))
    jx, jz = jx + mu * e * jz, jz * (1 + e)
    case("rod by Poisson's law", 'world {duration = 0.2, gravity = {0, 0, 0}, restitution_law = "poisson"}\nmaterial {restitution = 0.5, friction = 0.2}\n' + FLOOR +
         'body {name = "b", shape = capsule {0.05, 0.4}, mass = 1, inertia = {0.02, 0.02, 0.001}, position = {0, 0, 0.5}, velocity = {0.7, 0, -2},'
         " rotation = {math.pi / 2 - 0.3, 0, 1, 0}}", "b", 0.2, {"vx": 0.7 + jx, "vz": -2 + jz, "wy": (z * jx - x * jz) / i}, 1e-9)
    # two balls with their centres 0.1 off line: sin = 1/2; j = (1 + e) v cos / (1/m1 + 1/m2)
    c = math.sqrt(0.75)
    j = 1.7 * 2 * c / (1 + 1 / 3)
    case("two balls aslant", "world {duration = 1, gravity = {0, 0, 0}}\nmaterial {restitution = 0.7}\n"
         'body {name = "a", shape = sphere {0.1}, mass = 1, position = {-1, 0.1, 0}, velocity = {2, 0, 0}}\n'
         'body {name = "b", shape = sphere {0.1}, mass = 3}', "a", 1, {"vx": 2 - j * c, "vy": j / 2}, 1e-9, 0.04)  # live: 2 m/s turn the line of centres by 0.04 in 1/240 s
    # an impact at the end of a frame, to rounding, is followed by a step as long as any
    case("impact at a frame", law % (0.5, 0) + ball % (0, 0, 0), "b", 0.1, {"vz": 1}, 1e-9)
    # a pair that gives friction only has the restitution of its materials
    case("pair of friction", "world {duration = 0.5, gravity = {0, 0, 0}}\n" 'material {name = "q", restitution = 0.9}\npair("q", "q", {friction = 0.5})\n'
         'body {name = "floor", shape = halfspace {}, fixed = true, material = "q"}\n'
         'body {name = "b", shape = sphere {0.1}, position = {0, 0, 0.3}, velocity = {0, 0, -2}, material = "q"}', "b", 0.5, {"vz": 1.8}, 1e-9)


# ---- units, materials, forces
def others():
    # millimetres: the fall is that of the metre
    case("millimetres", 'world {unit = "mm", duration = 0.5, gravity = {0, 0, -9810}}\n'
         'body {name = "floor", shape = halfspace {normal = {0, 0, 1}, offset = -100}, fixed = true}\n'
         'body {name = "b", shape = solid.box {10, 10, 10}, velocity = {1000, 0, 0}}', "b", 0.1, {"x": 0.1, "z": -0.5 * G * 0.01})
    # friction is the geometric mean, a pair has its own
    for pair, mu in (("", 0.4), ('pair("p", "q", {friction = {static = 0.5, dynamic = 0.1}})\n', 0.1)):
        case("friction of two materials", 'world {duration = 0.5}\nmaterial {name = "p", friction = 0.8}\nmaterial {name = "q", friction = 0.2}\n' +
             pair + 'body {name = "floor", shape = halfspace {normal = {0, 0, 1}}, fixed = true, material = "p"}\n'
             'body {name = "b", shape = solid.box {1, 1, 0.1}, position = {0, 0, 0.05}, velocity = {5, 0, 0}, material = "q"}', "b", 0.3,
             {"ax": -mu * G})
    # drag: v = v0 exp(-c t / m), w = w0 exp(-c t / I)
    case("drag", 'world {duration = 2, gravity = {0, 0, 0}}\nbody {name = "b", shape = sphere {0.1}, mass = 2, velocity = {5, 0, 0},'
         " spin = {0, 0, 10}, drag = {linear = 0.7, angular = 0.01}}", "b", 2, {"vx": 5 * math.exp(-0.7), "wz": 10 * math.exp(-0.02 / 0.008)})
    # a spring of 100 rad/s that swings 320 times in one frame: 5,900 steps are no storm
    case("long frame", 'world {duration = 20, frame = 20, gravity = {0, 0, 0}}\nbody {name = "b", shape = sphere {0.1}, mass = 1, position = {1.1, 0, 0}}\n'
         'spring {"b", at_b = {0, 0, 0}, length = 1, stiffness = 1e4}', "b", 20, {"x": 1 + 0.1 * math.cos(2000)}, 2e-8)
    # the point of a force moves with the body: I angle" = -F r cos(angle)
    y = integrate(lambda y: [y[1], -0.5 * math.cos(y[0])], [0, 0], 2)
    case("force at a point", 'world {duration = 2, gravity = {0, 0, 0}}\nbody {name = "b", shape = solid.box {1, 1, 1}, mass = 6}\n'
         'force {"b", at = {0, 0.5, 0}, value = {1, 0, 0}}', "b", 2, {"wz": y[1], "qz": math.sin(y[0] / 2)})
    # no shape: it spins on, I w' = -w x I w at once
    w, tensor = (1, 0.5, 2), ((2, 0.5, 0), (0.5, 3, 0), (0, 0, 4))
    m = [sum(a * b for a, b in zip(line, w)) for line in tensor]
    torque = [-(w[1] * m[2] - w[2] * m[1]), -(w[2] * m[0] - w[0] * m[2])]
    case("body without a shape", 'world {duration = 1, gravity = {0, 0, 0}}\nbody {name = "b", mass = 1, inertia = {2, 3, 4, 0.5, 0, 0}, spin = {1, 0.5, 2}}',
         "b", 0, {"alphax": (3 * torque[0] - 0.5 * torque[1]) / 5.75, "alphay": (2 * torque[1] - 0.5 * torque[0]) / 5.75})
    # a pendulum of 10 km, from the height 0: masses of 1e12 kg are no storm
    y = integrate(lambda y: [y[1], -math.sin(y[0]) / 1.004], [math.pi / 2, 0], 2)
    case("pendulum of ten kilometres", "local t = math.sqrt(1e4 / 9.81)\nworld {duration = 2 * t, frame = t / 10}\n"
         'body {name = "b", shape = sphere {1e3}, position = {1e4, 0, 0}}\nhinge.ball {"b", at = {0, 0, 0}}', "b", 2 * math.sqrt(1e4 / G),
         {"x": 1e4 * math.sin(y[0])}, 1e-3)
    # between two frames: the live clock goes there, too; what is within a hundredth of a step behind a frame is on the straight
    # line to the next, which is off by at most G t T / 2
    for t, off in ((0.01, 1e-12), (0.15, 1e-12), (0.2001, G * 0.0001 * 0.2 / 2)):
        case("between frames", 'world {duration = 0.4, frame = 0.2}\nbody {name = "b", shape = sphere {0.1}, velocity = {1, 0, 0}}', "b", t,
             {"x": t, "z": -G / 2 * t * t, "vz": -G * t}, 1e-9, off)
    # the first acceleration, before any step of the live clock
    case("acceleration at the start", "world {duration = 0.1}\nmaterial {friction = 0.5}\n" + FLOOR +
         'body {name = "b", shape = solid.box {0.2, 0.2, 0.2}, position = {0, 0, 0.1}, velocity = {1, 0, 0}}', "b", 0,
         {"ax": -0.5 * G, "az": 0, "x": 0}, 1e-9, 1e-6)
    # at the time of an impact, however it was rounded, the state just after it
    for height in (0.5, 1, 2, 3.7, 5):
        t = math.sqrt(2 * height / G)
        case("state at an impact", "world {duration = 1.2}\nmaterial {restitution = 0.5}\n" + FLOOR +
             'body {name = "b", shape = sphere {0.1}, position = {0, 0, %r}}' % (height + 0.1), "b", t, {"vz": G * t / 2})


resistance()
slopes()
turntable()
functions()
hinges()
limits()
impacts()
others()


def call(abut, *words):
    return subprocess.run([abut, *words], capture_output=True, text=True)


def write(folder, scene):
    path = os.path.join(folder, "scene.lua")
    with open(path, "w") as f:
        f.write(scene)
    return path, os.path.join(folder, "scene.abut")


def track(abut, folder, scene, body, time, mode):
    path, recording = write(folder, scene)
    done = call(abut, "run", path, "-o", recording, "--strict", "-q", "--mode", mode)
    if done.returncode == 0:
        done = call(abut, "track", recording, "--body", body, "--at", repr(time))
    if done.returncode != 0:
        return None, "exit %d: %s" % (done.returncode, done.stderr.strip())
    return next(csv.DictReader(io.StringIO(done.stdout))), None


# ---- what is not a row of the motion
def centre_of_pressure(abut, folder):
    """A force F at the top of a box is held by friction: N x = F h, wherever friction itself is shared out."""
    path, recording = write(folder, "world {duration = 0.2}\nmaterial {friction = 0.3}\n" + FLOOR +
                            'body {name = "b", shape = solid.box {0.2, 0.4, 0.2}, mass = 3, position = {0, 0, 0.1}}\n'
                            'force {"b", at = {0.05, 0, 0.2}, value = {2, 0, 0}}')
    call(abut, "run", path, "-o", recording, "-q")
    contact = json.loads(call(abut, "contacts", recording, "--at", "0.1", "--json").stdout)["contacts"][0]
    x, wanted = contact["center_of_pressure"][0], 2 * 0.2 / (3 * G)
    return None if abs(x - wanted) < 1e-9 else "the centre of pressure is at x = %r, not %r" % (x, wanted)


def forces_of_any_masses(abut, folder):
    """Boxes on each other: each contact bears the weight of all above it, whatever lies below."""
    for masses in ((1e18, 1), (1, 1e18), (1e9, 1, 1e-9), (1e-9, 1e9, 1e-9)):
        path, recording = write(folder, "world {duration = 0.1}\n" + FLOOR + "".join(
            'body {name = "b%d", shape = solid.box {1, 1, 1}, mass = %r, position = {0, 0, %r}}\n' % (i, float(m), i + 0.5) for i, m in enumerate(masses)))
        call(abut, "run", path, "-o", recording, "-q")
        contacts = json.loads(call(abut, "contacts", recording, "--at", "0.05", "--json").stdout)["contacts"]
        for i in range(len(masses)):
            pair = {"b%d" % i, "b%d" % (i - 1) if i else "floor"}
            force = sum(abs(f[2]) for c in contacts if set(c["bodies"]) == pair for f in c["forces"])
            if not abs(force / (G * sum(masses[i:])) - 1) < 1e-6:
                return "masses %s: contact %d bears %g N" % (masses, i, force)
    return None


def limits_have_impulses(abut, folder):
    """A sledge of 2 kg stops at its limit after 0.5 m: the impulse is -2 N s, the energy 1 J before and none after, at the place of its hinge."""
    path, recording = write(folder, 'world {duration = 1, gravity = {0, 0, 0}}\nbody {name = "b", shape = solid.box {1, 1, 1}, mass = 2, velocity = {1, 0, 0}}\n'
                            'hinge.slider {"b", at = {0, 0, 1}, axis = {1, 0, 0}, limits = {-1, 0.5}}')
    call(abut, "run", path, "-o", recording, "-q")
    event = json.loads(call(abut, "events", recording, "--json").stdout)["events"][0]
    got = [event["time"], *event["impulse"], event["energy_before"], event["energy_after"], *event["point"]]
    wanted = [0.5, -2, 0, 0, 1, 0, 0.5, 0, 1]
    return None if all(abs(a - b) < 1e-9 for a, b in zip(got, wanted)) else "the limit has %s, not %s" % (got, wanted)


def lost_contacts_have_a_place(abut, folder):
    """A ball that a growing force lifts off at t = 1/2 tells where: below its centre, which has come 0.5 m far."""
    path, recording = write(folder, "world {duration = 1, gravity = {0, 0, -1}}\n" + FLOOR + 'body {name = "b", shape = sphere {0.1}, mass = 1, position = {1, 2, 0.1},'
                            ' velocity = {1, 0, 0}}\nforce {"b", value = function(t) return {0, 0, 2 * t} end}')
    call(abut, "run", path, "-o", recording, "-q")
    lost = [e for e in json.loads(call(abut, "events", recording, "--json").stdout)["events"] if e["kind"] == "contact-lost"]
    if len(lost) != 1 or [e["kind"] for e in lost[0]["entities"]] != ["face", "smooth"]:
        return "what is told: %s" % lost
    off = max(abs(a - b) for a, b in zip([lost[0]["time"], *lost[0]["point"], *lost[0]["normal"]], [0.5, 1.5, 2, 0, 0, 0, -1]))
    return None if off < 1e-6 else "the place or the normal is off by %g" % off


def live_contacts_at_the_start(abut, folder):
    """The floor bears the box from time 0 on, before any step of the live clock."""
    path, recording = write(folder, "world {duration = 0.1}\n" + FLOOR + 'body {name = "b", shape = solid.box {1, 1, 1}, mass = 3, position = {0, 0, 0.5}}')
    call(abut, "run", path, "-o", recording, "-q", "--mode", "live")
    contacts = json.loads(call(abut, "contacts", recording, "--at", "0", "--json").stdout)["contacts"]
    force = sum(abs(f[2]) for c in contacts for f in c["forces"])
    return None if abs(force - 3 * G) < 1e-6 else "the floor bears %r N, not %r" % (force, 3 * G)


def resume_keeps_its_clock(abut, folder):
    """Half of a run and the rest have the state of the whole, also where --mode chose the clock."""
    path, recording = write(folder, "world {duration = 0.6}\nmaterial {restitution = 0.5, friction = 0.3}\n" + FLOOR +
                            'body {name = "b", shape = solid.box {0.1, 0.2, 0.3}, position = {0, 0, 0.4}, rotation = {1, 1, 2, 3}}')
    whole = call(abut, "run", path, "--mode", "live", "--json")
    call(abut, "run", path, "--mode", "live", "--duration", "0.3", "-o", recording, "-q")
    rest = call(abut, "resume", recording, "--duration", "0.6", "--json")
    one, two = (json.loads(done.stdout) for done in (whole, rest))
    return None if (one["hash"], one["mode"]) == (two["hash"], two["mode"]) else "resumed: %s" % two


def live_impacts_are_told_once(abut, folder):
    """Balls between two walls, which pass a blow on and back within an instant: one impact for each pair and instant, and on every ball the
    impulses of all of them are the momentum that it has gained."""
    path, recording = write(folder, 'world {duration = 0.3, gravity = {0, 0, 0}, mode = "live"}\nmaterial {restitution = 0.9}\n'
                            'body {name = "left", shape = halfspace {normal = {1, 0, 0}, offset = -0.1}, fixed = true}\n'
                            'body {name = "right", shape = halfspace {normal = {-1, 0, 0}, offset = -0.9}, fixed = true}\n'
                            "for i, m in ipairs {1, 5, 2} do\n"
                            '  body {name = "b" .. i, shape = sphere {0.1}, mass = m, position = {0.2 * i - 0.2, 0, 0}}\nend\n'
                            'body {name = "b4", shape = sphere {0.1}, mass = 1, position = {0.75, 0, 0}, velocity = {-3, 0, 0}}')
    call(abut, "run", path, "-o", recording, "-q")
    events = [e for e in json.loads(call(abut, "events", recording, "--json").stdout)["events"] if e["kind"] == "impact"]
    instants = [(e["time"], *e["bodies"]) for e in events]
    if len(events) < 4 or len(set(instants)) != len(instants):
        return "of %d impacts %d are different pairs and instants" % (len(events), len(set(instants)))
    if any(e["energy_after"] > e["energy_before"] * (1 + 1e-9) for e in events):
        return "an impact gained energy"
    for body, mass, start in (("b1", 1, 0), ("b2", 5, 0), ("b3", 2, 0), ("b4", 1, -3)):
        row = next(csv.DictReader(io.StringIO(call(abut, "track", recording, "--body", body, "--at", "0.3").stdout)))
        given = sum(e["impulse"][0] * (1 if e["bodies"][0] == body else -1) for e in events if body in e["bodies"])
        if not abs(given - mass * (float(row["vx"]) - start)) < 1e-6:
            return "%s was given %g and gained %g" % (body, given, mass * (float(row["vx"]) - start))
    return None


def live_impacts_have_impulses(abut, folder):
    """A block slides over the edge of a table and tips: whatever is told as an impact has struck."""
    path, recording = write(folder, 'world {duration = 2.5, mode = "live"}\nmaterial {friction = 0.3, restitution = 0.2}\n'
                            'body {name = "table", shape = solid.box {2, 2, 1}, position = {0, 0, -0.5}, fixed = true}\n'
                            'body {name = "b", shape = solid.box {0.2, 0.2, 0.2}, mass = 2, position = {-0.8, 0, 0.1}, velocity = {1, 0, 0}}\n'
                            'force {"b", value = function(t) return {t > 1 and 10 or 0, 0, 0} end}')
    call(abut, "run", path, "-o", recording, "-q")
    events = json.loads(call(abut, "events", recording, "--json").stdout)["events"]
    empty = [e for e in events if e["kind"] == "impact" and not any(e["impulse"])]
    return "%d impacts have no impulse" % len(empty) if empty or not events else None


def live_scenes_are_certified(abut, folder):
    """A figure whose limbs pass blows on through their hinges, and a stack in which bricks strike each other many times at an instant: one impact
    for each pair and instant, and the certificate finds none that gained energy."""
    recording = os.path.join(folder, "rec")
    for name in ("figure-on-stairs", "hit-stack"):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scenes", name + ".lua")
        call(abut, "run", path, "--mode", "live", "-o", recording, "-q")
        impacts = [(e["time"], *e["bodies"]) for e in json.loads(call(abut, "events", recording, "--json").stdout)["events"] if e["kind"] == "impact"]
        if not impacts or len(set(impacts)) != len(impacts):
            return "%s: of %d impacts %d are different pairs and instants" % (name, len(impacts), len(set(impacts)))
        done = call(abut, "certify", recording)
        if done.returncode != 0:
            return "%s: %s" % (name, done.stdout)
    return None


OTHERS = [centre_of_pressure, forces_of_any_masses, limits_have_impulses, lost_contacts_have_a_place, live_contacts_at_the_start, resume_keeps_its_clock, live_impacts_are_told_once, live_impacts_have_impulses, live_scenes_are_certified]


def main():
    abut, word = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    cases, failed = [c for c in CASES if word in c[0]], 0
    for name, scene, body, time, wanted, tolerance, mode in cases:
        with tempfile.TemporaryDirectory() as folder:
            row, problem = track(abut, folder, scene, body, time, mode)
        for key, value in wanted.items():
            if not problem and not abs(float(row[key]) - value) <= tolerance:
                problem = "%s at %g is %s, not %.12g" % (key, time, row[key], value)
        if problem:
            failed += 1
            print("%s: %s" % (name, problem))
    for check in OTHERS if not word else []:
        with tempfile.TemporaryDirectory() as folder:
            problem = check(abut, folder)
        if problem:
            failed += 1
            print("%s: %s" % (check.__name__, problem))
    print("%d scenes with closed forms, %d failed" % (len(cases), failed))
    return 1 if failed or not cases else 0


sys.exit(main())
