// What is drawn over the bodies: contact regions by dimension, normals, forces, centres of pressure, the event, the
// slice through the index, the spring of a pull.
import * as THREE from "three";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { LineSegments2 } from "three/examples/jsm/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/examples/jsm/lines/LineSegmentsGeometry.js";
import { fillLoops, hull } from "./area";
import type { AbutEvent, Contact, Head, Vec } from "./data";
import type { Slice } from "./source";
import type { Stage } from "./stage";

export const DIMENSION_COLORS = ["#d6336c", "#0ca678", "#f08c00"]; // points, lines, areas
export const STATE_COLORS: Record<string, string> = { stick: "#2f9e44", slip: "#e03131", frictionless: "#748ffc" };
export const NORMAL_COLOR = "#4263eb", FORCE_COLOR = "#e8590c", IMPULSE_COLOR = "#ae3ec9", PRESSURE_COLOR = "#111418";
export const SLICE_COLORS: Record<string, [color: string, opacity: number]> = { outside: ["#8aa0b4", 0.16], inside: ["#f6c667", 0.85], face: ["#4f8fd0", 0.85] };

export interface Layers {
  regions: boolean;
  normals: boolean;
  forces: boolean;
  pressure: boolean;
  friction: boolean;
}

const length = (v: Vec) => Math.hypot(...v);

// Arrows of one colour: a shaft and a head, as instances.
class Arrows {
  readonly group = new THREE.Group();
  private shaft: THREE.InstancedMesh;
  private tip: THREE.InstancedMesh;
  count = 0;

  constructor(color: string, private capacity = 64) {
    const material = new THREE.MeshBasicMaterial({ color, depthTest: false, transparent: true, opacity: 0.95, fog: false });
    const along = new THREE.CylinderGeometry(1, 1, 1, 10).rotateX(Math.PI / 2).translate(0, 0, 0.5);
    const head = new THREE.ConeGeometry(1, 1, 14).rotateX(Math.PI / 2).translate(0, 0, -0.5);
    this.shaft = new THREE.InstancedMesh(along, material, capacity);
    this.tip = new THREE.InstancedMesh(head, material, capacity);
    for (const mesh of [this.shaft, this.tip]) (mesh.frustumCulled = false), (mesh.renderOrder = 12);
    this.group.add(this.shaft, this.tip);
  }
  private grow() {
    for (const key of ["shaft", "tip"] as const) {
      const old = this[key], next = new THREE.InstancedMesh(old.geometry, old.material, this.capacity * 2);
      next.instanceMatrix.array.set(old.instanceMatrix.array);
      (next.frustumCulled = false), (next.renderOrder = 12);
      this.group.remove(old);
      this.group.add((this[key] = next));
    }
    this.capacity *= 2;
  }
  clear() {
    this.count = 0;
  }
  add(from: Vec, vector: Vec, scale: number, thickness: number) {
    const size = length(vector) * scale;
    if (!(size > thickness / 2)) return;
    if (this.count === this.capacity) this.grow();
    const direction = new THREE.Vector3(...vector).normalize(), start = new THREE.Vector3(...from);
    const q = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), direction);
    const tip = Math.min(6 * thickness, 0.5 * size), m = new THREE.Matrix4();
    this.shaft.setMatrixAt(this.count, m.compose(start, q, new THREE.Vector3(thickness, thickness, size - 0.9 * tip)));
    const end = start.clone().addScaledVector(direction, size);
    this.tip.setMatrixAt(this.count++, m.compose(end, q, new THREE.Vector3(2.4 * thickness, 2.4 * thickness, tip)));
  }
  done() {
    for (const mesh of [this.shaft, this.tip]) (mesh.count = this.count), (mesh.instanceMatrix.needsUpdate = true);
    this.group.visible = this.count > 0;
  }
}

// Lines some pixels wide.
class Lines {
  object: LineSegments2;
  private at: number[] = [];
  constructor(color: string, private width: number, private order: number) {
    const material = new LineMaterial({ color, linewidth: width, depthTest: false, transparent: true, fog: false });
    this.object = new LineSegments2(new LineSegmentsGeometry(), material);
    this.object.frustumCulled = false;
    this.object.renderOrder = order;
  }
  finer(factor: number) {
    (this.object.material as LineMaterial).linewidth = this.width * factor;
  }
  clear() {
    this.at = [];
  }
  add(a: Vec, b: Vec) {
    this.at.push(...a, ...b);
  }
  done() {
    this.object.visible = this.at.length > 0;
    if (!this.at.length) return;
    this.object.geometry.dispose();
    this.object.geometry = new LineSegmentsGeometry();
    this.object.geometry.setPositions(this.at);
    this.object.renderOrder = this.order;
  }
}

// Round dots of a size in pixels, each with a colour.
class Dots {
  readonly object: THREE.Points;
  private at: number[] = [];
  private colors: number[] = [];
  constructor(private size: number, ring: boolean, order: number) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 64;
    const c = canvas.getContext("2d")!;
    c.beginPath();
    c.arc(32, 32, ring ? 22 : 26, 0, 7);
    c.lineWidth = ring ? 12 : 8;
    c.strokeStyle = "#ffffff";
    c.fillStyle = "#ffffff";
    if (ring) c.stroke();
    else c.fill();
    const material = new THREE.PointsMaterial({
      size, map: new THREE.CanvasTexture(canvas), vertexColors: true, sizeAttenuation: false, depthTest: false, transparent: true, alphaTest: 0.3, fog: false,
    });
    this.object = new THREE.Points(new THREE.BufferGeometry(), material);
    this.object.frustumCulled = false;
    this.object.renderOrder = order;
  }
  finer(factor: number) {
    (this.object.material as THREE.PointsMaterial).size = this.size * factor;
  }
  clear() {
    (this.at = []), (this.colors = []);
  }
  add(p: Vec, color: string) {
    this.at.push(...p);
    const c = new THREE.Color(color);
    this.colors.push(c.r, c.g, c.b);
  }
  done() {
    const g = this.object.geometry;
    g.setAttribute("position", new THREE.Float32BufferAttribute(this.at, 3));
    g.setAttribute("color", new THREE.Float32BufferAttribute(this.colors, 3));
    this.object.visible = this.at.length > 0;
  }
}

export class Overlay {
  shown = { regions: 0, loops: 0, lines: 0, points: 0, normals: 0, forces: 0, pressure: 0, friction: 0 }; // what is drawn, for tests and the legend
  marked = false; // some contact is drawn
  forceFactor = 1;
  private areas: THREE.Mesh;
  private outlines = new Lines(DIMENSION_COLORS[2], 2.5, 9);
  private segments = new Lines(DIMENSION_COLORS[1], 5, 10);
  private dots = new Dots(11, false, 11);
  private states = new Dots(17, true, 11);
  private pressures = new Dots(15, true, 13);
  private pressureCores = new Dots(6, false, 13);
  private normals = new Arrows(NORMAL_COLOR);
  private forces = new Arrows(FORCE_COLOR);
  private eventNormal = new Arrows(NORMAL_COLOR, 4);
  private eventImpulse = new Arrows(IMPULSE_COLOR, 4);
  private eventDot = new Dots(26, true, 14);
  private spring = new Lines("#f03e3e", 3, 14);
  private sliceGroup = new THREE.Group();
  private sliceBody = -1;
  private newton = 1; // metres a newton
  size = 1; // arrows are drawn for: the scene, or some bodies where there are many

  constructor(private stage: Stage) {
    this.areas = new THREE.Mesh(new THREE.BufferGeometry(), new THREE.MeshBasicMaterial({
      color: DIMENSION_COLORS[2], transparent: true, opacity: 0.5, depthTest: false, side: THREE.DoubleSide, fog: false,
    }));
    this.areas.frustumCulled = false;
    this.areas.renderOrder = 8;
    this.sliceGroup.matrixAutoUpdate = false;
    stage.scene.add(
      this.areas, this.outlines.object, this.segments.object, this.dots.object, this.states.object, this.pressures.object,
      this.pressureCores.object, this.normals.group, this.forces.group, this.eventNormal.group, this.eventImpulse.group,
      this.eventDot.object, this.spring.object, this.sliceGroup,
    );
    this.setContacts([], { regions: false, normals: false, forces: false, pressure: false, friction: false });
    this.setEvent(null, 1);
    this.setSpring(null, null);
  }

  begin(head: Head) {
    const weights = head.bodies.map((b) => 9.81 * (b.mass ?? 0)).filter((w) => w > 0).sort((a, b) => a - b);
    const typical = weights.length ? weights[Math.floor(0.75 * (weights.length - 1))] : 1;
    this.size = Math.min(this.stage.extent.radius, 10 * this.stage.extent.bodySize);
    this.newton = (0.3 * this.size) / typical;
    this.setSlice(-1, null);
    this.setEvent(null, 1);
  }
  get metresPerNewton(): number {
    return this.newton * this.forceFactor;
  }

  setContacts(contacts: Contact[], layers: Layers) {
    const r = this.size, triangles: number[] = [];
    this.marked = contacts.length > 0;
    this.shown = { regions: 0, loops: 0, lines: 0, points: 0, normals: 0, forces: 0, pressure: 0, friction: 0 };
    for (const part of [this.outlines, this.segments, this.dots, this.states, this.pressures, this.pressureCores, this.normals, this.forces]) part.clear();
    // hundreds of contacts are marked finely: else nothing but marks is seen
    for (const part of [this.outlines, this.segments, this.dots, this.states, this.pressures, this.pressureCores]) part.finer(contacts.length > 60 ? 0.45 : 1);
    for (const c of contacts) {
      if (layers.regions) this.addRegion(c, triangles);
      // the force on the body that moves, where one of the two is fixed
      const sign = this.stage.head?.bodies[c.bodies[0]]?.mass == null ? -1 : 1;
      const turn = (v: Vec): Vec => [sign * v[0], sign * v[1], sign * v[2]];
      c.points.forEach((p, i) => {
        if (layers.friction) this.states.add(p, STATE_COLORS[c.state] ?? "#888888");
        if (layers.normals) this.normals.add(p, turn(c.normals[i]), 0.12 * r, 0.004 * r);
        if (layers.forces) this.forces.add(p, turn(c.forces[i]), this.metresPerNewton, 0.0055 * r);
      });
      this.shown.friction += layers.friction ? c.points.length : 0;
      if (layers.pressure && c.points.length) {
        this.pressures.add(c.center, "#ffffff");
        this.pressureCores.add(c.center, PRESSURE_COLOR);
        this.shown.pressure++;
      }
    }
    this.areas.geometry.dispose();
    this.areas.geometry = new THREE.BufferGeometry();
    this.areas.geometry.setAttribute("position", new THREE.Float32BufferAttribute(triangles, 3));
    this.areas.visible = triangles.length > 0;
    for (const part of [this.outlines, this.segments, this.dots, this.states, this.pressures, this.pressureCores, this.normals, this.forces]) part.done();
    this.shown.normals = this.normals.count;
    this.shown.forces = this.forces.count;
    this.stage.invalidate();
  }

  // An area has its border, or is the hull of its points; a line joins the two that are furthest apart, a point is a dot.
  private addRegion(c: Contact, triangles: number[]) {
    if (c.dimension === 2 && c.points.length >= 3) {
      const loops = c.loops.length ? c.loops : [hull(c.points, c.normals[0])];
      fillLoops(loops, c.normals[0], triangles);
      for (const loop of loops) loop.forEach((p, i) => this.outlines.add(p, loop[(i + 1) % loop.length]));
      this.shown.regions++;
      this.shown.loops += loops.length;
    } else if (c.dimension === 1 && c.points.length >= 2) {
      let ends: [Vec, Vec] = [c.points[0], c.points[1]], most = -1;
      for (const a of c.points)
        for (const b of c.points) {
          const d = Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
          if (d > most) (most = d), (ends = [a, b]);
        }
      this.segments.add(...ends);
      this.shown.lines++;
    } else {
      for (const p of c.points) this.dots.add(p, DIMENSION_COLORS[0]);
      this.shown.points++;
    }
  }

  setEvent(event: AbutEvent | null, largestImpulse: number) {
    const r = this.size;
    for (const part of [this.eventNormal, this.eventImpulse, this.eventDot]) part.clear();
    if (event && (length(event.normal) > 0 || length(event.point) > 0)) {
      const sign = this.stage.head?.bodies[event.bodies[0]]?.mass == null ? -1 : 1;
      const turn = (v: Vec): Vec => [sign * v[0], sign * v[1], sign * v[2]];
      this.eventNormal.add(event.point, turn(event.normal), 0.18 * r, 0.006 * r);
      this.eventImpulse.add(event.point, turn(event.impulse), (0.5 * r) / Math.max(largestImpulse, 1e-300), 0.009 * r);
      this.eventDot.add(event.point, IMPULSE_COLOR);
    }
    for (const part of [this.eventNormal, this.eventImpulse, this.eventDot]) part.done();
    this.stage.invalidate();
  }

  setSpring(from: THREE.Vector3 | null, to: THREE.Vector3 | null) {
    this.spring.clear();
    if (from && to) this.spring.add(from.toArray(), to.toArray());
    this.spring.done();
    this.stage.invalidate();
  }

  // ---- the index as a slice

  setSlice(body: number, slice: Slice | null) {
    this.sliceGroup.clear();
    this.sliceBody = slice ? body : -1;
    if (slice) {
      const fills: Record<string, number[]> = { outside: [], inside: [], face: [] };
      const cuts: number[] = [];
      for (const part of slice.parts) {
        const p = part.points, list = fills[part.kind] ?? fills.face;
        for (let i = 6; i < p.length; i += 3) list.push(...p.slice(0, 3), ...p.slice(i - 3, i), ...p.slice(i, i + 3));
        for (let i = 0; i < p.length; i += 3) cuts.push(...p.slice(i, i + 3), ...p.slice((i + 3) % p.length, ((i + 3) % p.length) + 3));
      }
      for (const kind of Object.keys(fills)) {
        const g = new THREE.BufferGeometry();
        g.setAttribute("position", new THREE.Float32BufferAttribute(fills[kind], 3));
        const [color, opacity] = SLICE_COLORS[kind];
        const mesh = new THREE.Mesh(g, new THREE.MeshBasicMaterial({ color, opacity, transparent: true, side: THREE.DoubleSide, depthTest: false, fog: false }));
        mesh.renderOrder = 5;
        this.sliceGroup.add(mesh);
      }
      const border: number[] = [];
      for (const loop of slice.border)
        for (let i = 0; i < loop.length; i += 3) border.push(...loop.slice(i, i + 3), ...loop.slice((i + 3) % loop.length, ((i + 3) % loop.length) + 3));
      for (const [at, color, width, order] of [[cuts, "#b07d24", 1, 6], [border, "#1c2a38", 2.5, 7]] as [number[], string, number, number][]) {
        if (!at.length) continue;
        const lines = new LineSegments2(new LineSegmentsGeometry().setPositions(at), new LineMaterial({ color, linewidth: width, depthTest: false, transparent: true, fog: false }));
        lines.renderOrder = order;
        this.sliceGroup.add(lines);
      }
    }
    this.moved();
    this.stage.invalidate();
  }
  moved() {
    if (this.sliceBody >= 0) {
      this.sliceGroup.matrix.copy(this.stage.matrix(this.sliceBody));
      this.sliceGroup.matrixWorldNeedsUpdate = true;
    }
  }
}
