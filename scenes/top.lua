-- A heavy top on a ball hinge: precession and nutation with cusps.
-- Closed form: nutation between two tilts by elliptic integrals (Lagrange's top).
world    { title = "spinning top", duration = 3, frame = 1/120 }

local tilt, spin = 0.6, param("spin", 150)
body { name = "top", shape = solid.cylinder {0.05, 0.02, 32}, mass = 0.5, inertia = {0.0015, 0.0015, 0.0006},
       position = {-0.1 * math.sin(tilt) * -1, 0, 0.1 * math.cos(tilt)}, rotation = {tilt, 0, 1, 0},
       spin = {spin * math.sin(tilt), 0, spin * math.cos(tilt)} }
hinge.ball { "top", nil, at = {0, 0, 0} }
