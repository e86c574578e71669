-- A round arch of voussoirs: stones cut to wedges hold each other by their thrust (Heyman 1966).
-- What to see: nothing moves, for ever; the forces between the stones run round the arch.
-- Closed form: a half-circle arch of ratio thickness/radius above 0.1075 has a line of thrust inside the stones.  Each springer carries
-- half the weight, m g/2 (abut contacts --at 1).
world    { title = "An arch", duration = 1, frame = 1/10 }
material { restitution = 0, friction = 0.8 }

local n = param("stones", 7)                         -- odd: with a keystone
local inner, outer, depth = 1.0, param("outer", 1.4), 0.5

body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
for i = 1, n do
  local a, b = math.pi * (i - 1)/n, math.pi * i/n
  -- outline in x, y counter-clockwise; standing up by a quarter turn about x
  local outline = {{inner * math.cos(a), inner * math.sin(a)}, {outer * math.cos(a), outer * math.sin(a)},
                   {outer * math.cos(b), outer * math.sin(b)}, {inner * math.cos(b), inner * math.sin(b)}}
  body { name = "stone" .. i, shape = solid.prism {outline, depth}, density = 2400, rotation = {math.pi/2, 1, 0, 0},
         color = {0.75, 0.72, 0.65} }
end

camera { position = {1, -5, 1.5}, target = {0, 0, 0.7} }
