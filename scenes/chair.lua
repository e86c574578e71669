-- A chair drops on one leg, rocks, and comes to stand on four (after Baraff 1989).
-- What to see: one non-convex solid, with seat, back and four legs.  It lands on a foot, and in the end stands on all four.
-- Closed form: the forces of abut contacts --at 2 add up to m g; what each foot carries is not unique (least norm is shown).
world    { title = "A chair", duration = 2, frame = 1/60 }
material { restitution = 0, friction = param("friction", 0.4) }

body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
body { name = "chair", shape = solid.mesh { file = "meshes/chair.obj" }, density = 600, position = {0, 0, 0.06},
       rotation = {0.1, 0.5, 1, 0}, color = {0.6, 0.4, 0.2} }

camera { position = {1.5, -2, 1.2}, target = {0, 0, 0.4} }
