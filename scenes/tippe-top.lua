-- A tippe top: a ball whose centre of mass lies below its middle turns over when it spins fast on a rough floor.
-- What to see: the angular momentum stays almost vertical while the body turns upside down; sliding friction does it.
-- Closed form: Jellett's product L . (contact - centre of mass) stays while it slides or rolls on one place.
world    { title = "tippe top", duration = 4, frame = 1/60 }
material { restitution = 0, friction = { static = 0.3, dynamic = 0.3, rolling = 0, spinning = 0 } }
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
body { name = "top", shape = sphere {0.02}, mass = 0.02, center = {0, 0, -0.004},
       inertia = {2.6e-6, 2.6e-6, 2.8e-6}, position = {0, 0, 0.02}, rotation = {0.1, 1, 0, 0}, spin = {0, 0, 160} }
