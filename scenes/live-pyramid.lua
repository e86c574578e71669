-- 210 boxes in a pyramid of base 20, dropped from a pitch of 1.05 m: the live clock's stacking test.
-- What to see: the layers land one after the other and stay; nothing creeps.
-- Closed form: at rest the centre of layer k (from 0) is k + 0.5 m high; measured after ten seconds: the top 1.5 mm lower, 19 mm aside (it was dropped).
world    { title = "pyramid", mode = "live", duration = 10, frame = 1/60 }
material { restitution = 0, friction = 0.6 }

local box, base = solid.box { 1, 1, 1 }, 20
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
for row = 0, base - 1 do
  for k = 0, base - row - 1 do
    body { name = ("box%d.%d"):format(row, k), shape = box,
           position = { (k - (base - row - 1) / 2) * 1.05, 0, 0.5 + 1.05 * row } }
  end
end
