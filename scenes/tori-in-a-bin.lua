-- 64 tori of 800 triangles fall in a bin: solids with a hole each, as they are, no convex decomposition.
-- What to see: rings come to rest on, in and through each other's holes' rims; none passes through another, none sinks in.
-- Closed form: none; at rest no centre is lower than half the thickness of a ring, 0.2 m.
world    { title = "64 tori", mode = "live", duration = 10, frame = 1/30 }
material { restitution = 0, friction = 0.6 }

local half = 2.2
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
for i, n in ipairs { {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0} } do
  body { name = "wall" .. i, shape = halfspace { normal = n, offset = -half }, fixed = true }
end
local ring = solid.torus { major = 0.5, minor = 0.2, n = 20, m = 20 }
for i = 0, 63 do
  local inside, layer, angle = i % 4, i // 4, 0.4 * (i % 7) / 2
  body { name = "ring" .. i, shape = ring,
         position = {inside % 2 * 1.8 - 0.9 + 0.03 * (layer % 3), inside // 2 * 1.8 - 0.9, 1 + 1.5 * layer},
         quaternion = {math.cos(angle), math.sin(angle) * (i % 2), math.sin(angle) * (1 - i % 2), 0} }
end
