-- Kry's rattleback (thesis, appendix B), tap start: let go with one end up, it rocks, and the rocking turns it.
-- What to see: two Bezier patches placed by contact coordinates; the contact stays in contact coordinates for the run.
-- Closed form: none; energy stays to 1e-9.
world    { title = "rattleback, tapped", duration = 20, frame = 1/60 }
material { restitution = 0, friction = 0.3 }
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
contact { a = "rattleback", b = "floor", coordinates = {0.15, 0.5, 0.5, 0.5, 0} }
