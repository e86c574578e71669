-- A ladder slides down a wall (frictionless), and leaves it.
-- What to see: the ladder leans at 60 degrees to the floor and starts to slide; it leaves the wall before it lies (abut events:
-- contact-lost), and slides on along the floor.
-- Closed form: while it touches both, its angle f to the floor obeys  f'^2 = 3 g (sin f0 - sin f)/l;  it leaves the wall when the push of
-- the wall has fallen to zero, at sin f = (2/3) sin f0, t = integral of df / sqrt(3 g (sin f0 - sin f)/l), and then keeps the speed of
-- its centre, sqrt(g l (sin f0)^3)/3.
world    { title = "A ladder slides down a wall", duration = 2, frame = 1/100 }
material { restitution = 0, friction = 0 }

local length, angle = param("length", 4), param("degrees", 60) * math.pi/180

body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
body { name = "wall", shape = halfspace { normal = {1, 0, 0}, offset = 0 }, fixed = true }
-- a thin capsule: its ends touch wall and floor
local r = 0.01
body { name = "ladder", shape = capsule {r, length - 2*r}, mass = 10, inertia = {10 * length^2/12, 10 * length^2/12, 0.01},
       rotation = {angle - math.pi/2, 0, 1, 0},
       position = {r + (length/2 - r) * math.cos(angle), 0, r + (length/2 - r) * math.sin(angle)} }

camera { position = {3, -9, 2}, target = {1.5, 0, 1.5} }
