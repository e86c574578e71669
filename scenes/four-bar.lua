-- A four-bar linkage that a motor turns: three moving bars on four pins.
-- Closed form: the crank stands at 3 t, the end of the coupler where two circles meet; pins do not drift.
world    { title = "four-bar linkage", duration = 4, frame = 1/60 }

-- crank 0.3 m from the origin, coupler 1 m, rocker 0.8 m to the ground at {1, 0, 0}
local a, b, c = {0, 0, 0}, {0.3, 0, 0}, nil
local L2, L3, d = 1.0, 0.8, 1.0
local dx = d - 0.3
local x = 0.3 + (dx * dx + L2 * L2 - L3 * L3) / (2 * dx)
local z = math.sqrt(L2 * L2 - (x - 0.3) ^ 2)
c = {x, 0, z}
local function bar(name, p, q)
  local dxx, dzz = q[1] - p[1], q[3] - p[3]
  local length = math.sqrt(dxx * dxx + dzz * dzz)
  body { name = name, shape = solid.box {length, 0.04, 0.04}, density = 2000, group = "links",
         position = {(p[1] + q[1]) / 2, 0, (p[3] + q[3]) / 2}, rotation = {-math.atan(dzz, dxx), 0, 1, 0} }
end
bar("crank", a, b)
bar("coupler", b, c)
bar("rocker", c, {d, 0, 0})
hinge.pin { "crank", nil, at = a, axis = {0, 1, 0}, motor = { speed = param("speed", 3) } }
hinge.pin { "coupler", "crank", at = b, axis = {0, 1, 0} }
hinge.pin { "rocker", "coupler", at = c, axis = {0, 1, 0} }
hinge.pin { "rocker", nil, at = {d, 0, 0}, axis = {0, 1, 0} }
