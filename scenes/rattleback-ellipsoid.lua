-- The ellipsoidal rattleback of Kane and Levinson (1982), spun the wrong way: the spin reverses.
-- What to see: half axes 20, 3, 2 cm; principal axes of inertia a little off the axes of the ellipsoid.
-- Closed form: none; energy stays, because it never slips.
world    { title = "rattleback of Kane and Levinson", duration = 5, frame = 1/60 }
material { restitution = 0, friction = 5 }
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
body { name = "top", shape = ellipsoid {0.2, 0.03, 0.02}, mass = 1, center = {0, 0, 0.01},
       inertia = {2e-4, 16e-4, 17e-4, -0.2e-4, 0, 0},
       position = {0.017211655022156575, 0.0002160163925715, 0.0200761919313992},
       quaternion = {-0.004363267749186968, 0.9999809615320856, -1.903846791435563e-05, 0.004363267749186968},
       velocity = {-0.0019559443652495075, 0.08692769957252448, 0.000741536623672442},
       spin = {-0.04363267749186967, -0.04363101609320879, 4.999619237890977} }
