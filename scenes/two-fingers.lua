-- A block slides over two fingers (Bouma and Vanecek 1992, figure 8): when it leaves the first finger the contact at the corner keeps its
-- normal, and the block slides on.
-- What to see: the load goes over from one finger to the other; no jolt where the corner leaves the first; then it tips off the second.
-- Closed form: it slides with the deceleration 0.05 g: the first is left after 0.5 m, at 0.5835 s.  Friction at its lower face moves the load
-- forward by 0.05 h/2, h its height, so that it tips when its middle is that far from the edge of the second: after 0.6925 m, at 0.8843 s.
world    { title = "block over two fingers", duration = 1.5, frame = 1/60 }
material { restitution = 0, friction = 0.05 }

body { name = "finger1", shape = solid.box {0.2, 1, 1}, fixed = true, position = {0, 0, -0.5} }
body { name = "finger2", shape = solid.box {0.2, 1, 1}, fixed = true, position = {0.8, 0, -0.5} }
body { name = "block", shape = solid.box {1.2, 0.4, 0.3}, density = 1000, position = {0.2, 0, 0.15}, velocity = {1, 0, 0} }
