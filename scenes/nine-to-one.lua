-- A ball of 9 kg falls on one of 1 kg that lies on the floor (Baraff 1989, figure 12), restitution 0.
-- What to see: both stop at once.  Propagating impacts one by one would take infinitely many rounds: after n of them
-- the heavy ball still has 0.9^n of its speed.
-- Closed form: the impulses are 9 v between the balls and 9 v from the floor.
world    { title = "nine to one", gravity = {0, 0, 0}, duration = 1, frame = 1/50 }
material { restitution = 0, friction = 0 }

body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
body { name = "light", shape = sphere {0.1}, mass = 1, position = {0, 0, 0.1} }
body { name = "heavy", shape = sphere {0.1}, mass = 9, position = {0, 0, 0.8}, velocity = {0, 0, -1} }
