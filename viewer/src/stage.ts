// The bodies in space: instances of their shapes, light and shadow, the camera, and what is under the pointer.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { isDefaultColor, type Body, type Head, type Numbers } from "./data";
import { plainFloor, PlainMesh } from "./plain";
import { Quality } from "./quality";
import { RestMesh } from "./rest";
import { makeShapes, type Shape } from "./shapes";

const PALETTE = ["#e0803c", "#4f8fd0", "#5fa968", "#c65b66", "#8d78c9", "#d9b13b", "#4bb0ae", "#c97bb0", "#8c9a3e", "#7f8ea3"];
const THEMES = {
  light: { background: "#eef1f4", floor: "#dfe4e9", grid: "#b9c3cd", fixed: "#aab4bf", edge: "#1d2833", edgeOpacity: 0.75, patch: "#ffffff", sky: "#ffffff", ground: "#b8c0c8" },
  dark: { background: "#171d24", floor: "#20272f", grid: "#38434f", fixed: "#6d7b8a", edge: "#05080b", edgeOpacity: 0.85, patch: "#d7f5ff", sky: "#c9d8ea", ground: "#49525e" },
};
export type ThemeName = keyof typeof THEMES;

// Instances of one shape: faces and lines share the matrices.
interface Group {
  shape: Shape;
  bodies: number[];
  faces: THREE.InstancedMesh;
  lines: THREE.LineSegments[];
}

// Seen from outside only, and without borders of patches: these may be drawn as one mesh.
const isClosed = (s: Shape) => !s.inside && !s.open && !s.patches;

function isFlat(s: Shape): boolean {
  if (!s.faces.boundingBox) s.faces.computeBoundingBox();
  const size = s.faces.boundingBox!.getSize(new THREE.Vector3()).toArray().sort((a, b) => a - b);
  return size[0] < 0.1 * size[2];
}

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

// A canvas to draw on, and whether the processor draws: then edges are not smoothed by the driver, which would cost four times the
// work, but what rests is drawn with twice the pixels.
function makeCanvas(): { canvas: HTMLCanvasElement; gl: WebGL2RenderingContext; software: boolean } {
  const open = (on: HTMLCanvasElement, antialias: boolean) =>
    on.getContext("webgl2", { antialias, alpha: false, powerPreference: "high-performance" }) as WebGL2RenderingContext | null;
  const canvas = document.createElement("canvas"), gl = open(canvas, false);
  if (!gl) throw new Error("this browser has no WebGL 2; without it there is no picture");
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  if (/swiftshader|llvmpipe|softpipe|software/i.test(name)) return { canvas, gl, software: true };
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  const better = document.createElement("canvas"), context = open(better, true);
  if (!context) throw new Error("this browser has no WebGL 2; without it there is no picture");
  return { canvas: better, gl: context, software: false };
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
  radius = 1; // of what there is to see
  center = new THREE.Vector3();
  bodySize = 1; // radius of half of the moving bodies
  private balls: [THREE.Vector3, number][] = []; // around the bodies
  private radii: number[] = []; // of all bodies
  followed = -1;
  drawn = 0; // frames rendered
  private groups: Group[] = [];
  private planes: THREE.Mesh[] = [];
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
    for (const p of this.planes) p.material = this.floorIsPlain ? p.userData.plain : p.userData.fine;
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
    for (const { userData } of this.planes) {
      const u = (userData.plain as THREE.RawShaderMaterial).uniforms;
      u.eye.value.copy(camera.position);
      u.fog.value.set(...fog.color.clone().convertLinearToSRGB().toArray());
      u.reach.value.set(fog.near, fog.far);
    }
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
    for (const g of this.groups) this.scene.remove(g.faces, ...g.lines);
    for (const p of this.planes) this.scene.remove(p);
    this.head = head;
    this.groups = [];
    this.planes = [];
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
    this.measure(head.bodies, shapes, frames);
    head.bodies.forEach((b, i) => shapes[b.geometry]?.plane && this.addPlane(shapes[b.geometry], i));
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

  private addPlane(shape: Shape, body: number) {
    const normal = shape.plane!.normal.clone().transformDirection(this.matrix(body));
    const at = shape.plane!.normal.clone().multiplyScalar(shape.plane!.offset).applyMatrix4(this.matrix(body));
    const size = 60 * this.radius;
    const material = new THREE.MeshStandardMaterial({ roughness: 0.95, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2 });
    const mesh = new THREE.Mesh(new THREE.PlaneGeometry(size, size), material);
    const foot = this.center.clone().addScaledVector(normal, -normal.dot(this.center.clone().sub(at)));
    const cell = this.cell();
    foot.set(Math.round(foot.x / cell) * cell, Math.round(foot.y / cell) * cell, foot.z);
    foot.addScaledVector(normal, -normal.dot(foot.clone().sub(at)));
    mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
    mesh.position.copy(foot);
    mesh.receiveShadow = true;
    mesh.userData = { body, fine: material, plain: plainFloor() };
    this.planes.push(mesh);
    this.scene.add(mesh);
  }

  // The side of a square of the floor: a round length.
  private cell(): number {
    const decade = 10 ** Math.floor(Math.log10(this.radius / 2));
    const fine = this.radius / 2 / decade;
    return decade * (fine > 5 ? 5 : fine > 2 ? 2 : 1);
  }

  private gridPicture(): HTMLCanvasElement {
    const colors = THEMES[this.theme], canvas = document.createElement("canvas");
    canvas.width = canvas.height = 512;
    const c = canvas.getContext("2d")!;
    c.fillStyle = colors.floor;
    c.fillRect(0, 0, 512, 512);
    c.strokeStyle = colors.grid;
    for (let i = 0; i <= 4; i++) {
      c.lineWidth = i % 4 === 0 ? 4 : 1.5;
      c.globalAlpha = i % 4 === 0 ? 1 : 0.6;
      c.beginPath();
      c.moveTo(i * 128, 0), c.lineTo(i * 128, 512), c.moveTo(0, i * 128), c.lineTo(512, i * 128);
      c.stroke();
    }
    return canvas;
  }
  // A grid for the lit floor, and the same for the plain one, which takes the picture's numbers as they are.
  private paintFloor() {
    const canvas = this.gridPicture(), repeat = (60 * this.radius) / (4 * this.cell()), offset = 0.5 - ((repeat / 2) % 1);
    const fine = new THREE.CanvasTexture(canvas), plain = new THREE.CanvasTexture(canvas);
    for (const texture of [fine, plain]) texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
    fine.anisotropy = this.software ? 1 : 8;
    fine.colorSpace = THREE.SRGBColorSpace;
    fine.repeat.setScalar(repeat);
    fine.offset.setScalar(offset);
    plain.minFilter = THREE.LinearMipmapNearestFilter;
    for (const { userData } of this.planes) {
      userData.fine.map?.dispose();
      (userData.fine.map = fine), (userData.fine.needsUpdate = true);
      const u = (userData.plain as THREE.RawShaderMaterial).uniforms;
      u.grid.value?.dispose();
      (u.grid.value = plain), (u.repeat.value = repeat), (u.offset.value = offset);
    }
  }

  // The box of what is at the given frames, and the balls around it.
  private measure(bodies: Body[], shapes: Shape[], frames: Numbers[]) {
    const box = new THREE.Box3(), n = this.head!.numbers;
    this.balls = [];
    this.radii = bodies.map((b) => shapes[b.geometry]?.radius ?? 0);
    const addAt = (i: number, first: Numbers) => {
      const shape = shapes[bodies[i].geometry];
      if (!shape || shape.plane) return;
      const at = new THREE.Vector3(first[i * n], first[i * n + 1], first[i * n + 2]);
      if (!Number.isFinite(at.x + at.y + at.z)) return;
      box.expandByPoint(at.clone().addScalar(shape.radius)).expandByPoint(at.clone().addScalar(-shape.radius));
      this.balls.push([at, shape.radius]);
    };
    const add = (i: number) => frames.forEach((f) => addAt(i, f));
    bodies.forEach((b, i) => !b.fixed && add(i));
    const moving = box.isEmpty() ? 0 : box.getSize(new THREE.Vector3()).length();
    bodies.forEach((b, i) => {
      const shape = shapes[b.geometry], radius = shape?.radius ?? 0;
      // of what is much larger a table is left out, of which the part under the bodies is enough, and a bowl is not
      if (b.fixed && (moving === 0 || radius < (shape && isFlat(shape) ? 4 : 12) * moving)) add(i);
    });
    if (box.isEmpty()) box.set(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1)), this.balls.push([new THREE.Vector3(), 1]);
    const sizes = bodies.flatMap((b) => (!b.fixed && shapes[b.geometry] ? [shapes[b.geometry].radius] : [])).sort((a, b) => a - b);
    this.bodySize = sizes[sizes.length >> 1] ?? Infinity;
    box.getCenter(this.center);
    this.radius = Math.max(1e-6, box.getSize(new THREE.Vector3()).length() / 2);
  }

  private place() {
    const r = this.radius, camera = this.head?.camera;
    this.camera.near = r / 200;
    this.camera.far = r * 120;
    const sun = new THREE.Vector3(0.55, -0.42, 1.25).multiplyScalar(3.2 * r);
    const light = this.head?.lights?.[0];
    if (light) sun.set(...light.position).sub(this.center).setLength(4 * r);
    if (sun.z < 0.4 * r) sun.z = 3 * r;
    this.sun.position.copy(this.center).add(sun);
    this.sun.target.position.copy(this.center);
    this.fill.position.copy(this.center).add(new THREE.Vector3(-1.2, -1, 0.5).multiplyScalar(2 * r));
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
      this.stepBack();
    } else this.fit();
    this.invalidate();
  }
  // A scene's camera is made for a picture of some shape; in another one, as on a phone, it goes back until it sees what moves.
  private stepBack() {
    const { camera } = this, { target } = this.controls, from = camera.position.clone().sub(target), frustum = new THREE.Frustum();
    const moving = this.head!.bodies.flatMap((b, i) => (b.fixed || this.slotOf[i] < 0 ? [] : [new THREE.Sphere(this.centerOf(i), 0.7 * this.radii[i])]));
    const sees = (ball: THREE.Sphere) => frustum.planes.slice(0, 4).every((p) => p.distanceToPoint(ball.center) >= ball.radius); // the sides
    for (let factor = 1; factor < 4; factor *= 1.08) {
      camera.position.copy(target).addScaledVector(from, factor);
      camera.updateMatrixWorld();
      frustum.setFromProjectionMatrix(new THREE.Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse));
      if (moving.every(sees)) return;
    }
    camera.position.copy(target).add(from); // far more than the scene wants to show
  }

  // Everything in the picture, seen a little from above, or from as far above as is needed to see what moves; what hides it all the same,
  // as the wall of a bowl does, belongs to the picture.
  fit() {
    const known = this.balls.length;
    for (const once of [true, false]) {
      for (const height of HEIGHTS) {
        this.fitFrom(height);
        if (!this.hiding().length) return;
      }
      this.fitFrom(HEIGHTS[0]);
      if (once) for (const body of this.hiding()) this.balls.push([this.centerOf(body), this.radii[body]]);
    }
    if (this.balls.length > known) this.fitFrom(HEIGHTS[2]);
  }
  // Fixed bodies between the eye and the middle of most of what moves.
  private hiding(): number[] {
    const faces = this.groups.filter((g) => !g.shape.inside).map((g) => g.faces), eye = this.camera.position, hiding: number[] = [];
    const moving = this.head!.bodies.flatMap((b, i) => (b.fixed || this.slotOf[i] < 0 ? [] : [i])).slice(0, 12);
    for (const f of faces) f.boundingSphere = null;
    for (const body of moving) {
      const center = this.centerOf(body), way = center.sub(eye), caster = new THREE.Raycaster(eye, way.clone().normalize(), 0, Math.max(0, way.length() - this.radii[body]));
      const hit = caster.intersectObjects<THREE.Object3D>(faces, false).find((h) => this.head!.bodies[this.bodyOf(h)].fixed);
      if (hit) hiding.push(this.bodyOf(hit));
    }
    return 2 * hiding.length > moving.length ? [...new Set(hiding)] : [];
  }
  // In the axes of the camera the balls around the bodies fill the angle of view. The sides of the view are planes through the eye, so
  // each is moved to where it touches the outermost ball.
  private fitFrom(height: number) {
    const back = new THREE.Vector3(0.62, -1, height).normalize(), right = new THREE.Vector3(1, 0.62, 0).normalize(), up = back.clone().cross(right);
    const tanUp = Math.tan((this.camera.fov * Math.PI) / 360) * 0.9, tanRight = tanUp * this.camera.aspect;
    const edge = (axis: THREE.Vector3, tan: number) => {
      let least = Infinity, most = -Infinity;
      const secant = Math.hypot(1, tan);
      for (const [at, radius] of this.balls) {
        const x = at.dot(axis), z = at.dot(back) * tan, r = radius * secant;
        (least = Math.min(least, x - z - r)), (most = Math.max(most, x + z + r));
      }
      return { middle: (most + least) / 2, depth: (most - least) / 2 / tan };
    };
    const h = edge(right, tanRight), v = edge(up, tanUp), eye = new THREE.Vector3();
    eye.addScaledVector(right, h.middle).addScaledVector(up, v.middle).addScaledVector(back, Math.max(h.depth, v.depth));
    this.camera.position.copy(eye);
    this.controls.target.copy(eye).addScaledVector(back, -Math.max(this.radius * 0.2, eye.clone().sub(this.center).dot(back)));
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.invalidate();
  }

  // ---- motion

  // Poses from a frame; with a second one, in between. Nothing is allocated: this runs for each body at each picture.
  pose(a: Numbers, b: Numbers | null = null, part = 0) {
    const head = this.head!, n = head.numbers, poses = this.poses, between = b !== null && part > 0;
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
      const slot = this.slotOf[i];
      if (slot < 0) continue;
      const array = this.arrayOf[i], first = 16 * slot, keep = this.hidden.has(i) ? 0 : 1; // a hidden one has no size
      for (let e = 0; e < 12; e++) array[first + e] = keep * poses[at + e];
      for (let e = 12; e < 16; e++) array[first + e] = poses[at + e];
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
    this.scene.fog = new THREE.Fog(c.background, 7 * this.radius, 26 * this.radius);
    this.sky.color.set(c.sky);
    this.sky.groundColor.set(c.ground);
    this.sky.intensity = name === "dark" ? 1.5 : 1.7;
    this.sun.intensity = name === "dark" ? 2.2 : 1.7;
    this.sun.shadow.intensity = name === "dark" ? 0.65 : 0.9; // the ground under a body is not black
    for (const material of [this.edgeMaterial, this.ballMaterial]) material.color.set(c.edge);
    this.patchMaterial.color.set(c.patch);
    this.edgeMaterial.opacity = c.edgeOpacity;
    if (this.planes.length) this.paintFloor();
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
    for (const p of this.planes) if (p.userData.body === body) p.visible = visible;
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
    const hit = caster.intersectObjects<THREE.Object3D>([...this.groups.filter((g) => !g.shape.inside).map((g) => g.faces), ...this.planes])
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
