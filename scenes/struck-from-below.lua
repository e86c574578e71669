-- A plank that lies on two supports is struck from below by a ball (Baraff 1989, figure 13) and pushed away from them.
-- What to see: in the impact the supports give nothing, though the plank touches them: only ball and plank exchange an impulse.
-- Closed form: with the ball's speed u at the impact, u^2 = v^2 - 2 g h, the plank leaves with m (1 + e) u / (m + M), the ball
-- goes on with (m - e M) u / (m + M).
world    { title = "struck from below", duration = 1, frame = 1/60 }
material { restitution = 0.5, friction = 0.3 }

local supports = solid.prism { { {-0.5, 0}, {0.5, 0}, {0.5, 0.6}, {0.3, 0.6}, {0.3, 0.1}, {-0.3, 0.1}, {-0.3, 0.6}, {-0.5, 0.6} }, 0.3 }
body { name = "supports", shape = supports, rotation = {math.pi / 2, 1, 0, 0}, fixed = true, color = {0.6, 0.6, 0.6} }
body { name = "plank", shape = solid.box {1, 0.2, 0.05}, mass = 1, position = {0, 0, 0.625}, color = {0.75, 0.55, 0.3} }
body { name = "ball", shape = sphere {0.06}, mass = 1, position = {0, 0, 0.2}, velocity = {0, 0, 4}, color = {0.3, 0.4, 0.8} }

camera { position = {0.8, -2, 1.1}, target = {0, 0, 0.5} }
