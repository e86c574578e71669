-- A heavy top on a ball hinge: precession and nutation with cusps.
-- What to see: it is let go with its spin alone; its axis falls, goes round, rises to where it was, and stops there for an instant.
-- Closed form (Lagrange's top): cos(tilt) goes between u0, that at the start, and the root of b (1 - u^2) = a^2 (u0 - u), with
-- a = I3 W / I1, b = 2 m g l / I1, moments about the tip; energy stays.
world    { title = "spinning top", duration = 3, frame = 1/120 }

local tilt, spin = 0.6, param("spin", 150)
local points = { {0, 0, -0.1} }                              -- a cone on its tip, with a rim; masses as given, whatever the shape
for k = 0, 31 do
  local x, y = 0.05 * math.cos(math.pi * k / 16), 0.05 * math.sin(math.pi * k / 16)
  points[#points + 1], points[#points + 2] = {x, y, -0.01}, {x, y, 0.01}
end
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true, group = "the hinge holds it" }
body { name = "top", shape = solid.hull {points}, group = "the hinge holds it", color = {0.85, 0.45, 0.15},
       mass = 0.5, center = {0, 0, 0}, inertia = {0.0015, 0.0015, 0.0006},
       position = {0.1 * math.sin(tilt), 0, 0.1 * math.cos(tilt)}, rotation = {tilt, 0, 1, 0},
       spin = {spin * math.sin(tilt), 0, spin * math.cos(tilt)} }
hinge.ball { "top", nil, at = {0, 0, 0} }

camera { position = {0.25, -0.45, 0.22}, target = {0, 0, 0.06} }
