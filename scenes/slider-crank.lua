-- A slider-crank: a motor turns the crank, the piston goes to and fro.
-- Closed form: x = r cos(w t) + sqrt(l^2 - r^2 sin(w t)^2).
world    { title = "slider-crank", duration = 3, frame = 1/60 }

local r, l = 0.3, 1
body { name = "crank", shape = solid.box {r, 0.05, 0.05}, position = {r / 2, 0, 0}, group = 1 }
body { name = "rod", shape = solid.box {l, 0.04, 0.04}, position = {r + l / 2, 0, 0}, group = 1 }
body { name = "piston", shape = solid.box {0.2, 0.2, 0.2}, position = {r + l, 0, 0}, group = 1 }
hinge.pin { "crank", nil, at = {0, 0, 0}, axis = {0, 1, 0}, motor = { speed = param("speed", 6) } }
hinge.pin { "rod", "crank", at = {r, 0, 0}, axis = {0, 1, 0} }
hinge.pin { "piston", "rod", at = {r + l, 0, 0}, axis = {0, 1, 0} }
hinge.slider { "piston", nil, at = {r + l, 0, 0}, axis = {1, 0, 0} }
