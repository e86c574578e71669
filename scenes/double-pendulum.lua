-- Two bars on pins, released level: chaotic, but the energy stays.
-- Closed form: kinetic plus potential energy is constant.  With the angles a and b below the level and bars of length l,
-- 8 a'' + 3 cos(a - b) b'' + 3 sin(a - b) b'^2 = 9 g/l cos a,  2 b'' + 3 cos(a - b) a'' - 3 sin(a - b) a'^2 = 3 g/l cos b.
world    { title = "double pendulum", duration = 5, frame = 1/60 }

local bar = solid.box {1, 0.05, 0.05}
body { name = "upper", shape = bar, density = 1000, position = {0.5, 0, 0} }
body { name = "lower", shape = bar, density = 1000, position = {1.5, 0, 0} }
hinge.pin { "upper", nil, at = {0, 0, 0}, axis = {0, 1, 0} }
hinge.pin { "lower", "upper", at = {1, 0, 0}, axis = {0, 1, 0} }
