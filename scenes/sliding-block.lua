-- A block on a slope of 30 degrees: it sticks while friction > tan 30 = 0.577, otherwise it slides.
-- Closed form: x = g (sin a - mu cos a) t^2 / 2.  Gravity is tilted instead of the floor.
local angle, mu = math.rad(30), param("friction", 0.5)
world    { title = "block on a slope", gravity = {9.81 * math.sin(angle), 0, -9.81 * math.cos(angle)}, duration = 2, frame = 1/60 }
material { restitution = 0, friction = mu }

body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
body { name = "block", shape = solid.box {0.4, 0.4, 0.2}, density = 1000, position = {0, 0, 0.1} }
