-- The overbalanced stack of bricks (Baraff 1989, figure 1): five bricks, each shifted by 0.6 m, tip over as one.
-- What to see: the heuristic of section 6 fails here; the exact solution lets the upper bricks turn while the lowest stays.
-- Closed form: bricks 2 to n tip when the centre of those above an edge lies beyond it: 0.3 n > 1 for the edge of the lowest, so four tip and three stand.
world    { title = "overbalanced stack", duration = 0.5, frame = 1/60 }
material { restitution = 0, friction = 0.4 }

local n     = param("bricks", 5)
local brick = solid.box {2, 1, 0.5}

body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
for i = 1, n do
  body { name = "brick" .. i, shape = brick, density = 2000, position = {0.6 * (i - 1), 0, 0.5 * i - 0.25} }
end
