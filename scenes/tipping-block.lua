-- A tall block on a slope of 30 degrees with friction 0.8 tips over its lower edge: width / height < tan 30.
-- Closed form: angular acceleration at the start = m g (h sin a - w cos a) / (2 I_edge).
local angle = math.rad(30)
world    { title = "tipping block", gravity = {9.81 * math.sin(angle), 0, -9.81 * math.cos(angle)}, duration = 1.5, frame = 1/60 }
material { restitution = 0, friction = 0.8 }

body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
body { name = "block", shape = solid.box {0.2, 0.4, 1}, density = 1000, position = {0, 0, 0.5} }
