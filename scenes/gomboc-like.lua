-- Like a gomboc: wherever it is put down, it comes back to its one stable place.
-- What to see: an egg with its mass low; rolling friction takes the energy of the rocking.  A true gomboc is of one density: the
-- closed form of Varkonyi and Domokos (2006) has its two places only where it is a sphere to 1e-5, where nothing would be seen.
-- Closed form: one stable place and one unstable, no third (counted by test_sim_scenes); at the end the centre of mass
-- lies above the contact.
world    { title = "one stable place", duration = 8, frame = 1/60 }
material { restitution = 0, friction = { static = 0.6, dynamic = 0.6, rolling = 0.0005, spinning = 0.0005 } }
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
body { name = "body", shape = surface.loop { "meshes/egg-cage.obj", scale = 0.05 }, mass = 0.5, center = {0, 0, 0.02},
       inertia = {3e-4, 3e-4, 2e-4}, position = {0, 0, 0.047}, rotation = {math.rad(100), 0.3, 1, 0} }
