// What there is to see: the balls around the bodies, their middle and size; and where an eye must be to see it all.
import * as THREE from "three";
import type { Body, Head, Numbers } from "./data";
import type { Shape } from "./shapes";

export interface Ball {
  at: THREE.Vector3;
  radius: number;
}

function isFlat(s: Shape): boolean {
  if (!s.faces.boundingBox) s.faces.computeBoundingBox();
  const size = s.faces.boundingBox!.getSize(new THREE.Vector3()).toArray().sort((a, b) => a - b);
  return size[0] < 0.1 * size[2];
}

export class Extent {
  radius = 1;
  center = new THREE.Vector3();
  bodySize = 1; // radius of half of the moving bodies
  radii: number[] = []; // of all bodies
  balls: Ball[] = [];

  // The box of what is at the given frames, and the balls in it.
  static of(head: Head, shapes: Shape[], frames: Numbers[]): Extent {
    const e = new Extent(), box = new THREE.Box3(), { bodies, numbers } = head, shapeOf = (b: Body): Shape | undefined => shapes[b.geometry];
    e.radii = bodies.map((b) => shapeOf(b)?.radius ?? 0);
    const addAt = (i: number, frame: Numbers) => {
      const radius = e.radii[i], at = new THREE.Vector3(frame[i * numbers], frame[i * numbers + 1], frame[i * numbers + 2]);
      if (!Number.isFinite(at.x + at.y + at.z)) return;
      box.expandByPoint(at.clone().addScalar(radius)).expandByPoint(at.clone().addScalar(-radius));
      e.balls.push({ at, radius });
    };
    const add = (b: Body, i: number) => shapeOf(b) && !shapeOf(b)!.plane && frames.forEach((f) => addAt(i, f));
    bodies.forEach((b, i) => !b.fixed && add(b, i));
    const moving = box.isEmpty() ? 0 : box.getSize(new THREE.Vector3()).length();
    // of what is much larger a table is left out, of which the part under the bodies is enough, and a bowl is not
    const belongs = (b: Body, i: number) => moving === 0 || e.radii[i] < (shapeOf(b) && isFlat(shapeOf(b)!) ? 4 : 12) * moving;
    bodies.forEach((b, i) => b.fixed && belongs(b, i) && add(b, i));
    if (box.isEmpty()) box.set(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1)), e.balls.push({ at: new THREE.Vector3(), radius: 1 });
    const sizes = bodies.flatMap((b, i) => (!b.fixed && shapeOf(b) ? [e.radii[i]] : [])).sort((a, b) => a - b);
    e.bodySize = sizes[sizes.length >> 1] ?? Infinity;
    box.getCenter(e.center);
    e.radius = Math.max(1e-6, box.getSize(new THREE.Vector3()).length() / 2);
    return e;
  }

  // In the axes of the camera the balls fill the angle of view. The sides of the view are planes through the eye, so each is moved to
  // where it touches the outermost ball. `height` of the eye, beside 1.2 across.
  eyeFrom(height: number, camera: THREE.PerspectiveCamera): { eye: THREE.Vector3; target: THREE.Vector3 } {
    const back = new THREE.Vector3(0.62, -1, height).normalize(), right = new THREE.Vector3(1, 0.62, 0).normalize(), up = back.clone().cross(right);
    const tanUp = Math.tan((camera.fov * Math.PI) / 360) * 0.9, tanRight = tanUp * camera.aspect;
    const edge = (axis: THREE.Vector3, tan: number) => {
      let least = Infinity, most = -Infinity;
      const secant = Math.hypot(1, tan);
      for (const { at, radius } of this.balls) {
        const x = at.dot(axis), z = at.dot(back) * tan, r = radius * secant;
        (least = Math.min(least, x - z - r)), (most = Math.max(most, x + z + r));
      }
      return { middle: (most + least) / 2, depth: (most - least) / 2 / tan };
    };
    const h = edge(right, tanRight), v = edge(up, tanUp), eye = new THREE.Vector3();
    eye.addScaledVector(right, h.middle).addScaledVector(up, v.middle).addScaledVector(back, Math.max(h.depth, v.depth));
    const ahead = Math.max(this.radius * 0.2, eye.clone().sub(this.center).dot(back));
    return { eye, target: eye.clone().addScaledVector(back, -ahead) };
  }
}

// A scene's camera is made for a picture of some shape; in another one, as on a phone, it goes back until it sees all the balls.
export function stepBack(camera: THREE.PerspectiveCamera, target: THREE.Vector3, balls: Ball[]) {
  const from = camera.position.clone().sub(target), frustum = new THREE.Frustum();
  const sees = (ball: Ball) => frustum.planes.slice(0, 4).every((p) => p.distanceToPoint(ball.at) >= ball.radius); // the sides
  for (let factor = 1; factor < 4; factor *= 1.08) {
    camera.position.copy(target).addScaledVector(from, factor);
    camera.updateMatrixWorld();
    frustum.setFromProjectionMatrix(new THREE.Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse));
    if (balls.every(sees)) return;
  }
  camera.position.copy(target).add(from); // far more than the scene wants to show
}
