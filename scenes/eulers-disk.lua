-- Euler's disk: a coin rolls on its rim, ever flatter and faster.
-- What to see: rolling friction takes its energy; the contact runs round ever faster, 10 times a second at first and 110 times at the end.
-- Closed form: a thin disk whose middle stands still rolls steadily with W^2 sin(a) = 4 g / r at the lean a; as its energy
-- 3/2 m g r sin(a) falls, sqrt(a) falls by 2 k sqrt(g / r) / (3 r) a second, k the rolling coefficient, and it lies flat after 3/2 (r / k) sqrt(r a / g),
-- here 4.5 s.  Without losses (--set rolling=0) the lean stays.
world    { title = "Euler's disk", duration = 4.6, frame = 1/60 }
material { restitution = 0, friction = { static = 0.8, dynamic = 0.8, rolling = param("rolling", 0.0005), spinning = 0 } }
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
local r, d, lean, g = 0.04, 0.002, math.rad(20), 9.81        -- half as thick: d
local c, s = math.cos(lean), math.sin(lean)
-- Steady rolling with the spin w about its own axis: its middle runs round in a circle, W A - w B = C / W (moments about the contact).
-- Rolling friction also changes w; with this one it dies out together with the lean.  Without it the rim would slip in the end.
local w = 3.54
local A = (3 * r * r + 4 * d * d) / 12 * s * c + (r * s + d * c) * s * d
local B = r * r / 2 * s + (r * s + d * c) * r
local C = g * (r * c - d * s)
local W = (w * B + math.sqrt(w * w * B * B + 4 * A * C)) / (2 * A)
body { name = "disk", shape = cylinder { radius = r, height = 2 * d }, density = 8000, color = {0.75, 0.75, 0.8},
       position = {0, 0, r * s + d * c}, rotation = {lean, 0, 1, 0},
       velocity = {0, W * s * d - w * r, 0}, spin = {w * s - W * s * c, 0, w * c + W * s * s} }
