-- nothing ever touches anything: there are no contacts, no lists of them, no batches
world { mode = "live", duration = 0.1 }
body { name = "ball", shape = sphere{0.5}, mass = 1 }
