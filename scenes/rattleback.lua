-- Kry's rattleback (thesis, appendix B), spin start: spun the wrong way, it begins to rattle, stops, and turns back.
-- What to see: one smooth Bezier patch rolls on the floor without facets; the energy stays to 1e-9 for a minute.
-- Closed form: none; the spin first passes zero at 25.476 s, by two independent formulations.
world    { title = "rattleback", duration = 28.5, frame = 1/60 }
material { restitution = 0, friction = 0.3 }

body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
local net = {}
for j = 0, 3 do
  for i = 0, 3 do
    local edge = ((i == 0 or i == 3) and 1 or 0) + ((j == 0 or j == 3) and 1 or 0)
    net[#net + 1] = {i - 1.5, j - 1.5, -edge}
  end
end
local shape = surface.bezier { control = net, scale = {0.6, 0.2, 0.2}, rotate = {-0.174, {0, 0, 1}} }
body { name = "rattleback", shape = shape, mass = 5, inertia = {1, 10, 10}, center = {0, 0, -0.2},
       position = {0.09338146914208569, -0.03979066253860711, -0.09646556067117629},
       quaternion = {0.04814530194483465, 0.9949164545954313, -0.0859442055877182, 0.02090147845952047},
       velocity = {0.019911896907329623, 0.086718503095558, 0}, spin = {0, 0, 1} }
