// Areas of contact as triangles: borders with dents, holes and parts, or the hull of some points.
import * as THREE from "three";
import type { Vec } from "./data";

interface Plane {
  s: THREE.Vector3;
  t: THREE.Vector3;
}
function planeOf(normal: Vec): Plane {
  const n = new THREE.Vector3(...normal).normalize(), s = new THREE.Vector3(Math.abs(n.x) < 0.7 ? 1 : 0, Math.abs(n.x) < 0.7 ? 0 : 1, 0).cross(n).normalize();
  return { s, t: new THREE.Vector3().crossVectors(n, s) };
}
const flat = (p: Vec, { s, t }: Plane) => new THREE.Vector2(p[0] * s.x + p[1] * s.y + p[2] * s.z, p[0] * t.x + p[1] * t.y + p[2] * t.z);

// The points that are corners of the convex hull in the plane with that normal, counter-clockwise (Andrew's monotone chain).
export function hull(points: Vec[], normal: Vec): Vec[] {
  const plane = planeOf(normal), all = points.map((p) => ({ p, at: flat(p, plane) })).sort((a, b) => a.at.x - b.at.x || a.at.y - b.at.y);
  const half = (list: typeof all) => {
    const out: typeof all = [];
    for (const x of list) {
      while (out.length > 1 && out[out.length - 1].at.clone().sub(out[out.length - 2].at).cross(x.at.clone().sub(out[out.length - 2].at)) <= 0) out.pop();
      out.push(x);
    }
    return out.slice(0, -1);
  };
  return [...half(all), ...half([...all].reverse())].map((x) => x.p);
}

// Triangles of what lies on the left of the loops, seen against the normal: loops that go the other way are holes.
export function fillLoops(loops: Vec[][], normal: Vec, triangles: number[]) {
  const plane = planeOf(normal), all = loops.map((loop) => ({ loop, at: loop.map((p) => flat(p, plane)), holes: [] as number[] }));
  const outer = all.flatMap((x, i) => (THREE.ShapeUtils.area(x.at) > 0 ? [i] : []));
  all.forEach((x, i) => {
    if (outer.includes(i)) return;
    const around = outer.filter((k) => contains(all[k].at, x.at[0])).sort((a, b) => THREE.ShapeUtils.area(all[a].at) - THREE.ShapeUtils.area(all[b].at));
    if (around.length) all[around[0]].holes.push(i);
  });
  for (const k of outer) {
    const corners = [all[k].loop, ...all[k].holes.map((i) => all[i].loop)].flat();
    for (const t of THREE.ShapeUtils.triangulateShape(all[k].at, all[k].holes.map((i) => all[i].at))) for (const c of t) triangles.push(...corners[c]);
  }
}

function contains(loop: THREE.Vector2[], p: THREE.Vector2): boolean {
  let inside = false;
  loop.forEach((a, i) => {
    const b = loop[(i + 1) % loop.length];
    if (a.y > p.y !== b.y > p.y && p.x < a.x + ((p.y - a.y) / (b.y - a.y)) * (b.x - a.x)) inside = !inside;
  });
  return inside;
}
