-- A block slides over the edge of a table (Bouma and Vanecek 1992, figure 1; Baraff 1989, figure 9): contact points vanish, and others are made.
-- What to see: it slides evenly until its middle is over the edge; then its rear lifts (the contact of faces becomes one of an edge), it
-- tips, slides off, and comes to lie on the floor.
-- Closed form: without friction it tips at d / v = 0.4 s, d from its middle to the edge; its angular acceleration then grows from
-- zero by 12 g v / (l^2 + h^2) a second, l its length and h its height.
world    { title = "over the edge", duration = 1.5, frame = 1/60 }
material { restitution = 0, friction = 0 }

body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
body { name = "table", shape = solid.box {2, 1, 0.8}, position = {-1, 0, 0.4}, fixed = true, color = {0.6, 0.6, 0.6} }
body { name = "block", shape = solid.box {0.6, 0.3, 0.2}, density = 700, position = {-0.4, 0, 0.9}, velocity = {1, 0, 0}, color = {0.8, 0.5, 0.3} }

camera { position = {1.2, -3, 1.5}, target = {0.2, 0, 0.5} }
