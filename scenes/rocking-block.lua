-- A rocking block (Housner 1963): a slender block leans over one edge, falls back, and rocks from edge to edge.
-- What to see: the half periods get shorter, and the block comes to rest.  abut events shows the impacts.
-- Closed form: each time it lands, the angular momentum about the new edge is kept, so its speed falls by
-- w+/w- = 1 - (3/2) sin(a)^2, a = atan(width/height), here 1 - 1.5/26 = 0.94231, and its energy by the square, 0.88795: exact with
-- friction that does not slip and no bounce.
world    { title = "A rocking block", duration = 4, frame = 1/60 }
material { restitution = 0, friction = 2 }

local width, height = 0.2, 1.0
local lean = param("lean", 0.08)                     -- radians; it falls over beyond atan(width/height) = 0.197

body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
-- leaning over its right lower edge, which stays at x = width/2
local c, s = math.cos(lean), math.sin(lean)
body { name = "block", shape = solid.box {width, 0.4, height}, density = 500, rotation = {lean, 0, 1, 0},
       position = {width/2 - width/2 * c + height/2 * s, 0, width/2 * s + height/2 * c} }

camera { position = {1.5, -4, 1.2}, target = {0, 0, 0.5} }
