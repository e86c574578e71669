// The bodies in space: instances of their shapes, light and shadow, the camera, and what is under the pointer.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { isDefaultColor, type Body, type Head, type Numbers } from "./data";
import { makeShapes, type Shape } from "./shapes";

const PALETTE = ["#e0803c", "#4f8fd0", "#5fa968", "#c65b66", "#8d78c9", "#d9b13b", "#4bb0ae", "#c97bb0", "#8c9a3e", "#7f8ea3"];
const THEMES = {
  light: { background: "#eef1f4", floor: "#dfe4e9", grid: "#b9c3cd", fixed: "#aab4bf", edge: "#1d2833", edgeOpacity: 0.75, sky: "#ffffff", ground: "#b8c0c8" },
  dark: { background: "#171d24", floor: "#20272f", grid: "#38434f", fixed: "#6d7b8a", edge: "#05080b", edgeOpacity: 0.85, sky: "#c9d8ea", ground: "#49525e" },
};
export type ThemeName = keyof typeof THEMES;

// Instances of one shape: faces and lines share the matrices.
interface Group {
  shape: Shape;
  bodies: number[];
  faces: THREE.InstancedMesh;
  lines: THREE.LineSegments[];
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

// Whether the processor draws.
function isSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) throw new Error("this browser has no WebGL 2; without it there is no picture");
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}

export class Stage {
  private readonly slow = isSoftware();
  private fine = true;
  private shadows = true;
  private edges = true;
  private patches = false;
  private movedAt = 0;
  readonly renderer: THREE.WebGLRenderer;
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(38, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  head: Head | null = null;
  radius = 1; // of what there is to see
  center = new THREE.Vector3();
  followed = -1;
  drawn = 0; // frames rendered
  private groups: Group[] = [];
  private planes: THREE.Mesh[] = [];
  private placeOf: { group: Group; index: number }[] = [];
  private matrices: THREE.Matrix4[] = [];
  private hidden = new Set<number>();
  private selected = -1;
  private hovered = -1;
  private theme: ThemeName = "light";
  private sun = new THREE.DirectionalLight("#ffffff", 2.6);
  private fill = new THREE.DirectionalLight("#ffffff", 0.7);
  private sky = new THREE.HemisphereLight("#ffffff", "#b8c0c8", 1.1);
  private edgeMaterial = new THREE.LineBasicMaterial({ transparent: true });
  private patchMaterial = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.55 });
  private ballMaterial = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.28 });
  private faceMaterial = new THREE.MeshStandardMaterial({ roughness: 0.62, metalness: 0.02, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
  private openMaterial = Object.assign(this.faceMaterial.clone(), { side: THREE.DoubleSide });
  private insideMaterial = new THREE.MeshStandardMaterial({ roughness: 0.9, side: THREE.BackSide, transparent: true, opacity: 0.35, depthWrite: false });
  private dirty = true;
  private lastFollowed = new THREE.Vector3();

  constructor(private container: HTMLElement) {
    this.renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    container.append(this.renderer.domElement);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.18;
    this.controls.addEventListener("change", () => this.invalidate());
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 3;
    this.scene.add(this.sun, this.sun.target, this.fill, this.sky);
    new ResizeObserver(() => this.resize()).observe(container);
    this.resize();
  }

  // Drawn by the processor, what moves is drawn plainly: no shadows, and of many bodies no edges and fewer pixels; what rests gets all.
  private setFine(fine: boolean) {
    if (fine === this.fine) return;
    this.fine = fine;
    this.sun.castShadow = this.shadows && fine;
    const many = this.head!.bodies.length > 300;
    for (const g of this.groups) for (const l of g.lines) l.visible = (fine || !many) && (l.name === "patches" ? this.patches : this.edges);
    this.resize();
  }

  invalidate() {
    this.dirty = true;
  }

  private resize() {
    const w = Math.max(1, this.container.clientWidth), h = Math.max(1, this.container.clientHeight);
    const many = (this.head?.bodies.length ?? 0) > 300;
    this.renderer.setPixelRatio(!this.slow ? Math.min(devicePixelRatio, 2) : this.fine || !many ? 1 : 0.55);
    this.renderer.setSize(w, h);
    this.camera.aspect = w / h;
    this.camera.updateProjectionMatrix();
    this.invalidate();
  }

  // Draws when something has changed; true when it did.
  render(): boolean {
    this.controls.update();
    if (this.slow && !this.fine && performance.now() - this.movedAt > 700) this.setFine(true);
    if (!this.dirty) return false;
    this.dirty = false;
    this.renderer.render(this.scene, this.camera);
    this.drawn++;
    return true;
  }

  // ---- bodies

  load(head: Head, geometry: ArrayBuffer, first: Numbers) {
    for (const g of this.groups) this.scene.remove(g.faces, ...g.lines);
    for (const p of this.planes) this.scene.remove(p);
    this.head = head;
    this.groups = [];
    this.planes = [];
    this.placeOf = [];
    this.hidden.clear();
    this.selected = this.hovered = -1;
    const shapes = makeShapes(head, geometry);
    shapes.forEach((shape, id) => {
      const bodies = head.bodies.flatMap((b, i) => (b.geometry === id ? [i] : []));
      if (bodies.length && !shape.plane) this.addGroup(shape, bodies);
    });
    this.matrices = head.bodies.map(() => new THREE.Matrix4());
    this.pose(first);
    this.measure(head.bodies, shapes, first);
    head.bodies.forEach((b, i) => shapes[b.geometry]?.plane && this.addPlane(shapes[b.geometry], i));
    this.renderer.shadowMap.needsUpdate = true;
    const side = head.bodies.length > 300 || this.slow ? 1024 : 2048;
    this.sun.shadow.mapSize.set(side, side);
    this.sun.shadow.map?.dispose();
    this.sun.shadow.map = null;
    this.setTheme(this.theme);
    this.place();
  }

  private addGroup(shape: Shape, bodies: number[]) {
    const faces = new THREE.InstancedMesh(shape.faces, shape.inside ? this.insideMaterial : shape.open ? this.openMaterial : this.faceMaterial, bodies.length);
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
    const group = { shape, bodies, faces, lines };
    bodies.forEach((b, index) => (this.placeOf[b] = { group, index }));
    this.groups.push(group);
    this.scene.add(faces, ...lines);
  }

  private addPlane(shape: Shape, body: number) {
    const normal = shape.plane!.normal.clone().transformDirection(this.matrices[body]);
    const at = shape.plane!.normal.clone().multiplyScalar(shape.plane!.offset).applyMatrix4(this.matrices[body]);
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
    mesh.userData.body = body;
    this.planes.push(mesh);
    this.scene.add(mesh);
  }

  // The side of a square of the floor: a round length.
  private cell(): number {
    const decade = 10 ** Math.floor(Math.log10(this.radius / 2));
    const fine = this.radius / 2 / decade;
    return decade * (fine > 5 ? 5 : fine > 2 ? 2 : 1);
  }

  private gridTexture(): THREE.Texture {
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
    const texture = new THREE.CanvasTexture(canvas);
    texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
    texture.anisotropy = 8;
    texture.colorSpace = THREE.SRGBColorSpace;
    texture.repeat.setScalar((60 * this.radius) / (4 * this.cell()));
    texture.offset.setScalar(0.5 - ((60 * this.radius) / (4 * this.cell()) / 2) % 1);
    return texture;
  }

  private measure(bodies: Body[], shapes: Shape[], first: Numbers) {
    const box = new THREE.Box3(), n = this.head!.numbers;
    const add = (i: number) => {
      const shape = shapes[bodies[i].geometry];
      if (!shape || shape.plane) return;
      const at = new THREE.Vector3(first[i * n], first[i * n + 1], first[i * n + 2]);
      if (!Number.isFinite(at.x + at.y + at.z)) return;
      box.expandByPoint(at.clone().addScalar(shape.radius)).expandByPoint(at.clone().addScalar(-shape.radius));
    };
    bodies.forEach((b, i) => !b.fixed && add(i));
    const moving = box.isEmpty() ? 0 : box.getSize(new THREE.Vector3()).length();
    bodies.forEach((b, i) => {
      const radius = shapes[b.geometry]?.radius ?? 0;
      if (b.fixed && (moving === 0 || radius < 4 * moving)) add(i);
    });
    if (box.isEmpty()) box.set(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1));
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
    } else this.fit();
    this.invalidate();
  }

  // Everything in the picture, seen a little from above.
  fit() {
    const half = (this.camera.fov * Math.PI) / 360, across = Math.atan(Math.tan(half) * this.camera.aspect);
    const distance = (0.87 * this.radius) / Math.sin(Math.min(half, across));
    this.controls.target.copy(this.center);
    this.camera.position.copy(this.center).add(new THREE.Vector3(0.62, -1, 0.48).setLength(distance));
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.invalidate();
  }

  // ---- motion

  // Poses from a frame; with a second one, in between.
  pose(a: Numbers, b: Numbers | null = null, part = 0) {
    const head = this.head!, n = head.numbers;
    const at = new THREE.Vector3(), q = new THREE.Quaternion(), p = new THREE.Quaternion(), one = new THREE.Vector3(1, 1, 1);
    const nothing = new THREE.Vector3(0, 0, 0), offset = new THREE.Vector3(), m = new THREE.Matrix4();
    for (let i = 0; i < head.bodies.length; i++) {
      const k = i * n;
      at.set(a[k], a[k + 1], a[k + 2]);
      q.set(a[k + 4], a[k + 5], a[k + 6], a[k + 3]);
      if (b && part > 0) {
        at.lerp(offset.set(b[k], b[k + 1], b[k + 2]), part);
        q.slerp(p.set(b[k + 4], b[k + 5], b[k + 6], b[k + 3]), part);
      }
      offset.set(...head.bodies[i].center).applyQuaternion(q);
      this.matrices[i].compose(at.sub(offset), q, one);
      const place = this.placeOf[i];
      if (place) place.group.faces.setMatrixAt(place.index, this.hidden.has(i) ? m.compose(at, q, nothing) : this.matrices[i]);
    }
    for (const g of this.groups) g.faces.instanceMatrix.needsUpdate = true;
    const now = performance.now();
    if (this.slow && now - this.movedAt < 1500) this.setFine(false);
    this.movedAt = now;
    this.followOn();
    this.invalidate();
  }

  matrix(body: number): THREE.Matrix4 {
    return this.matrices[body];
  }
  centerOf(body: number): THREE.Vector3 {
    return new THREE.Vector3(...this.head!.bodies[body].center).applyMatrix4(this.matrices[body]);
  }

  follow(body: number) {
    this.followed = body;
    if (body >= 0) this.lastFollowed.copy(this.centerOf(body));
  }
  private followOn() {
    if (this.followed < 0 || this.followed >= this.matrices.length) return;
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
    this.sky.intensity = name === "dark" ? 1.9 : 1.7;
    this.sun.intensity = name === "dark" ? 2.6 : 2.1;
    for (const material of [this.edgeMaterial, this.patchMaterial, this.ballMaterial]) material.color.set(c.edge);
    this.edgeMaterial.opacity = c.edgeOpacity;
    const texture = this.planes.length ? this.gridTexture() : null;
    for (const plane of this.planes) {
      (plane.material as THREE.MeshStandardMaterial).map = texture;
      (plane.material as THREE.MeshStandardMaterial).needsUpdate = true;
    }
    this.recolor();
  }

  colorOf(body: number): THREE.Color {
    const b = this.head!.bodies[body];
    if (!isDefaultColor(b.color)) return new THREE.Color().setRGB(b.color[0], b.color[1], b.color[2], THREE.SRGBColorSpace);
    if (b.fixed) return new THREE.Color(THEMES[this.theme].fixed);
    return new THREE.Color(PALETTE[body % PALETTE.length]);
  }

  private recolor() {
    for (const g of this.groups) {
      g.bodies.forEach((b, index) => {
        const color = this.colorOf(b);
        if (b === this.selected) color.lerp(new THREE.Color("#fff2b0"), 0.45);
        else if (b === this.hovered) color.lerp(new THREE.Color("#ffffff"), 0.2);
        g.faces.setColorAt(index, color);
      });
      if (g.faces.instanceColor) g.faces.instanceColor.needsUpdate = true;
    }
    this.invalidate();
  }

  select(body: number) {
    this.selected = body;
    this.recolor();
  }
  hover(body: number) {
    if (body === this.hovered) return;
    this.hovered = body;
    this.recolor();
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
  setEdges(on: boolean) {
    this.edges = on;
    for (const g of this.groups) for (const l of g.lines) if (l.name !== "patches") l.visible = on;
    this.invalidate();
  }
  setPatches(on: boolean) {
    this.patches = on;
    for (const g of this.groups) for (const l of g.lines) if (l.name === "patches") l.visible = on;
    this.invalidate();
  }
  get hasPatches(): boolean {
    return this.groups.some((g) => g.shape.patches);
  }
  setWireframe(on: boolean) {
    for (const material of [this.faceMaterial, this.openMaterial]) material.wireframe = on;
    this.invalidate();
  }
  setTranslucent(on: boolean) {
    for (const material of [this.faceMaterial, this.openMaterial]) {
      material.transparent = on;
      material.opacity = on ? 0.35 : 1;
      material.depthWrite = !on;
      material.needsUpdate = true;
    }
    this.invalidate();
  }
  setShadows(on: boolean) {
    this.shadows = on;
    this.sun.castShadow = on && this.fine;
    this.invalidate();
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
      .find((h) => h.object.visible && (h.object.userData.body !== undefined || !this.hidden.has(this.bodyOf(h))));
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
    this.setFine(true);
    this.renderer.render(this.scene, this.camera);
    return this.renderer.domElement.toDataURL("image/png");
  }
}
