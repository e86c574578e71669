// All bodies as one mesh, moved, lit, coloured and sorted out here and not by the driver: for what moves where the processor draws.
// Software GL begins anew for each instance, some 40 microseconds, and takes half a microsecond a triangle.  So of a thousand bodies
// only the faces that look at the eye are sent, as one mesh, and small balls as one point each, which its own shader makes round.
import * as THREE from "three";
import { PlainModel } from "./plainmodel";
import type { Shape } from "./shapes";

const CORNERS_MOST = 400000;
const BALL_PIXELS_MOST = 60; // larger balls are meshes: points vanish when their middle leaves the picture
const FOG = `
uniform vec3 eye, fog;
uniform vec2 reach; // of the fog
float lost(vec3 at) { return clamp((distance(at, eye) - reach.x) / (reach.y - reach.x), 0.0, 1.0); }`;
const FACES_VERTEX = `
uniform mat4 viewProjection;
${FOG}
in vec3 position, shade;
out vec3 tint;
void main() {
  tint = mix(shade, fog, lost(position));
  gl_Position = viewProjection * vec4(position, 1.0);
}`;
const FACES_FRAGMENT = `
precision mediump float;
uniform float opacity;
in vec3 tint;
out vec4 color;
void main() { color = vec4(tint, opacity); }`;
const BALLS_VERTEX = `
uniform mat4 viewProjection;
uniform float pixels; // of a metre at the distance one
${FOG}
in vec4 position; // and radius
in vec3 shade;
out vec3 base;
out float mist;
void main() {
  base = shade;
  mist = lost(position.xyz);
  gl_Position = viewProjection * vec4(position.xyz, 1.0);
  gl_PointSize = 2.0 * position.w * pixels / gl_Position.w;
}`;
const BALLS_FRAGMENT = `
precision mediump float;
uniform float opacity;
uniform vec3 fog, sun, fill, up; // in the camera's axes; how bright
uniform vec2 sky; // from below, from above
in vec3 base;
in float mist;
out vec4 color;
void main() {
  vec2 at = 2.0 * gl_PointCoord - 1.0;
  float rest = 1.0 - dot(at, at);
  if (rest < 0.0) discard;
  vec3 n = vec3(at.x, -at.y, sqrt(rest));
  float light = mix(sky.x, sky.y, 0.5 + 0.5 * dot(n, up)) + max(0.0, dot(n, sun)) + max(0.0, dot(n, fill));
  color = vec4(mix(pow(min(vec3(1.0), base * light), vec3(1.0 / 2.2)), fog, mist), opacity);
}`;

export interface Light {
  sun: THREE.DirectionalLight;
  fill: THREE.DirectionalLight;
  sky: THREE.HemisphereLight;
}

// Linear light to the numbers of a picture.
const SRGB = Uint8Array.from({ length: 1025 }, (_, i) => Math.round(255 * Math.min(1, (i / 1024) ** (1 / 2.2))));

const changing = (array: Float32Array | Uint8Array | Uint32Array, size: number, normalized = false) =>
  new THREE.BufferAttribute(array, size, normalized).setUsage(THREE.DynamicDrawUsage);
function sent(attribute: THREE.BufferAttribute, count: number) {
  attribute.clearUpdateRanges();
  if (count) attribute.addUpdateRange(0, count), (attribute.needsUpdate = true);
}

export class PlainMesh {
  readonly object = new THREE.Group();
  readonly drawn = { triangles: 0, balls: 0 };
  private readonly parts: { body: number; model: PlainModel }[] = [];
  private readonly faces: THREE.Mesh<THREE.BufferGeometry, THREE.RawShaderMaterial>;
  private readonly balls: THREE.Points<THREE.BufferGeometry, THREE.RawShaderMaterial>;
  private readonly at: THREE.BufferAttribute;
  private readonly shade: THREE.BufferAttribute;
  private readonly index: THREE.BufferAttribute;
  private readonly ballAt: THREE.BufferAttribute;
  private readonly ballShade: THREE.BufferAttribute;
  private readonly frustum = new THREE.Frustum();
  private corners = 0; // so far, of this picture
  private triangles = 0;
  private count = 0; // of balls

  // Null: too many corners to move here.
  static make(groups: { shape: Shape; bodies: number[] }[]): PlainMesh | null {
    const models = groups.map((g) => new PlainModel(g.shape));
    const corners = groups.reduce((sum, g, i) => sum + g.bodies.length * (models[i].points.length / 3), 0);
    return corners > 0 && corners <= CORNERS_MOST ? new PlainMesh(groups.map((g, i) => ({ model: models[i], bodies: g.bodies })), corners) : null;
  }
  private constructor(groups: { model: PlainModel; bodies: number[] }[], corners: number) {
    for (const { model, bodies } of groups) for (const body of bodies) this.parts.push({ body, model });
    const open = groups.some((g) => g.model.open), triangles = groups.reduce((sum, g) => sum + g.bodies.length * g.model.triangles.length, 0);
    const uniforms = { // shared: both are drawn from one eye
      viewProjection: { value: new THREE.Matrix4() }, eye: { value: new THREE.Vector3() }, fog: { value: new THREE.Vector3() },
      reach: { value: new THREE.Vector2() }, opacity: { value: 1 }, pixels: { value: 1 }, sun: { value: new THREE.Vector3() },
      fill: { value: new THREE.Vector3() }, up: { value: new THREE.Vector3() }, sky: { value: new THREE.Vector2() },
    };
    const material = (vertexShader: string, fragmentShader: string) =>
      new THREE.RawShaderMaterial({ glslVersion: THREE.GLSL3, vertexShader, fragmentShader, uniforms, side: open ? THREE.DoubleSide : THREE.FrontSide });
    this.at = changing(new Float32Array(3 * corners), 3);
    this.shade = changing(new Uint8Array(4 * corners), 4, true);
    this.index = changing(new Uint32Array(triangles), 1);
    this.ballAt = changing(new Float32Array(4 * this.parts.length), 4);
    this.ballShade = changing(new Float32Array(3 * this.parts.length), 3);
    const faces = new THREE.BufferGeometry().setIndex(this.index).setAttribute("position", this.at).setAttribute("shade", this.shade);
    const balls = new THREE.BufferGeometry().setAttribute("position", this.ballAt).setAttribute("shade", this.ballShade);
    this.faces = new THREE.Mesh(faces, material(FACES_VERTEX, FACES_FRAGMENT));
    this.balls = new THREE.Points(balls, material(BALLS_VERTEX, BALLS_FRAGMENT));
    for (const part of [this.faces, this.balls]) (part.frustumCulled = false), (part.raycast = () => undefined), this.object.add(part);
  }
  setOpacity(opacity: number) {
    for (const { material } of [this.faces, this.balls]) {
      Object.assign(material, { transparent: opacity < 1, depthWrite: opacity === 1 });
      material.uniforms.opacity.value = opacity;
    }
  }

  // What the camera sees of the bodies as they are now; `height` in pixels.
  look(poses: Float64Array, colors: Float32Array, hidden: Set<number>, light: Light, camera: THREE.PerspectiveCamera, fog: THREE.Fog, height: number) {
    const u = this.faces.material.uniforms, { sun, fill, sky } = light, toView = camera.matrixWorldInverse, v = u.viewProjection.value as THREE.Matrix4;
    this.frustum.setFromProjectionMatrix(v.multiplyMatrices(camera.projectionMatrix, toView));
    u.eye.value.copy(camera.position);
    u.fog.value.set(...fog.color.clone().convertLinearToSRGB().toArray());
    u.reach.value.set(fog.near, fog.far);
    const s = sun.position.clone().sub(sun.target.position).setLength(sun.intensity / Math.PI), f = fill.position.clone().setLength(fill.intensity / Math.PI);
    const low = (sky.groundColor.g * sky.intensity) / Math.PI, high = (sky.color.g * sky.intensity) / Math.PI;
    const turned = (a: THREE.Vector3, b: THREE.Vector3) => a.copy(b).transformDirection(toView).multiplyScalar(b.length());
    turned(u.sun.value, s), turned(u.fill.value, f), turned(u.up.value, new THREE.Vector3(0, 0, 1));
    u.sky.value.set(low, high);
    const pixels = (u.pixels.value = (0.5 * height) / Math.tan((camera.fov * Math.PI) / 360)), eye = camera.position, m = toView.elements;
    this.corners = this.triangles = this.count = 0;
    for (const { body, model } of this.parts) {
      const p = 16 * body, x = poses[p + 12], y = poses[p + 13], z = poses[p + 14];
      if (hidden.has(body) || !this.sees(x, y, z, model.radius)) continue;
      const depth = -(m[2] * x + m[6] * y + m[10] * z + m[14]);
      if (model.ball && 2 * model.radius * pixels < BALL_PIXELS_MOST * depth) this.addBall(body, x, y, z, model.radius, colors);
      else this.addFaces(body, model, poses, colors, eye, s, f, low, high);
    }
    this.send();
  }
  private sees(x: number, y: number, z: number, radius: number): boolean {
    for (const { normal, constant } of this.frustum.planes) if (normal.x * x + normal.y * y + normal.z * z + constant < -radius) return false;
    return true;
  }
  private send() {
    sent(this.at, 3 * this.corners), sent(this.shade, 4 * this.corners), sent(this.index, this.triangles);
    sent(this.ballAt, 4 * this.count), sent(this.ballShade, 3 * this.count);
    this.faces.geometry.setDrawRange(0, this.triangles);
    this.balls.geometry.setDrawRange(0, this.count);
    this.faces.visible = this.triangles > 0;
    this.balls.visible = this.count > 0;
    this.drawn.triangles = this.triangles / 3;
    this.drawn.balls = this.count;
  }
  private addBall(body: number, x: number, y: number, z: number, radius: number, colors: Float32Array) {
    const at = this.ballAt.array, shade = this.ballShade.array, i = 4 * this.count, c = 3 * this.count++;
    (at[i] = x), (at[i + 1] = y), (at[i + 2] = z), (at[i + 3] = radius);
    for (let k = 0; k < 3; k++) shade[c + k] = colors[3 * body + k];
  }
  private addFaces(body: number, model: PlainModel, poses: Float64Array, colors: Float32Array, eye: THREE.Vector3, s: THREE.Vector3, f: THREE.Vector3, low: number, high: number) {
    const out = this.at.array as Float32Array, shade = this.shade.array as Uint8Array, index = this.index.array as Uint32Array;
    const { planes, points, normals, triangles, cornerFrom, triangleFrom, faces, open } = model, m = 16 * body;
    const red = 1024 * colors[3 * body], green = 1024 * colors[3 * body + 1], blue = 1024 * colors[3 * body + 2];
    const xx = poses[m], yx = poses[m + 1], zx = poses[m + 2], xy = poses[m + 4], yy = poses[m + 5], zy = poses[m + 6];
    const xz = poses[m + 8], yz = poses[m + 9], zz = poses[m + 10], x = poses[m + 12], y = poses[m + 13], z = poses[m + 14];
    // the eye and the lights in shape axes
    const ex = eye.x - x, ey = eye.y - y, ez = eye.z - z, lx = ex * xx + ey * yx + ez * zx, ly = ex * xy + ey * yy + ez * zy, lz = ex * xz + ey * yz + ez * zz;
    const sx = s.x * xx + s.y * yx + s.z * zx, sy = s.x * xy + s.y * yy + s.z * zy, sz = s.x * xz + s.y * yz + s.z * zz;
    const fx = f.x * xx + f.y * yx + f.z * zx, fy = f.x * xy + f.y * yy + f.z * zy, fz = f.x * xz + f.y * yz + f.z * zz;
    let corner = this.corners, at = this.triangles;
    for (let face = 0; face < faces; face++) {
      const p = 4 * face;
      if (!open && planes[p] * lx + planes[p + 1] * ly + planes[p + 2] * lz <= planes[p + 3]) continue;
      for (let t = triangleFrom[face], end = triangleFrom[face + 1]; t < end; t++) index[at++] = corner + triangles[t];
      for (let k = 3 * cornerFrom[face], end = 3 * cornerFrom[face + 1], i = 3 * corner, c = 4 * corner; k < end; k += 3, i += 3, c += 4) {
        const px = points[k], py = points[k + 1], pz = points[k + 2], nx = normals[k], ny = normals[k + 1], nz = normals[k + 2];
        out[i] = x + xx * px + xy * py + xz * pz;
        out[i + 1] = y + yx * px + yy * py + yz * pz;
        out[i + 2] = z + zx * px + zy * py + zz * pz;
        const up = 0.5 + 0.5 * (zx * nx + zy * ny + zz * nz), a = sx * nx + sy * ny + sz * nz, b = fx * nx + fy * ny + fz * nz;
        const light = low + (high - low) * up + (a > 0 ? a : 0) + (b > 0 ? b : 0);
        shade[c] = SRGB[Math.min(1024, (red * light) | 0)];
        shade[c + 1] = SRGB[Math.min(1024, (green * light) | 0)];
        shade[c + 2] = SRGB[Math.min(1024, (blue * light) | 0)];
      }
      corner += cornerFrom[face + 1] - cornerFrom[face];
    }
    (this.corners = corner), (this.triangles = at);
  }
  dispose() {
    for (const { geometry, material } of [this.faces, this.balls]) geometry.dispose(), material.dispose();
  }
}

// The floor without light and shadow: its texture as it is, and fog.
export function plainFloor(): THREE.RawShaderMaterial {
  return new THREE.RawShaderMaterial({
    glslVersion: THREE.GLSL3, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2,
    uniforms: { grid: { value: null }, repeat: { value: 1 }, offset: { value: 0 }, eye: { value: new THREE.Vector3() }, fog: { value: new THREE.Vector3() }, reach: { value: new THREE.Vector2(1, 2) } },
    vertexShader: `
uniform mat4 modelMatrix, viewMatrix, projectionMatrix;
uniform float repeat, offset;
in vec3 position;
in vec2 uv;
out vec2 place;
out vec3 at;
void main() {
  place = repeat * uv + offset;
  at = (modelMatrix * vec4(position, 1.0)).xyz;
  gl_Position = projectionMatrix * viewMatrix * vec4(at, 1.0);
}`,
    fragmentShader: `
precision highp float;
uniform sampler2D grid;
${FOG}
in vec2 place;
in vec3 at;
out vec4 color;
void main() { color = vec4(mix(texture(grid, place).rgb, fog, lost(at)), 1.0); }`,
  });
}
