// A shape as flat faces, of which only those that look at the eye are drawn: half the triangles, and no test in the driver.
//
//   planes    nx ny nz d            of each face, n . x = d
//   corners   from .. to            each face has its own, with the normals of the surface there
//   triangles from .. to            numbers of the face's corners
import type { Shape } from "./shapes";

const MERGED_MOST = 4000; // triangles: of more, each is a face of its own

export class PlainModel {
  readonly planes: Float32Array;
  readonly cornerFrom: Int32Array; // face f has cornerFrom[f] .. cornerFrom[f + 1] - 1
  readonly triangleFrom: Int32Array; // in threes
  readonly points: Float32Array;
  readonly normals: Float32Array;
  readonly triangles: Int32Array;
  readonly faces: number;
  readonly radius: number; // around the shape's origin
  readonly ball: boolean;
  readonly open: boolean; // both sides are seen

  constructor(shape: Shape) {
    const at = shape.plain.getAttribute("position").array, normal = shape.plain.getAttribute("normal").array, index = shape.plain.getIndex();
    const faces = faceLists(at, index ? Array.from(index.array) : Array.from({ length: at.length / 3 }, (_, i) => i));
    const points: number[] = [], normals: number[] = [], triangles: number[] = [], cornerFrom = [0], triangleFrom = [0];
    for (const { corners } of faces) {
      const known = new Map<string, number>(), first = points.length / 3;
      for (const c of corners) {
        const key = [at[3 * c], at[3 * c + 1], at[3 * c + 2], normal[3 * c], normal[3 * c + 1], normal[3 * c + 2]].join();
        let own = known.get(key);
        if (own === undefined) {
          known.set(key, (own = points.length / 3 - first));
          for (let i = 0; i < 3; i++) points.push(at[3 * c + i]), normals.push(normal[3 * c + i]);
        }
        triangles.push(own);
      }
      cornerFrom.push(points.length / 3), triangleFrom.push(triangles.length);
    }
    this.planes = Float32Array.from(faces.flatMap((f) => f.plane));
    (this.points = Float32Array.from(points)), (this.normals = Float32Array.from(normals)), (this.triangles = Int32Array.from(triangles));
    (this.cornerFrom = Int32Array.from(cornerFrom)), (this.triangleFrom = Int32Array.from(triangleFrom));
    this.faces = faces.length;
    this.radius = shape.radius;
    this.ball = shape.kind === "sphere";
    this.open = shape.open;
  }
}

interface FaceList {
  plane: number[];
  corners: number[]; // three a triangle
}

// Triangles of one plane are one face; those without an area are none.
function faceLists(at: ArrayLike<number>, index: number[]): FaceList[] {
  const faces: FaceList[] = [], known = new Map<string, FaceList>(), merge = index.length <= 3 * MERGED_MOST;
  for (let t = 0; t + 2 < index.length; t += 3) {
    const [a, b, c] = [3 * index[t], 3 * index[t + 1], 3 * index[t + 2]];
    const ux = at[b] - at[a], uy = at[b + 1] - at[a + 1], uz = at[b + 2] - at[a + 2], vx = at[c] - at[a], vy = at[c + 1] - at[a + 1], vz = at[c + 2] - at[a + 2];
    const n = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx], size = Math.hypot(...n), scale = Math.hypot(ux, uy, uz) * Math.hypot(vx, vy, vz);
    if (!(size > 1e-6 * scale)) continue;
    const plane = n.map((x) => x / size), d = plane[0] * at[a] + plane[1] * at[a + 1] + plane[2] * at[a + 2], unit = Math.sqrt(scale);
    const key = [...plane.map((x) => Math.round(x * 1e4)), Math.round((d / unit) * 1e4)].join();
    let face = merge ? known.get(key) : undefined;
    if (!face) {
      faces.push((face = { plane: [...plane, d], corners: [] }));
      known.set(key, face);
    }
    face.corners.push(index[t], index[t + 1], index[t + 2]);
  }
  return faces;
}
