-- A block slides over two fingers (Bouma and Vanecek 1992, figure 8): when it leaves the first finger the contact at the corner keeps its
-- normal, and the block slides on.
world    { title = "block over two fingers", duration = 1.5, frame = 1/60 }
material { restitution = 0, friction = 0.05 }

body { name = "finger1", shape = solid.box {0.2, 1, 1}, fixed = true, position = {0, 0, -0.5} }
body { name = "finger2", shape = solid.box {0.2, 1, 1}, fixed = true, position = {0.8, 0, -0.5} }
body { name = "block", shape = solid.box {1.2, 0.4, 0.3}, density = 1000, position = {0.2, 0, 0.15}, velocity = {1, 0, 0} }
