body { name = "a", shape = sphere {0.1}, position = {0, 0, 1}, velocity = {0, 0, 0.005} }
body { name = "b", shape = solid.box {1, 1, 1}, fixed = true }
watch { name = "apex", "a", direction = "falling", value = function(t, a) return a.velocity[3] end }
watch { bodies = {"a", "b"}, value = function(t, a, b) return a.position[3] - b.center[3] - 1 + t * a.spin[1] end }
on("user", function(e) print(e.name, e.time, e.point[3]) end)
