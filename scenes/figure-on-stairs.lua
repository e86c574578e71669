-- A linked figure falls down stairs (after Baraff 1989): trunk, head, arms and legs on ball hinges.
-- What to see: limbs hit the steps one after the other.
-- Closed form: none; hinges hold to rounding (the audit's constraint error), and the energy only falls.
world    { title = "A figure falls down stairs", duration = 1, frame = 1/60 }
material { restitution = 0.1, friction = param("friction", 0) }

for i = 1, 4 do
  body { name = "step" .. i, shape = solid.box {0.6, 2, 0.3 * (5 - i)}, position = {0.6 * (i - 1), 0, 0.15 * (5 - i)},
         fixed = true, color = {0.6, 0.6, 0.6} }
end
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }

local x, z = -0.05, 2.1
local skin = {0.9, 0.7, 0.5}
local trunk = body { name = "trunk", shape = solid.box {0.16, 0.3, 0.5}, position = {x, 0, z}, velocity = {1.2, 0, 0},
                     spin = {0, 1, 0}, group = "figure", color = {0.3, 0.4, 0.8} }
local function limb(name, shape, at, joint)
  -- the whole figure turns about the trunk's centre: v + w x r
  local b = body { name = name, shape = shape, position = {x + at[1], at[2], z + at[3]},
                   velocity = {1.2 + at[3], 0, -at[1]}, spin = {0, 1, 0}, group = "figure", color = skin }
  hinge.ball {b, trunk, at = {x + joint[1], joint[2], z + joint[3]}}
end
limb("head", sphere {0.12}, {0, 0, 0.4}, {0, 0, 0.27})
for side = -1, 1, 2 do
  local y = 0.22 * side
  limb("arm" .. side, capsule {0.05, 0.4}, {0, y, 0}, {0, y, 0.22})
  limb("leg" .. side, capsule {0.07, 0.5}, {0, 0.09 * side, -0.55}, {0, 0.09 * side, -0.27})
end

camera { position = {3, -4, 2.5}, target = {1, 0, 0.8} }
