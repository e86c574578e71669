-- Euler's disk: a coin rolls on its rim, ever flatter and faster.
-- What to see: spinning friction takes its energy; the point of contact runs round ever faster.
-- Closed form: without friction losses, steady rolling about its own middle has W^2 sin(a) = 4 g / r at the lean a.
world    { title = "Euler's disk", duration = 3, frame = 1/60 }
material { restitution = 0, friction = { static = 0.6, dynamic = 0.6, rolling = 0, spinning = 0 } }
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
local r, h, lean, g = 0.04, 0.006, math.rad(40), 9.81
local W = math.sqrt(4 * g / (r * math.sin(lean)))
-- the middle of the coin stands still; its spin lies along the line from the middle to the contact
local c, s = math.cos(lean), math.sin(lean)
body { name = "disk", shape = cylinder { radius = r, height = h }, density = 8000,
       position = {0, 0, r * s + h / 2 * c}, rotation = {lean, 0, 1, 0},
       spin = {-W * s * c, 0, W * (1 - c * c)} }
