-- A wing nut in orbit: spinning about its middle axis, it turns over again and again (Dzhanibekov, Poinsot).
-- Closed form: energy and angular momentum are constant; the flips come at the period of a Jacobi elliptic function.
world    { title = "Dzhanibekov", gravity = {0, 0, 0}, duration = 60, frame = 1/60 }

body { name = "nut", shape = solid.box {0.3, 0.1, 0.02}, mass = 1, inertia = {1, 2, 3}, spin = {0.01, 3, 0.02} }
