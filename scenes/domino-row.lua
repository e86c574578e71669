-- A row of dominoes: the first is pushed over, and a wave runs through the row.
-- What to see: each falls faster than the one before; after eight the wave goes at about sqrt(g h) = 0.7 m/s.
-- Closed form: the first turns about its edge; it falls where w^2 > 2 g (d - h/2) / k^2, d half its diagonal and k^2 = (t^2 + h^2)/3:
-- above 2.7 rad/s.  abut events lists the impacts of each pair: its first time divided into the spacing is the speed of the wave.
world    { title = "A row of dominoes", duration = 1.2, frame = 1/60 }
material { restitution = 0, friction = 0.3 }

local n = param("dominoes", 8)
local thick, wide, high, step = 0.0075, 0.024, 0.048, 0.02

body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
local domino = solid.box {thick, wide, high}
for i = 1, n do
  body { name = "domino" .. i, shape = domino, density = 600, position = {(i - 1) * step, 0, high/2},
         spin = i == 1 and {0, 3, 0} or nil,
         -- it turns about its lower right edge: the centre moves as w x r
         velocity = i == 1 and {3 * high/2, 0, 3 * thick/2} or nil,
         color = {0.9, 0.9 - 0.08 * (i % 8), 0.4} }
end

camera { position = {0.1, -0.35, 0.12}, target = {0.07, 0, 0.02} }
