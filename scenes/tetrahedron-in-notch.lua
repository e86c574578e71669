-- A tetrahedron falls into a notch and comes to lie between its two faces (Bouma and Vanecek 1992).
-- What to see: contact regions on both flanks, an area on one and a line on the other, as in figure 5.
-- Closed form: at rest all forces add up to its weight, all moments about its centre to zero, and each is within its friction cone.
world    { title = "tetrahedron in the notch", duration = 2, frame = 1/60 }
material { restitution = 0.2, friction = 0.1 }

local notch = solid.prism { { {-1, 0}, {1, 0}, {1, 1}, {0, 0.3}, {-1, 1} }, 2 }
body { name = "notch", shape = notch, fixed = true, rotation = {math.pi / 2, 1, 0, 0} }
body { name = "tetrahedron", shape = solid.tetrahedron {0.4}, density = 1000, position = {0.1, 0, 1.2}, rotation = {0.3, 1, 2, 3} }

camera { position = {0.35, -1.1, 1.2}, target = {-0.05, 0, 0.5} }
