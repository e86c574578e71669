-- An egg spun on its side stands up.
-- What to see: friction at the floor turns the egg, slowly against its spin, and it rises until it spins upright on its blunt end.
-- Closed form (Moffatt and Shimomura 2002): while it spins fast, J = L . (centre of mass - contact) stays, L about the centre of
-- mass; sliding friction turns the axis by a' = friction m g h^2 / J, h the height of the centre.  A spheroid of half axes a > b
-- that begins with the spin W is upright after about pi A W / (2 a friction m g), A its moment of inertia across: here 2.1 s.
world    { title = "egg", duration = 3, frame = 1/60 }
material { restitution = 0, friction = param("friction", 0.1) }
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
body { name = "egg", shape = surface.loop { "meshes/spinning-egg-cage.obj", scale = 0.024 }, position = {0, 0, 0.0219},
       rotation = {math.pi / 2 - 0.05, 0, 1, 0}, spin = {0, 0, param("spin", 150)}, color = {0.93, 0.86, 0.74} }
