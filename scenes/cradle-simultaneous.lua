-- Newton's cradle with touching balls, simultaneous impacts (Baraff 1989, figure 11, equations 28 and 29).
-- What to see: the first ball bounces back, all others move on together.
-- Closed form: each pair that touches parts at least as fast as it met: v = (-1/3, 2/3, 2/3) for three balls and e = 1; momentum and
-- energy stay.
world    { title = "cradle, simultaneous", gravity = {0, 0, 0}, duration = 1, frame = 1/50, impact = "simultaneous" }
material { restitution = 1, friction = 0 }

local n = param("balls", 3)
body { name = "ball1", shape = sphere {0.2}, mass = 1, position = {-0.5, 0, 0}, velocity = {1, 0, 0} }
for i = 2, n do body { name = "ball" .. i, shape = sphere {0.2}, mass = 1, position = {0.4 * (i - 1), 0, 0} } end
