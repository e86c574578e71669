// From the numbers of frames to matrices: shape axes to world.
import type { Head, Numbers } from "./data";

// Writes 16 numbers a body, as in Matrix4, for a frame; with a second one, for a time in between (`part` of the way).  Nothing is
// allocated: this runs for each body at each picture.
export function writePoses(poses: Float64Array, head: Head, a: Numbers, b: Numbers | null, part: number) {
  const n = head.numbers, between = b !== null && part > 0;
  for (let i = 0; i < head.bodies.length; i++) {
    const k = i * n, c = head.bodies[i].center;
    let x = a[k], y = a[k + 1], z = a[k + 2], qw = a[k + 3], qx = a[k + 4], qy = a[k + 5], qz = a[k + 6];
    if (between) {
      x += part * (b[k] - x), y += part * (b[k + 1] - y), z += part * (b[k + 2] - z);
      const dot = qw * b[k + 3] + qx * b[k + 4] + qy * b[k + 5] + qz * b[k + 6], angle = Math.acos(Math.min(1, Math.abs(dot)));
      const sine = Math.sin(angle), near = sine < 1e-6; // shorter way round; straight where both are the same
      const u = near ? 1 - part : Math.sin((1 - part) * angle) / sine, v = (near ? part : Math.sin(part * angle) / sine) * (dot < 0 ? -1 : 1);
      qw = u * qw + v * b[k + 3], qx = u * qx + v * b[k + 4], qy = u * qy + v * b[k + 5], qz = u * qz + v * b[k + 6];
    }
    const xx = 1 - 2 * (qy * qy + qz * qz), xy = 2 * (qx * qy - qw * qz), xz = 2 * (qx * qz + qw * qy);
    const yx = 2 * (qx * qy + qw * qz), yy = 1 - 2 * (qx * qx + qz * qz), yz = 2 * (qy * qz - qw * qx);
    const zx = 2 * (qx * qz - qw * qy), zy = 2 * (qy * qz + qw * qx), zz = 1 - 2 * (qx * qx + qy * qy);
    const at = 16 * i;
    poses[at] = xx, poses[at + 1] = yx, poses[at + 2] = zx, poses[at + 4] = xy, poses[at + 5] = yy, poses[at + 6] = zy;
    poses[at + 8] = xz, poses[at + 9] = yz, poses[at + 10] = zz, poses[at + 15] = 1;
    poses[at + 12] = x - (xx * c[0] + xy * c[1] + xz * c[2]);
    poses[at + 13] = y - (yx * c[0] + yy * c[1] + yz * c[2]);
    poses[at + 14] = z - (zx * c[0] + zy * c[1] + zz * c[2]);
  }
}
