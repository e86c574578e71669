-- A tower of ten boxes, each twice as heavy as the one below, under the live clock.
-- What to see: it stands, though the top weighs 512 times the bottom; iterative engines let it fall.
-- Closed form: box k stays at height k + 0.5 m; the contact below it carries (2^10 - 2^k) 9.81 N.
world    { title = "doubling tower", mode = "live", duration = 5, frame = 1/60 }
material { restitution = 0, friction = 0.6 }

local box = solid.box { 1, 1, 1 }
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
for k = 0, 9 do
  body { name = "box" .. k, shape = box, mass = 2 ^ k, position = { 0, 0, k + 0.5 } }
end
