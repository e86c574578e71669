// The bodies that rest, where the processor draws: finely, with light, shadows and edges, but as one mesh instead of instances, each of
// which it begins anew.  A thousand bodies take it a quarter of a second this way and four seconds the other.
import * as THREE from "three";
import type { Shape } from "./shapes";

const TRIANGLES_MOST = 400000;

// Points of a shape, and where those of a body begin.
interface Part {
  body: number;
  at: ArrayLike<number>;
  normals: ArrayLike<number> | null;
  first: number; // number of its first point
}

// Arrays of all parts in world axes, written anew from the poses.
class Merged {
  readonly geometry = new THREE.BufferGeometry();
  private readonly position: THREE.BufferAttribute;
  private readonly normal: THREE.BufferAttribute;
  private readonly color: THREE.BufferAttribute;

  constructor(private parts: Part[], index: Uint32Array | null) {
    const count = parts.reduce((sum, p) => sum + p.at.length / 3, 0), make = () => new THREE.BufferAttribute(new Float32Array(3 * count), 3).setUsage(THREE.DynamicDrawUsage);
    (this.position = make()), (this.normal = make()), (this.color = make());
    this.geometry.setAttribute("position", this.position);
    if (index) this.geometry.setAttribute("normal", this.normal).setAttribute("color", this.color).setIndex(new THREE.BufferAttribute(index, 1));
  }
  // What is hidden has no size.
  update(poses: Float64Array, colors: Float32Array, hidden: Set<number>) {
    for (const { body, at, normals, first } of this.parts) {
      const keep = hidden.has(body) ? 0 : 1, m = poses.subarray(16 * body, 16 * body + 16);
      place(at, m, keep, 1, this.position.array as Float32Array, 3 * first);
      if (!normals) continue;
      place(normals, m, 1, 0, this.normal.array as Float32Array, 3 * first);
      for (let i = 3 * first, end = i + at.length; i < end; i++) this.color.array[i] = colors[3 * body + ((i - 3 * first) % 3)];
    }
    for (const a of [this.position, this.normal, this.color]) a.needsUpdate = true;
  }
}

// Vectors in shape axes to world axes: turned, times `size`, and moved by `move`.
function place(v: ArrayLike<number>, m: Float64Array, size: number, move: number, out: Float32Array, to: number) {
  for (let i = 0; i < v.length; i += 3, to += 3)
    for (let k = 0; k < 3; k++) out[to + k] = size * (m[k] * v[i] + m[4 + k] * v[i + 1] + m[8 + k] * v[i + 2]) + move * m[12 + k];
}

function merge(groups: { bodies: number[]; geometry: THREE.BufferGeometry }[], faces: boolean): Merged {
  const parts: Part[] = [], index: number[] = [];
  let first = 0;
  for (const { bodies, geometry } of groups) {
    const at = geometry.getAttribute("position").array, normals = faces ? geometry.getAttribute("normal").array : null, own = geometry.getIndex()?.array;
    for (const body of bodies) {
      parts.push({ body, at, normals, first });
      if (faces) for (let i = 0, n = own ? own.length : at.length / 3; i < n; i++) index.push(first + (own ? own[i] : i));
      first += at.length / 3;
    }
  }
  return new Merged(parts, faces ? Uint32Array.from(index) : null);
}

export interface RestMaterials {
  faces: THREE.Material;
  edges: THREE.Material;
  rings: THREE.Material; // of balls
}

export class RestMesh {
  readonly object = new THREE.Group();
  private readonly merged: Merged[] = [];
  private readonly lines: THREE.LineSegments[] = [];

  // Null: too much for one mesh.
  static make(groups: { shape: Shape; bodies: number[] }[], materials: RestMaterials): RestMesh | null {
    const triangles = groups.reduce((sum, { shape, bodies }) => sum + (bodies.length * (shape.faces.getIndex()?.count ?? shape.faces.getAttribute("position").count)) / 3, 0);
    return groups.length && triangles <= TRIANGLES_MOST ? new RestMesh(groups, materials) : null;
  }
  private constructor(groups: { shape: Shape; bodies: number[] }[], materials: RestMaterials) {
    const faces = this.keep(merge(groups.map((g) => ({ bodies: g.bodies, geometry: g.shape.faces })), true));
    const mesh = new THREE.Mesh(faces.geometry, materials.faces);
    mesh.castShadow = mesh.receiveShadow = true;
    this.object.add(mesh);
    const round = (s: Shape) => s.kind === "sphere" || s.kind === "ellipsoid";
    for (const [material, some] of [[materials.edges, groups.filter((g) => g.shape.edges && !round(g.shape))], [materials.rings, groups.filter((g) => g.shape.edges && round(g.shape))]] as const)
      if (some.length) this.lines.push(new THREE.LineSegments(this.keep(merge(some.map((g) => ({ bodies: g.bodies, geometry: g.shape.edges! })), false)).geometry, material));
    this.object.add(...this.lines);
    for (const part of this.object.children) (part.frustumCulled = false), (part.raycast = () => undefined);
  }
  private keep(m: Merged): Merged {
    this.merged.push(m);
    return m;
  }
  setEdges(on: boolean) {
    for (const l of this.lines) l.visible = on;
  }
  update(poses: Float64Array, colors: Float32Array, hidden: Set<number>) {
    for (const m of this.merged) m.update(poses, colors, hidden);
  }
  dispose() {
    for (const m of this.merged) m.geometry.dispose();
  }
}
