-- Painleve's rod: pushed along a rough floor at a steep angle, no finite force keeps it from sinking in (friction 2): an impulse
-- without impact does.  With friction 0.5 there is one solution.
-- Closed form: N = m g / (1 + 3 cos a (cos a - mu sin a)); the paradox begins where the denominator is negative.
world    { title = "Painleve's rod", duration = 0.2, frame = 1/200 }
material { restitution = 0, friction = param("friction", 2) }

local cosine, half = 0.6, 0.5
local sine = math.sqrt(1 - cosine * cosine)
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
body { name = "rod", shape = solid.box {2 * half, 0.02, 0.02}, mass = 1, inertia = {1/12, 1/12, 1/12},
       position = {half * cosine, 0, half * sine + 0.01 * cosine}, rotation = {-math.asin(sine), 0, 1, 0}, velocity = {-1, 0, 0} }
