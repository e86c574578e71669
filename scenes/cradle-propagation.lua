-- Newton's cradle with touching balls, impacts propagated from pair to pair.
-- What to see: the motion passes through to the last ball, as on the desk: v = (0, ..., 0, 1).
-- Closed form: two equal balls exchange their velocities, in four impacts one after the other at one instant.
world    { title = "cradle, propagation", gravity = {0, 0, 0}, duration = 1, frame = 1/50, impact = "propagation" }
material { restitution = 1, friction = 0 }

local n = param("balls", 5)
body { name = "ball1", shape = sphere {0.2}, mass = 1, position = {-0.5, 0, 0}, velocity = {1, 0, 0} }
for i = 2, n do body { name = "ball" .. i, shape = sphere {0.2}, mass = 1, position = {0.4 * (i - 1), 0, 0} } end
