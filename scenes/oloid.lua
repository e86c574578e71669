-- An oloid wobbles along: its whole surface touches the floor in turn.
-- What to see: the surface is that of two circles at right angles, rounded as a Loop surface rounds its cage.
-- Closed form: none; energy stays while it rolls.
world    { title = "oloid", duration = 5, frame = 1/60 }
material { restitution = 0, friction = 0.8 }
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
body { name = "oloid", shape = surface.loop { "meshes/oloid-cage.obj", scale = 0.05 }, position = {0, 0, 0.06},
       rotation = {0.5, 0, 1, 0}, velocity = {0, 0.2, 0} }
