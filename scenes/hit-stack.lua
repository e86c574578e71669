-- A stack of bricks is hit by a ball (Baraff 1989, figures of the paper's stacks).
--
-- See: the ball strikes the third brick of five from the side; momentum along x is kept in the impact (the floor is
-- frictionless below the stack), the brick slides out, those above follow and topple.
world    { title = "A stack is hit", duration = 1, frame = 1/60 }
material { restitution = 0.2, friction = 0.25 }

local n = param("bricks", 5)
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
local brick = solid.box {0.4, 0.2, 0.1}
for i = 1, n do
  body { name = "brick" .. i, shape = brick, density = 2000, position = {0, 0, 0.1 * i - 0.05}, color = {0.8, 0.4, 0.3} }
end
body { name = "ball", shape = sphere {0.05}, density = 7800, position = {-0.6, 0.02, 0.26}, velocity = {5, 0, 0} }

camera { position = {0.8, -2, 0.8}, target = {0, 0, 0.25} }
