-- A house of cards: two cards lean against each other, a third lies on top.
-- What to see: it stands where friction suffices.  Below that (--set friction=0.1) its feet slide and the house falls.
-- Closed form: a card at the angle f to the vertical, pushed at its top, needs the friction tan(f)/2 at the floor without load,
-- tan(f) (1 + 2 p)/(2 (1 + p)) with the load p (in weights of a card, half of the top card on each): 0.179 here.
world    { title = "A house of cards", duration = 0.5, frame = 1/50 }
local mu = param("friction", 0.5)
material { restitution = 0, friction = mu }

local long, wide, thick, lean = 0.09, 0.06, 0.001, param("degrees", 15) * math.pi/180
local card = solid.box {thick, wide, long}
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
-- tops meet above the middle: the upper inner edges touch at x = 0
local s, c = math.sin(lean), math.cos(lean)
local x, z = -(long/2 * s + thick/2 * c), long/2 * c + thick/2 * s
body { name = "left", shape = card, density = 900, position = {x, 0, z}, rotation = {lean, 0, 1, 0} }
body { name = "right", shape = card, density = 900, position = {-x, 0, z}, rotation = {-lean, 0, 1, 0} }
if param("roof", 1) == 1 then
  -- lies on the upper outer edges of both
  body { name = "roof", shape = solid.box {long, wide, thick}, density = 900,
         position = {0, 0, long * c + thick * s + thick/2} }
end

camera { position = {0.1, -0.3, 0.1}, target = {0, 0, 0.04} }
