-- The demo: a block tumbles onto a rough floor, a ball bounces to rest, and another slides until it rolls.
-- What to see: the instants of the impacts, the end of slip (`stick`), and a run that audits itself.
-- Closed form: the second ball stops slipping at 2 v / (7 mu g) and then rolls with 5/7 of its speed.
world    { title = "demo", duration = 2, frame = 1/60 }
material { restitution = 0.3, friction = 0.3 }

body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
body { name = "block", shape = solid.box {0.4, 0.3, 0.2}, density = 1000, position = {0, 0, 0.8}, rotation = {0.5, 1, 2, 0},
       spin = {2, 0, 1} }
body { name = "bouncing", shape = sphere {0.1}, density = 1000, position = {0, 1, 1.1} }
body { name = "sliding", shape = sphere {0.1}, density = 1000, position = {-1, -1, 0.1}, velocity = {param("speed", 2), 0, 0} }
