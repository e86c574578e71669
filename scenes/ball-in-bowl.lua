-- A ball rolls to and fro in a spherical bowl.
-- What to see: no slip, no loss.
-- Closed form: small swings have the period 2 pi sqrt(7 (R - r) / (5 g)); this one, from 1.2 rad, is longer by an
-- elliptic integral.
world    { title = "ball in a bowl", duration = 6, frame = 1/60 }
material { restitution = 0, friction = 5 }
body { name = "bowl", shape = sphere {1, inside = true}, fixed = true }
body { name = "ball", shape = sphere {0.2}, position = {0.8 * math.sin(1.2), 0, -0.8 * math.cos(1.2)} }
