-- A bowl rocks on a floor without friction (Kry 2000, section 6.2).
-- What to see: its contact wanders over Loop and S-patches; the centre of mass moves only up and down.
-- Closed form: x and y of the centre of mass stay; energy stays.
world    { title = "bowl without friction", duration = 10, frame = 1/60 }
material { restitution = 0, friction = 0 }
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
body { name = "bowl", shape = surface.loop { "meshes/bowl-cage.obj", scale = 0.05 }, position = {0, 0, 0.06},
       rotation = {0.35, 1, 0.6, 0}, spin = {0, 0, 0.3} }
