-- A tippe top: a ball whose centre of mass lies below its middle turns over when it spins fast on a floor that is not too rough.
-- What to see: it leans ever more while it slides, turns upside down, and spins on its head, 8 mm higher; then it rolls.
-- Closed form: Jellett's product L . (centre of mass - contact) stays, whatever the friction.  So it ends with the spin
-- W (1 - e) / (1 + e) = 2/3 W, e = centre / radius = 0.2.  It turns over if 1 - e < A / C < 1 + e (here 0.93), the spin is fast, and
-- friction too weak to make it roll at once: with --set friction=0.3 it rolls after 14 ms, and never turns over.
world    { title = "tippe top", duration = 5, frame = 1/60 }
material { restitution = 0, friction = param("friction", 0.1) }
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
body { name = "top", shape = sphere {0.02}, mass = 0.02, center = {0, 0, -0.004},
       inertia = {2.6e-6, 2.6e-6, 2.8e-6}, position = {0, 0, 0.02}, rotation = {0.1, 1, 0, 0}, spin = {0, 0, 160} }
