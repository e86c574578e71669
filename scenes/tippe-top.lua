-- A tippe top: a ball whose centre of mass lies below its middle turns over when it spins fast on a floor that is not too rough.
-- What to see: it leans ever more while it slides, turns upside down, and spins on its red side, 8 mm higher; then it rolls.
-- Closed form: Jellett's product L . (centre of mass - contact) stays, whatever the friction.  So it ends with the spin
-- W (1 - e) / (1 + e) = 2/3 W, e = centre / radius = 0.2.  It turns over if 1 - e < A / C < 1 + e (here 0.93), the spin is fast, and
-- friction too weak to make it roll at once: with --set friction=0.3 it rolls after 14 ms, and never turns over.
world    { title = "tippe top", duration = 5, frame = 1/60 }
material { restitution = 0, friction = param("friction", 0.1) }
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true, group = "red and floor" }
-- Two halves: the red one is there to be seen, and does not touch the floor.  Together they weigh 20 g, their centre is 4 mm below the
-- middle, and about it A = 2.6e-6 and C = 2.8e-6 kg m^2.
local m, c, A, C = 0.02, -0.004, 2.6e-6, 2.8e-6
local red = { m = 0.01, c = 0.0007, I = 1e-6 }
local blue = { m = m - red.m, c = (m * c - red.m * red.c) / (m - red.m) }
local across = A - red.I - blue.m * (blue.c - c) ^ 2 - red.m * (red.c - c) ^ 2
local tilt, w = 0.1, 160                                     -- turning about the vertical through their common centre
local up, aside = math.cos(tilt), math.sin(tilt)
local top = body { name = "top", shape = sphere {0.02}, mass = blue.m, center = {0, 0, blue.c}, inertia = {across, across, C - red.I},
                   position = {0, 0, 0.02}, rotation = {tilt, 1, 0, 0},
                   velocity = {w * (blue.c - c) * aside, 0, 0}, spin = {0, 0, w} }
local half = body { name = "red half", shape = sphere {0.0198}, mass = red.m, inertia = {red.I, red.I, red.I}, group = "red and floor",
                   position = {0, -red.c * aside, 0.02 + red.c * up}, rotation = {tilt, 1, 0, 0},
                   velocity = {w * (red.c - c) * aside, 0, 0}, spin = {0, 0, w}, color = {0.85, 0.2, 0.15} }
hinge.weld { top, half }
