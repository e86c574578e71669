-- A row of dominoes; the first is pushed over and topples the rest.
-- What to see: each impact passes the motion on; the wave runs at a steady speed after a few stones.
world    { title = "dominoes", duration = 2, frame = 1/60 }
material { restitution = 0, friction = 0.3 }

local n = param("stones", 10)
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
for i = 1, n do
  body { name = "stone" .. i, shape = solid.box {0.02, 0.15, 0.3}, density = 1000, position = {0.12 * (i - 1), 0, 0.15},
         spin = {0, i == 1 and 1.2 or 0, 0}, velocity = {i == 1 and 0.18 or 0, 0, 0} }
end
