-- A block slides along the floor against a low ridge, trips, and falls over it (Bouma and Vanecek 1992, figure 4): a contact that lasts and one that
-- collides border on each other.
-- What to see: at the impact the floor holds the front edge up while the ridge stops the front face; the block turns about the ridge.
-- Closed form: both impulses act on lines through the top of the ridge at the front face, so the angular momentum about it stays:
-- w = v (h/2 - s) / ((l^2 + h^2)/12 + l^2/4 + (h/2 - s)^2) with length l, height h, ridge s: 4.08 rad/s for 2 m/s.
world    { title = "tripping block", duration = 1, frame = 1/60 }
material { restitution = 0, friction = 0 }

local ground = solid.prism { { {-2, -0.2}, {2, -0.2}, {2, 0}, {0.1, 0}, {0.1, 0.05}, {0, 0.05}, {0, 0}, {-2, 0} }, 1.5 }
body { name = "ground", shape = ground, rotation = {math.pi / 2, 1, 0, 0}, fixed = true, color = {0.6, 0.6, 0.6} }
body { name = "block", shape = solid.box {0.3, 0.3, 0.6}, density = 700, position = {-0.75, 0, 0.3}, velocity = {2, 0, 0}, color = {0.8, 0.5, 0.3} }

camera { position = {1, -3.2, 1.3}, target = {0, 0, 0.3} }
