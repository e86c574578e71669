-- Kry's rattleback, spin start, with rolling and spinning friction: it reverses once, and has no energy left to reverse again.
-- What to see: section 6.4 of the thesis, with its coefficients; with --set rolling=0 --set spinning=0 it reverses again after 70 s.
-- Closed form: the dissipated energy is what kinetic and potential energy lose; once it has ceased to rock, spinning friction
-- alone slows it down: w' = spinning m g / I = 4.9e-4 rad/s^2.
world    { title = "rattleback with rolling friction", duration = 90, frame = 1/30 }
material { restitution = 0,
           friction = { static = 0.3, dynamic = 0.3, rolling = param("rolling", 0.003), spinning = param("spinning", 0.0001) } }
local net = {}
for j = 0, 3 do
  for i = 0, 3 do
    local edge = ((i == 0 or i == 3) and 1 or 0) + ((j == 0 or j == 3) and 1 or 0)
    net[#net + 1] = {i - 1.5, j - 1.5, -edge}
  end
end
local shape = surface.bezier { control = net, scale = {0.6, 0.2, 0.2}, rotate = {-0.174, {0, 0, 1}} }
local plane = {}
for j = 0, 3 do
  for i = 0, 3 do plane[#plane + 1] = {i - 1.5, j - 1.5, 0} end
end
body { name = "floor", shape = surface.bezier { control = plane }, fixed = true }
body { name = "rattleback", shape = shape, mass = 5, inertia = {1, 10, 10}, center = {0, 0, -0.2} }
-- farther from the middle than in the thesis: rolling friction takes a part of the rocking that is larger where it is small
contact { a = "rattleback", b = "floor", coordinates = {0.35, 0.35, 0.5, 0.5, 0}, rates = {0, 0, 0, 0, -1} }
