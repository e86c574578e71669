-- An egg spun on its side stands up.
-- What to see: friction turns the spin about a short axis into spin about the long one, and the egg rises.
-- Closed form: Jellett's constant, the angular momentum about the contact's height times it, while it spins fast.
world    { title = "egg", duration = 2, frame = 1/60 }
material { restitution = 0, friction = { static = 0.25, dynamic = 0.2, rolling = 0, spinning = 0 } }
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
body { name = "egg", shape = surface.loop { "meshes/egg-cage.obj", scale = 0.03 }, position = {0, 0, 0.023},
       rotation = {math.pi / 2 - 0.05, 0, 1, 0}, spin = {0, 0, 90} }
