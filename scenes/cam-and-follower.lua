-- A cam and its follower: an eccentric smooth cam turns, a flat follower rests on it and slides up and down.
-- What to see: one contact of a smooth surface with a face, which lasts.
-- Closed form: the follower's height is r + e sin(W t) above the shaft.
world    { title = "cam and follower", duration = 4, frame = 1/60 }
material { restitution = 0, friction = 0 }
local r, e, W = 0.1, 0.03, param("speed", 4)
body { name = "cam", shape = sphere {r}, kinematic = true,
       motion = function(t) return {e * math.cos(W * t), 0, e * math.sin(W * t)}, {1, 0, 0, 0} end }
body { name = "follower", shape = solid.box {0.3, 0.3, 0.05}, position = {0, 0, r + 0.025 + e * 0},
       velocity = {0, 0, e * W} }
hinge.slider { "follower", nil, at = {0, 0, 0.2}, axis = {0, 0, 1} }
