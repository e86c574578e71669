-- A lumpy marble rolls about in a bowl (Kry 2000, section 6.3): two smooth surfaces, both made of many patches.
-- What to see: patch-crossed events on both bodies, one contact that lasts.
-- Closed form: none; energy falls only by friction.
world    { title = "marble in a bowl", duration = 2, frame = 1/60 }
material { restitution = 0, friction = { static = 0.4, dynamic = 0.4, rolling = 0, spinning = 0 } }
body { name = "bowl", shape = surface.loop { "meshes/bowl-cage.obj", scale = 0.1 }, fixed = true }
body { name = "marble", shape = surface.loop { "meshes/marble-cage.obj", scale = 0.03 }, position = {0.1, 0, 0.1} }
