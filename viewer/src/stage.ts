// The bodies in space: instances of their shapes, light and shadow, the camera, and what is under the pointer.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { makeCanvas } from "./canvas";
import { isDefaultColor, type Head, type Numbers } from "./data";
import { Extent, stepBack } from "./extent";
import { Floors } from "./floor";
import { PlainMesh } from "./plain";
import { writePoses } from "./poses";
import { Quality } from "./quality";
import { RestMesh } from "./rest";
import { makeShapes, type Shape } from "./shapes";
import { PALETTE, THEMES, type ThemeName } from "./themes";

// Instances of one shape: faces and lines share the matrices.
interface Group {
  shape: Shape;
  bodies: number[];
  faces: THREE.InstancedMesh;
  lines: THREE.LineSegments[];
}

// Seen from outside only, and without borders of patches: these may be drawn as one mesh.
const isClosed = (s: Shape) => !s.inside && !s.open && !s.patches;

export interface Pick {
  body: number;
  point: THREE.Vector3;
}

// Lines drawn once an instance: three.js asks only for the mark and the matrices.
function instancedLines(geometry: THREE.BufferGeometry, material: THREE.Material, faces: THREE.InstancedMesh): THREE.LineSegments {
  const lines = new THREE.LineSegments(geometry, material);
  Object.assign(lines, { isInstancedMesh: true, instanceMatrix: faces.instanceMatrix, instanceColor: null, morphTexture: null, count: faces.count });
  lines.frustumCulled = false;
  lines.raycast = () => undefined;
  return lines;
}

const MANY = 300; // bodies
const HEIGHTS = [0.48, 0.9, 1.6, 3]; // of the eye, beside 1.2 across
const PLAIN_FROM = 30; // bodies: where the processor draws, each takes it a millisecond unless all are one mesh

export class Stage {
  readonly software: boolean;
  readonly quality = new Quality();
  private looks = -1; // the level and pixels that are set
  private shadows = true;
  private edges = true;
  private patches = false;
  private wireframe = false;
  readonly renderer: THREE.WebGLRenderer;
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(38, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  head: Head | null = null;
  extent = new Extent(); // of what there is to see
  followed = -1;
  drawn = 0; // frames rendered
  private groups: Group[] = [];
  private floors = new Floors(this.scene);
  private poses = new Float64Array(0); // 16 numbers a body, as in Matrix4: shape axes to world
  private hidden = new Set<number>();
  private selected = -1;
  private hovered = -1;
  private theme: ThemeName = "light";
  private sun = new THREE.DirectionalLight("#ffffff", 2.6);
  private fill = new THREE.DirectionalLight("#ffffff", 0.4);
  private sky = new THREE.HemisphereLight("#ffffff", "#b8c0c8", 1.1);
  private colors = new Float32Array(0); // linear, 3 a body
  private plain: PlainMesh | null = null; // where the processor draws some bodies: those that move
  private rest: RestMesh | null = null; // and those that rest
  private slotOf = new Int32Array(0); // in the instances of the body's group; -1: it has none
  private arrayOf: Float32Array[] = [];
  private edgeMaterial = new THREE.LineBasicMaterial({ transparent: true });
  private patchMaterial = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.85 });
  private ballMaterial = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.28 });
  private faceMaterial = new THREE.MeshStandardMaterial({ roughness: 0.62, metalness: 0.02, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
  private openMaterial = Object.assign(this.faceMaterial.clone(), { side: THREE.DoubleSide });
  private restMaterial = Object.assign(this.faceMaterial.clone(), { vertexColors: true });
  private surfaces = [this.faceMaterial, this.openMaterial, this.restMaterial];
  private insideMaterial = new THREE.MeshStandardMaterial({ roughness: 0.9, side: THREE.BackSide, transparent: true, opacity: 0.35, depthWrite: false });
  private dirty = true;
  private lastFollowed = new THREE.Vector3();

  constructor(private container: HTMLElement) {
    const { canvas, gl, software } = makeCanvas();
    this.software = software;
    this.renderer = new THREE.WebGLRenderer({ canvas, context: gl });
    this.renderer.debug.checkShaderErrors = false; // asking would wait for the driver
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    container.append(this.renderer.domElement);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.18;
    this.controls.addEventListener("change", () => this.moved());
    this.controls.addEventListener("start", () => this.hold("camera", true));
    this.controls.addEventListener("end", () => this.hold("camera", false));
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 3;
    this.scene.add(this.sun, this.sun.target, this.fill, this.sky);
    new ResizeObserver(() => this.resize()).observe(container);
    this.resize();
  }

  // What is drawn now: see quality.ts.
  private applyQuality() {
    const level = this.quality.now, plain = level > 1, looks = 2 * level + (level ? this.quality.pixels : 0);
    if (looks === this.looks) return;
    this.looks = looks;
    this.sun.castShadow = this.shadows && level === 0;
    if (this.plain) this.plain.object.visible = plain && !this.wireframe;
    if (this.rest) this.rest.object.visible = !plain;
    this.rest?.setEdges(this.edges);
    this.floors.setPlain(this.floorIsPlain);
    for (const g of this.groups) {
      g.faces.geometry = plain ? g.shape.plain : g.shape.faces;
      const own = g.shape.inside || !(this.plain?.object.visible || (this.rest?.object.visible && isClosed(g.shape))); // drawn by nobody else
      g.faces.visible = own;
      for (const l of g.lines) l.visible = own && !plain && (l.name === "patches" ? this.patches : this.edges);
    }
    this.resize();
  }
  private pixelRatio(): number {
    const many = (this.head?.bodies.length ?? 0) > MANY, most = this.software ? (this.quality.moving || many ? 1 : 2) : Math.min(devicePixelRatio, 2);
    return this.quality.now ? Math.min(1, most) * this.quality.pixels : most;
  }

  // Without shadows a floor needs no light; it has the most pixels, and the processor takes long for each.
  private get floorIsPlain(): boolean {
    return this.quality.now > (this.software ? 0 : 1);
  }
  private drawPlain() {
    const fog = this.scene.fog as THREE.Fog, { camera } = this;
    camera.updateMatrixWorld();
    if (this.quality.now > 1) this.plain?.look(this.poses, this.colors, this.hidden, { sun: this.sun, fill: this.fill, sky: this.sky }, camera, fog, this.renderer.domElement.height);
    this.floors.look(camera.position, fog);
  }

  invalidate() {
    this.dirty = true;
  }
  hold(what: string, on: boolean) {
    if (this.quality.hold(what, on, performance.now())) this.applyQuality();
  }
  // What is in the picture has moved, or the camera: continuous motion is drawn as finely as it can be.
  private moved() {
    if (this.quality.moved(performance.now())) this.applyQuality();
    this.invalidate();
  }

  private resize() {
    const w = Math.max(1, this.container.clientWidth), h = Math.max(1, this.container.clientHeight);
    this.renderer.setPixelRatio(this.pixelRatio());
    this.renderer.setSize(w, h);
    this.camera.aspect = w / h;
    this.camera.updateProjectionMatrix();
    this.invalidate();
  }

  // Draws when something has changed; true when it did.
  render(passed = 0): boolean {
    this.controls.update();
    if (this.quality.tick(performance.now(), passed)) this.applyQuality();
    if (!this.dirty) return false;
    this.dirty = false;
    this.draw();
    this.drawn++;
    return true;
  }
  private draw() {
    if (this.floorIsPlain) this.drawPlain();
    if (this.rest?.object.visible) this.rest.update(this.poses, this.colors, this.hidden);
    this.renderer.render(this.scene, this.camera);
  }

  // ---- bodies

  // `frames` are some of what will be seen, the first of them first: the view holds them all.
  load(head: Head, geometry: ArrayBuffer, frames: Numbers[]) {
    this.groups.forEach((g) => this.removeGroup(g));
    this.groups = [];
    this.floors.clear();
    this.head = head;
    this.hidden.clear();
    this.quality.reset(this.software, head.bodies.length > (this.software ? PLAIN_FROM : MANY), head.bodies.length > MANY);
    this.quality.moving = this.software && head.bodies.length > MANY; // the first picture at once, the fine one after it
    this.quality.moved(performance.now());
    this.looks = -1;
    this.selected = this.hovered = -1;
    const shapes = makeShapes(head, geometry);
    const having = new Map<Shape, number[]>();
    head.bodies.forEach((b, i) => {
      const shape = shapes[b.geometry], list = having.get(shape);
      if (list) list.push(i);
      else having.set(shape, [i]);
    });
    for (const [shape, bodies] of having) if (shape && !shape.plane) this.addGroup(shape, bodies);
    this.poses = new Float64Array(16 * head.bodies.length);
    this.colors = new Float32Array(3 * head.bodies.length);
    this.makePlain();
    this.slotOf = new Int32Array(head.bodies.length).fill(-1);
    for (const g of this.groups)
      g.bodies.forEach((b, index) => {
        this.slotOf[b] = index;
        this.arrayOf[b] = g.faces.instanceMatrix.array as Float32Array;
      });
    this.pose(frames[0]);
    this.extent = Extent.of(head, shapes, frames);
    head.bodies.forEach((b, i) => shapes[b.geometry]?.plane && this.floors.add(shapes[b.geometry], i, this.matrix(i), this.extent));
    this.renderer.shadowMap.needsUpdate = true;
    const side = head.bodies.length > MANY || this.software ? 1024 : 2048;
    this.sun.shadow.mapSize.set(side, side);
    this.sun.shadow.map?.dispose();
    this.sun.shadow.map = null;
    this.setTheme(this.theme);
    this.applyQuality();
    this.place();
  }

  private makePlain() {
    for (const mesh of [this.plain, this.rest]) if (mesh) this.scene.remove(mesh.object), mesh.dispose();
    const some = this.software && this.head!.bodies.length > PLAIN_FROM;
    this.plain = some ? PlainMesh.make(this.groups.filter((g) => !g.shape.inside)) : null;
    this.rest = some ? RestMesh.make(this.groups.filter((g) => isClosed(g.shape)), { faces: this.restMaterial, edges: this.edgeMaterial, rings: this.ballMaterial }) : null;
    for (const mesh of [this.plain, this.rest]) if (mesh) this.scene.add(mesh.object);
  }
  private addGroup(shape: Shape, bodies: number[]) {
    const material = shape.inside ? this.insideMaterial : shape.open ? this.openMaterial : this.faceMaterial;
    const faces = new THREE.InstancedMesh(shape.faces, material, bodies.length);
    faces.castShadow = !shape.inside;
    faces.receiveShadow = true;
    faces.frustumCulled = false;
    faces.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    const lines: THREE.LineSegments[] = [];
    const round = shape.kind === "sphere" || shape.kind === "ellipsoid";
    if (shape.edges) lines.push(instancedLines(shape.edges, round ? this.ballMaterial : this.edgeMaterial, faces));
    if (shape.patches) {
      const borders = instancedLines(shape.patches, this.patchMaterial, faces);
      borders.name = "patches";
      borders.visible = false;
      lines.push(borders);
    }
    this.groups.push({ shape, bodies, faces, lines });
    this.scene.add(faces, ...lines);
  }

  // Off the scene, and off the graphics card: a run that is started again and again would fill it.
  private removeGroup({ shape, faces, lines }: Group) {
    this.scene.remove(faces, ...lines);
    faces.dispose();
    for (const geometry of [shape.faces, shape.plain, shape.edges, shape.patches]) geometry?.dispose();
  }

  // ---- the camera

  private place() {
    const { radius: r, center } = this.extent, camera = this.head?.camera;
    this.camera.near = r / 200;
    this.camera.far = r * 120;
    const sun = new THREE.Vector3(0.55, -0.42, 1.25).multiplyScalar(3.2 * r);
    const light = this.head?.lights?.[0];
    if (light) sun.set(...light.position).sub(center).setLength(4 * r);
    if (sun.z < 0.4 * r) sun.z = 3 * r;
    this.sun.position.copy(center).add(sun);
    this.sun.target.position.copy(center);
    this.fill.position.copy(center).add(new THREE.Vector3(-1.2, -1, 0.5).multiplyScalar(2 * r));
    const box = this.sun.shadow.camera, half = 2.4 * r;
    (box.left = box.bottom = -half), (box.right = box.top = half), (box.near = 0.1 * r), (box.far = 12 * r);
    box.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.006 * r;
    this.sun.shadow.bias = -0.0002;
    if (camera) {
      this.camera.up.set(...(camera.up ?? [0, 0, 1]));
      this.camera.position.set(...camera.position);
      this.controls.target.set(...camera.target);
      if (camera.field_of_view) this.camera.fov = camera.field_of_view;
      this.camera.updateProjectionMatrix();
      this.controls.update();
      stepBack(this.camera, this.controls.target, this.movingBodies().map((i) => ({ at: this.centerOf(i), radius: 0.7 * this.extent.radii[i] })));
    } else this.fit();
    this.invalidate();
  }
  // Everything in the picture, seen a little from above, or from as far above as is needed to see what moves; what hides it all the same,
  // as the wall of a bowl does, belongs to the picture.
  fit() {
    const { balls, radii } = this.extent, known = balls.length;
    for (const once of [true, false]) {
      for (const height of HEIGHTS) {
        this.fitFrom(height);
        if (!this.hiding().length) return;
      }
      this.fitFrom(HEIGHTS[0]);
      if (once) for (const body of this.hiding()) balls.push({ at: this.centerOf(body), radius: radii[body] });
    }
    if (balls.length > known) this.fitFrom(HEIGHTS[2]);
  }
  // Fixed bodies between the eye and the middle of most of what moves.
  private hiding(): number[] {
    const faces = this.groups.filter((g) => !g.shape.inside).map((g) => g.faces), eye = this.camera.position, hiding: number[] = [];
    const moving = this.movingBodies().slice(0, 12);
    for (const f of faces) f.boundingSphere = null;
    for (const body of moving) {
      const center = this.centerOf(body), way = center.sub(eye), caster = new THREE.Raycaster(eye, way.clone().normalize(), 0, Math.max(0, way.length() - this.extent.radii[body]));
      const hit = caster.intersectObjects<THREE.Object3D>(faces, false).find((h) => this.head!.bodies[this.bodyOf(h)].fixed);
      if (hit) hiding.push(this.bodyOf(hit));
    }
    return 2 * hiding.length > moving.length ? [...new Set(hiding)] : [];
  }
  private fitFrom(height: number) {
    const { eye, target } = this.extent.eyeFrom(height, this.camera);
    this.camera.position.copy(eye);
    this.controls.target.copy(target);
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.invalidate();
  }
  // Those that are drawn and not fixed.
  private movingBodies(): number[] {
    return this.head!.bodies.flatMap((b, i) => (b.fixed || this.slotOf[i] < 0 ? [] : [i]));
  }

  // ---- motion

  // Shows a frame; with a second one, a time in between.
  pose(a: Numbers, b: Numbers | null = null, part = 0) {
    writePoses(this.poses, this.head!, a, b, part);
    for (let i = 0; i < this.slotOf.length; i++) {
      const slot = this.slotOf[i];
      if (slot < 0) continue;
      const array = this.arrayOf[i], first = 16 * slot, at = 16 * i, keep = this.hidden.has(i) ? 0 : 1; // a hidden one has no size
      for (let e = 0; e < 12; e++) array[first + e] = keep * this.poses[at + e];
      for (let e = 12; e < 16; e++) array[first + e] = this.poses[at + e];
    }
    for (const g of this.groups) g.faces.instanceMatrix.needsUpdate = true;
    this.followOn();
    this.moved();
  }

  matrix(body: number): THREE.Matrix4 {
    return new THREE.Matrix4().fromArray(this.poses, 16 * body);
  }
  centerOf(body: number): THREE.Vector3 {
    return new THREE.Vector3(...this.head!.bodies[body].center).applyMatrix4(this.matrix(body));
  }

  follow(body: number) {
    this.followed = body;
    if (body >= 0) this.lastFollowed.copy(this.centerOf(body));
  }
  private followOn() {
    if (this.followed < 0 || this.followed >= this.slotOf.length) return;
    const now = this.centerOf(this.followed), moved = now.clone().sub(this.lastFollowed);
    this.camera.position.add(moved);
    this.controls.target.add(moved);
    this.sun.position.add(moved);
    this.sun.target.position.add(moved);
    this.lastFollowed.copy(now);
  }
  lookAt(point: THREE.Vector3) {
    const moved = point.clone().sub(this.controls.target);
    this.controls.target.add(moved);
    this.camera.position.add(moved);
    this.invalidate();
  }

  // ---- looks

  setTheme(name: ThemeName) {
    const c = THEMES[(this.theme = name)];
    this.scene.background = new THREE.Color(c.background);
    this.scene.fog = new THREE.Fog(c.background, 7 * this.extent.radius, 26 * this.extent.radius);
    this.sky.color.set(c.sky);
    this.sky.groundColor.set(c.ground);
    this.sky.intensity = name === "dark" ? 1.5 : 1.7;
    this.sun.intensity = name === "dark" ? 2.2 : 1.7;
    this.sun.shadow.intensity = name === "dark" ? 0.65 : 0.9; // the ground under a body is not black
    for (const material of [this.edgeMaterial, this.ballMaterial]) material.color.set(c.edge);
    this.patchMaterial.color.set(c.patch);
    this.edgeMaterial.opacity = c.edgeOpacity;
    this.floors.paint(name, this.extent.radius, this.software ? 1 : 8);
    for (const g of this.groups) g.bodies.forEach((b) => this.paint(b));
    this.invalidate();
  }

  colorOf(body: number): THREE.Color {
    const b = this.head!.bodies[body];
    if (!isDefaultColor(b.color)) return new THREE.Color().setRGB(b.color[0], b.color[1], b.color[2], THREE.SRGBColorSpace);
    if (b.fixed) return new THREE.Color(THEMES[this.theme].fixed);
    return new THREE.Color(PALETTE[body % PALETTE.length]);
  }

  private paint(body: number) {
    const slot = this.slotOf[body] ?? -1, group = slot < 0 ? undefined : this.groups.find((g) => g.bodies[slot] === body);
    if (!group) return;
    const color = this.colorOf(body);
    if (body === this.selected) color.offsetHSL(0, 0.15, 0.17);
    else if (body === this.hovered) color.offsetHSL(0, 0.05, 0.08);
    group.faces.setColorAt(slot, color);
    color.toArray(this.colors, 3 * body);
    group.faces.instanceColor!.needsUpdate = true;
    this.invalidate();
  }
  select(body: number) {
    const before = this.selected;
    this.selected = body;
    this.paint(before), this.paint(body);
  }
  hover(body: number) {
    if (body === this.hovered) return;
    const before = this.hovered;
    this.hovered = body;
    this.paint(before), this.paint(body);
  }
  setVisible(body: number, visible: boolean) {
    if (visible) this.hidden.delete(body);
    else this.hidden.add(body);
    this.floors.setVisible(body, visible);
    this.invalidate();
  }
  isVisible(body: number): boolean {
    return !this.hidden.has(body);
  }
  // The looks have changed: they are set anew.
  private again() {
    this.looks = -1;
    this.applyQuality();
  }
  setEdges(on: boolean) {
    this.edges = on;
    this.again();
  }
  setPatches(on: boolean) {
    this.patches = on;
    this.again();
  }
  get hasPatches(): boolean {
    return this.groups.some((g) => g.shape.patches);
  }
  setWireframe(on: boolean) {
    for (const material of this.surfaces) material.wireframe = on;
    this.wireframe = on;
    this.again();
  }
  setTranslucent(on: boolean) {
    for (const material of this.surfaces) {
      material.transparent = on;
      material.opacity = on ? 0.35 : 1;
      material.depthWrite = !on;
      material.needsUpdate = true;
    }
    this.plain?.setOpacity(on ? 0.35 : 1);
    this.invalidate();
  }
  setShadows(on: boolean) {
    this.shadows = on;
    this.again();
  }

  // ---- pointer

  private ray(x: number, y: number): THREE.Raycaster {
    const r = this.renderer.domElement.getBoundingClientRect(), caster = new THREE.Raycaster();
    caster.setFromCamera(new THREE.Vector2(((x - r.left) / r.width) * 2 - 1, 1 - ((y - r.top) / r.height) * 2), this.camera);
    return caster;
  }
  pick(x: number, y: number): Pick | null {
    const caster = this.ray(x, y);
    for (const g of this.groups) g.faces.boundingSphere = null;
    const hit = caster.intersectObjects<THREE.Object3D>([...this.groups.filter((g) => !g.shape.inside).map((g) => g.faces), ...this.floors.meshes])
      .find((h) => !this.hidden.has(this.bodyOf(h))); // instances are here also where others are drawn in their place
    return hit ? { body: this.bodyOf(hit), point: hit.point } : null;
  }
  private bodyOf(hit: THREE.Intersection): number {
    if (hit.object.userData.body !== undefined) return hit.object.userData.body as number;
    return this.groups.find((g) => g.faces === hit.object)!.bodies[hit.instanceId ?? 0];
  }
  // Where the pointer is on the plane through a point that faces the camera.
  drag(x: number, y: number, through: THREE.Vector3): THREE.Vector3 | null {
    const normal = this.camera.getWorldDirection(new THREE.Vector3());
    return this.ray(x, y).ray.intersectPlane(new THREE.Plane().setFromNormalAndCoplanarPoint(normal, through), new THREE.Vector3());
  }
  // Whether a point is in the picture.
  sees(point: THREE.Vector3): boolean {
    const p = point.clone().project(this.camera);
    return Math.abs(p.x) < 0.95 && Math.abs(p.y) < 0.95 && p.z < 1;
  }
  toScreen(point: THREE.Vector3): { x: number; y: number } {
    const p = point.clone().project(this.camera), r = this.renderer.domElement.getBoundingClientRect();
    return { x: r.left + ((p.x + 1) / 2) * r.width, y: r.top + ((1 - p.y) / 2) * r.height };
  }
  picture(): string {
    this.quality.moving = false;
    this.applyQuality();
    this.draw();
    return this.renderer.domElement.toDataURL("image/png");
  }
}
