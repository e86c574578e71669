-- Rings tumble in a bowl (after Baraff 1989): tori without friction fall on each other.
-- What to see: rings slide through each other's holes and lie down; no two ever overlap (abut certify).
-- Closed form: none; without friction the energy stays between impacts, and falls at each: abut energy.
world    { title = "Tumbling rings", duration = 1.5, frame = 1/60 }
material { restitution = 0.1, friction = 0 }

local n = param("rings", 3)
body { name = "bowl", shape = sphere {1.2, inside = true}, position = {0, 0, 1.2}, fixed = true }
local ring = solid.torus {0.25, 0.07, 16, 8}
for i = 1, n do
  body { name = "ring" .. i, shape = ring, density = 1000, position = {0.1 * i - 0.2, 0.05 * i, 0.6 * i - 0.1},
         rotation = {0.4 * i, 1, 0.4 * i, 0.2}, spin = {1, i, 0}, color = {0.9, 0.3 * i, 0.2} }
end

camera { position = {2.5, -3, 2.5}, target = {0, 0, 0.6} }
