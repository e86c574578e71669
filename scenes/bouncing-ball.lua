-- A ball dropped from 1 m with restitution 0.5 comes to rest after infinitely many impacts in finite time.
-- Closed form: impacts at t1 (1 + 2 (e + e^2 + ...)), t1 = sqrt(2 h / g); rest at t1 (1 + e) / (1 - e) = 1.3546 s.
world    { title = "bouncing ball", duration = 2, frame = 1/60 }
material { restitution = param("restitution", 0.5), friction = 0 }

body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
body { name = "ball", shape = sphere {0.1}, density = 1000, position = {0, 0, 1.1} }
