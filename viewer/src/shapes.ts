// Geometries of the head as three.js has them: faces to shade, edges to draw.
import * as THREE from "three";
import type { Geometry, Head } from "./data";

export interface Shape {
  kind: string;
  faces: THREE.BufferGeometry;
  plain: THREE.BufferGeometry; // the same with fewer triangles, for what moves where drawing is slow
  edges: THREE.BufferGeometry | null; // of a solid
  patches: THREE.BufferGeometry | null; // borders of the patches of a smooth surface
  inside: boolean; // seen from within
  open: boolean; // may have no inside: both sides are seen
  plane: { normal: THREE.Vector3; offset: number } | null; // a half-space has no size of its own
  radius: number;
}

function lines(points: Float32Array, edges: Uint32Array): THREE.BufferGeometry {
  const geometry = new THREE.BufferGeometry();
  const corners = new Float32Array(edges.length * 3);
  edges.forEach((p, i) => corners.set(points.subarray(3 * p, 3 * p + 3), 3 * i));
  geometry.setAttribute("position", new THREE.BufferAttribute(corners, 3));
  return geometry;
}

function circle(radius: number, z: number, out: number[], n = 64) {
  for (let i = 0; i < n; i++)
    for (const k of [i, i + 1]) {
      const a = (2 * Math.PI * k) / n;
      out.push(radius * Math.cos(a), radius * Math.sin(a), z);
    }
}

function fromArrays(g: Geometry, bytes: ArrayBuffer): Shape {
  const points = new Float32Array(bytes, g.points![0], 3 * g.points![1]);
  const triangles = new Uint32Array(bytes, g.triangles![0], 3 * g.triangles![1]);
  const edges = g.edges && g.edges[1] ? new Uint32Array(bytes, g.edges[0], 2 * g.edges[1]) : null;
  let faces = new THREE.BufferGeometry();
  faces.setAttribute("position", new THREE.BufferAttribute(points, 3));
  faces.setIndex(new THREE.BufferAttribute(triangles, 1));
  const smooth = g.normals && g.normals[1] > 0;
  if (smooth) faces.setAttribute("normal", new THREE.BufferAttribute(new Float32Array(bytes, g.normals![0], 3 * g.normals![1]), 3));
  else {
    faces = faces.toNonIndexed();
    faces.computeVertexNormals();
  }
  faces.computeBoundingSphere();
  const outline = edges && lines(points, edges);
  return {
    kind: g.kind, faces, plain: faces, edges: smooth ? null : outline, patches: smooth ? outline : null, inside: false, open: g.kind === "surface", plane: null,
    radius: faces.boundingSphere!.radius + faces.boundingSphere!.center.length(),
  };
}

// Round shapes have fewer sides where there are many of them: thousands of balls of 48 sides would be millions of triangles.
function sidesFor(count: number): number {
  return count > 400 ? 24 : count > 100 ? 32 : 48;
}

function roundFaces(g: Geometry, sides: number): THREE.BufferGeometry {
  const [radius, length, a, b, c] = g.size, rings = Math.max(4, Math.round((2 * sides) / 3));
  switch (g.kind) {
    case "ellipsoid": {
      const faces = new THREE.SphereGeometry(1, sides, rings).scale(a, b, c);
      const at = faces.getAttribute("position"), normals = faces.getAttribute("normal"), n = new THREE.Vector3();
      // the gradient of (x/a)^2 + (y/b)^2 + (z/c)^2
      for (let i = 0; i < at.count; i++) {
        n.set(at.getX(i) / (a * a), at.getY(i) / (b * b), at.getZ(i) / (c * c)).normalize();
        normals.setXYZ(i, n.x, n.y, n.z);
      }
      return faces;
    }
    case "capsule":
      return new THREE.CapsuleGeometry(radius, length, Math.max(3, sides >> 2), sides).rotateX(Math.PI / 2);
    case "cylinder":
      return new THREE.CylinderGeometry(radius, radius, length, sides).rotateX(Math.PI / 2);
    default:
      return new THREE.SphereGeometry(radius, sides, rings);
  }
}

function analytic(g: Geometry, count: number): Shape {
  const [radius, length, a, b, c, nx, ny, nz, offset] = g.size;
  const shape: Shape = { kind: g.kind, faces: new THREE.BufferGeometry(), plain: new THREE.BufferGeometry(), edges: null, patches: null, inside: false, open: false, plane: null, radius: 0 };
  const rims: number[] = [];
  if (g.kind !== "halfspace") {
    const sides = sidesFor(count);
    shape.faces = roundFaces(g, sides);
    shape.plain = roundFaces(g, count > 200 ? 8 : 14);
  }
  switch (g.kind) {
    case "sphere":
    case "cavity":
      shape.inside = g.kind === "cavity";
      shape.radius = radius;
      break;
    case "ellipsoid":
      shape.radius = Math.max(a, b, c);
      break;
    case "capsule":
      shape.radius = radius + length / 2;
      break;
    case "cylinder":
      circle(radius, length / 2, rims, sidesFor(count)), circle(radius, -length / 2, rims, sidesFor(count));
      shape.radius = Math.hypot(radius, length / 2);
      break;
    case "halfspace":
      shape.plane = { normal: new THREE.Vector3(nx, ny, nz).normalize(), offset: offset / Math.hypot(nx, ny, nz) };
      break;
  }
  if (rims.length) {
    shape.edges = new THREE.BufferGeometry();
    shape.edges.setAttribute("position", new THREE.Float32BufferAttribute(rims, 3));
  }
  // Balls turn: three great circles show it.
  if (g.kind === "sphere" || g.kind === "ellipsoid") {
    const size = g.kind === "sphere" ? [radius, radius, radius] : [a, b, c];
    const line: number[] = [];
    circle(1.002, 0, line, 2 * sidesFor(count));
    const at: number[] = [];
    for (const [x, y] of [[0, 1], [1, 2], [2, 0]])
      for (let i = 0; i < line.length; i += 3) {
        const p = [0, 0, 0];
        (p[x] = line[i] * size[x]), (p[y] = line[i + 1] * size[y]);
        at.push(...p);
      }
    shape.edges = new THREE.BufferGeometry();
    shape.edges.setAttribute("position", new THREE.Float32BufferAttribute(at, 3));
  }
  return shape;
}

// The first geometry with the same numbers: bodies of one shape are drawn by one call, also where a scene has made it many times.
function firstOfKind(head: Head, bytes: ArrayBuffer): number[] {
  const seen = new Map<string, number>();
  return head.geometries.map((g, i) => {
    let hash = 2166136261; // FNV-1a, over words
    for (const [place, words] of [[g.points, 3], [g.normals, 3], [g.triangles, 3], [g.edges, 2]] as const)
      if (place) for (const word of new Uint32Array(bytes, place[0], place[1] * words)) hash = Math.imul(hash ^ word, 16777619);
    const key = [g.kind, ...g.size, g.points?.[1], g.normals?.[1], g.triangles?.[1], g.edges?.[1], hash].join();
    const first = seen.get(key);
    if (first === undefined) seen.set(key, i);
    return first ?? i;
  });
}

// A shape for each geometry; those with the same numbers share it.
export function makeShapes(head: Head, bytes: ArrayBuffer): Shape[] {
  const first = firstOfKind(head, bytes), count = new Array<number>(head.geometries.length).fill(0), shapes: Shape[] = [];
  for (const b of head.bodies) count[first[b.geometry]]++;
  head.geometries.forEach((g, i) => {
    const round = !(g.points && g.points[1] > 0 && g.triangles);
    shapes[i] = first[i] < i ? shapes[first[i]] : round ? analytic(g, count[i]) : fromArrays(g, bytes);
  });
  return shapes;
}
