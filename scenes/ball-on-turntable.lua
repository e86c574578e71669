-- A ball rolls on a turntable: it runs in a circle, at 2/7 of the table's rate, that does not follow the table.
-- What to see: the circle closes after 7/2 turns of the table.
-- Closed form: W_circle = 2/7 W; the circle's middle stays.
world    { title = "ball on a turntable", duration = 7.5, frame = 1/60 }
material { restitution = 0, friction = 5 }
local W, r = 3, 0.05
body { name = "table", shape = solid.box {2, 2, 0.1}, kinematic = true, position = {0, 0, -0.05}, spin = {0, 0, W} }
-- no slip at the start: the ball's lowest point moves with the table, at (0, 0.3 W, 0)
body { name = "ball", shape = sphere {r}, position = {0.3, 0, r}, velocity = {0.1, 0.2, 0},
       spin = {(0.3 * W - 0.2) / r, 0.1 / r, 0} }
