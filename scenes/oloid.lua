-- An oloid wobbles along: its whole surface touches the floor in turn.
-- What to see: the hull of two circles of radius r at right angles, each through the other's middle, as a Loop surface, rounded at the
-- rims and a little convex between them.  It meanders along a straight line, with all its generators (from one circle to the
-- other, sqrt(3) r long) on the floor one after the other.
-- Closed form (Dirnboeck and Stachel 1997): it is developable, so where it neither slips nor spins about the vertical it unrolls, and each
-- time all of it was on the floor it has moved on by 4.837 r; this one, which bulges by r/50, 1.2 % farther.  Energy stays.
world    { title = "oloid", duration = 3, frame = 1/60 }
-- a contact along a line of the length l does not spin against the torque friction * weight * l / 4 = 0.017 * weight
material { restitution = 0, friction = { static = 0.8, dynamic = 0.8, rolling = 0, spinning = 0.017 } }
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
local r, w = 0.05, param("spin", 7)
local h = 0.7125 * r                                         -- turning about the generator that lies on the floor
body { name = "oloid", shape = surface.loop { "meshes/oloid-cage.obj", scale = r }, position = {0, 0, h}, color = {0.9, 0.65, 0.2},
       rotation = {3 * math.pi / 4, 0, 1, 0}, spin = {w * math.sqrt(2 / 3), w * math.sqrt(1 / 3), 0},
       velocity = {w * h * math.sqrt(1 / 3), -w * h * math.sqrt(2 / 3), 0} }
camera { position = {0.2, -0.6, 0.28}, target = {0.31, -0.08, 0.01} }
