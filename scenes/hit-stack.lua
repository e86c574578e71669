-- A stack of bricks is hit by a ball (Baraff 1989: stacks that are hit).
-- What to see: the ball strikes the top brick of three, which slides off and falls; the others hardly move.
-- Closed form: what the ball loses of its momentum along x the top brick gets, up to what friction gives to the brick below: with the
-- friction 0.25 at most 0.25 times the impulse that presses them together.
world    { title = "A stack is hit", duration = 0.5, frame = 1/60 }
material { restitution = 0.2, friction = 0.25 }

local n = param("bricks", 3)
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
local brick = solid.box {0.4, 0.2, 0.1}
for i = 1, n do
  body { name = "brick" .. i, shape = brick, density = 2000, position = {0, 0, 0.1 * i - 0.05}, color = {0.8, 0.4, 0.3} }
end
body { name = "ball", shape = sphere {0.05}, density = 7800, position = {-0.6, 0.02, 0.1 * n - 0.04}, velocity = {5, 0, 0} }

camera { position = {0.8, -2, 0.8}, target = {0, 0, 0.25} }
