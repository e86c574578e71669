// Geometries of the head as three.js has them: faces to shade, edges to draw.
import * as THREE from "three";
import type { Geometry, Head } from "./data";

export interface Shape {
  kind: string;
  faces: THREE.BufferGeometry;
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
    kind: g.kind, faces, edges: smooth ? null : outline, patches: smooth ? outline : null, inside: false, open: g.kind === "surface", plane: null,
    radius: faces.boundingSphere!.radius + faces.boundingSphere!.center.length(),
  };
}

function analytic(g: Geometry): Shape {
  const [radius, length, a, b, c, nx, ny, nz, offset] = g.size;
  const shape: Shape = { kind: g.kind, faces: new THREE.BufferGeometry(), edges: null, patches: null, inside: false, open: false, plane: null, radius: 0 };
  const rims: number[] = [];
  switch (g.kind) {
    case "sphere":
    case "cavity":
      shape.faces = new THREE.SphereGeometry(radius, 48, 32);
      shape.inside = g.kind === "cavity";
      shape.radius = radius;
      break;
    case "ellipsoid":
      shape.faces = new THREE.SphereGeometry(1, 56, 40).scale(a, b, c);
      shape.faces.computeVertexNormals();
      shape.radius = Math.max(a, b, c);
      break;
    case "capsule":
      shape.faces = new THREE.CapsuleGeometry(radius, length, 16, 40).rotateX(Math.PI / 2);
      shape.radius = radius + length / 2;
      break;
    case "cylinder":
      shape.faces = new THREE.CylinderGeometry(radius, radius, length, 64).rotateX(Math.PI / 2);
      circle(radius, length / 2, rims), circle(radius, -length / 2, rims);
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
    circle(1.002, 0, line, 96);
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

export function makeShapes(head: Head, bytes: ArrayBuffer): Shape[] {
  return head.geometries.map((g) => (g.points && g.points[1] > 0 && g.triangles ? fromArrays(g, bytes) : analytic(g)));
}
