// All bodies as one mesh, moved, lit and coloured here and not by the shader: for what moves where the processor draws.  Software GL
// begins anew for each instance, some 40 microseconds; a thousand bodies as one mesh of 40,000 corners take 3 ms here, and as long there.
import * as THREE from "three";
import type { Shape } from "./shapes";

const CORNERS_MOST = 400000;
const VERTEX = `
uniform mat4 viewProjection;
uniform vec3 eye, fog;
uniform vec2 reach; // of the fog
in vec3 position, shade;
out vec3 tint;
void main() {
  tint = mix(shade, fog, clamp((distance(position, eye) - reach.x) / (reach.y - reach.x), 0.0, 1.0));
  gl_Position = viewProjection * vec4(position, 1.0);
}`;
const FRAGMENT = `
precision mediump float;
uniform float opacity;
in vec3 tint;
out vec4 color;
void main() { color = vec4(tint, opacity); }`;

export interface Light {
  sun: THREE.DirectionalLight;
  fill: THREE.DirectionalLight;
  sky: THREE.HemisphereLight;
  fog: THREE.Fog;
}

// Linear light to the numbers of a picture.
const SRGB = Uint8Array.from({ length: 1025 }, (_, i) => Math.round(255 * Math.min(1, (i / 1024) ** (1 / 2.2))));

export class PlainMesh {
  readonly mesh: THREE.Mesh;
  readonly material: THREE.RawShaderMaterial;
  private readonly local: Float32Array; // corners in shape axes, and their normals
  private readonly normals: Float32Array;
  private readonly at: THREE.BufferAttribute;
  private readonly shade: THREE.BufferAttribute;
  private readonly parts: { body: number; first: number; count: number }[] = [];

  // Null: too many corners to move here.
  static make(groups: { shape: Shape; bodies: number[] }[]): PlainMesh | null {
    const corners = groups.reduce((sum, g) => sum + g.bodies.length * g.shape.plain.getAttribute("position").count, 0);
    return corners > 0 && corners <= CORNERS_MOST ? new PlainMesh(groups, corners) : null;
  }
  private constructor(groups: { shape: Shape; bodies: number[] }[], corners: number) {
    this.local = new Float32Array(3 * corners);
    this.normals = new Float32Array(3 * corners);
    const index: number[] = [];
    let first = 0;
    for (const { shape, bodies } of groups) {
      const p = shape.plain.getAttribute("position"), n = shape.plain.getAttribute("normal"), own = shape.plain.getIndex();
      for (const body of bodies) {
        this.local.set(p.array, 3 * first);
        this.normals.set(n.array, 3 * first);
        if (own) for (let i = 0; i < own.count; i++) index.push(first + own.getX(i));
        else for (let i = 0; i < p.count; i++) index.push(first + i);
        this.parts.push({ body, first, count: p.count });
        first += p.count;
      }
    }
    this.at = new THREE.BufferAttribute(new Float32Array(3 * corners), 3).setUsage(THREE.DynamicDrawUsage);
    this.shade = new THREE.BufferAttribute(new Uint8Array(4 * corners), 4, true).setUsage(THREE.DynamicDrawUsage);
    const geometry = new THREE.BufferGeometry();
    geometry.setIndex(index).setAttribute("position", this.at).setAttribute("shade", this.shade);
    this.material = new THREE.RawShaderMaterial({
      glslVersion: THREE.GLSL3, vertexShader: VERTEX, fragmentShader: FRAGMENT, side: groups.some((g) => g.shape.open) ? THREE.DoubleSide : THREE.FrontSide,
      uniforms: {
        viewProjection: { value: new THREE.Matrix4() }, eye: { value: new THREE.Vector3() }, fog: { value: new THREE.Vector3() },
        reach: { value: new THREE.Vector2() }, opacity: { value: 1 },
      },
    });
    this.mesh = new THREE.Mesh(geometry, this.material);
    this.mesh.frustumCulled = false;
    this.mesh.raycast = () => undefined;
  }

  // The corners and colours of the bodies as they are now.
  move(poses: Float64Array, colors: Float32Array, hidden: Set<number>, { sun, fill, sky }: Light) {
    const out = this.at.array as Float32Array, shade = this.shade.array as Uint8Array, { local, normals } = this;
    const s = sun.position.clone().sub(sun.target.position).setLength(sun.intensity / Math.PI), f = fill.position.clone().setLength(fill.intensity / Math.PI);
    const low = (sky.groundColor.g * sky.intensity) / Math.PI, high = (sky.color.g * sky.intensity) / Math.PI;
    for (const { body, first, count } of this.parts) {
      const m = 16 * body, keep = hidden.has(body) ? 0 : 1, red = 1024 * colors[3 * body], green = 1024 * colors[3 * body + 1], blue = 1024 * colors[3 * body + 2];
      const xx = poses[m] * keep, yx = poses[m + 1] * keep, zx = poses[m + 2] * keep, xy = poses[m + 4] * keep, yy = poses[m + 5] * keep, zy = poses[m + 6] * keep;
      const xz = poses[m + 8] * keep, yz = poses[m + 9] * keep, zz = poses[m + 10] * keep, x = poses[m + 12], y = poses[m + 13], z = poses[m + 14];
      // the lights in shape axes
      const sx = s.x * xx + s.y * yx + s.z * zx, sy = s.x * xy + s.y * yy + s.z * zy, sz = s.x * xz + s.y * yz + s.z * zz;
      const fx = f.x * xx + f.y * yx + f.z * zx, fy = f.x * xy + f.y * yy + f.z * zy, fz = f.x * xz + f.y * yz + f.z * zz;
      for (let i = 3 * first, c = 4 * first, end = 3 * (first + count); i < end; i += 3, c += 4) {
        const px = local[i], py = local[i + 1], pz = local[i + 2], nx = normals[i], ny = normals[i + 1], nz = normals[i + 2];
        out[i] = x + xx * px + xy * py + xz * pz;
        out[i + 1] = y + yx * px + yy * py + yz * pz;
        out[i + 2] = z + zx * px + zy * py + zz * pz;
        const up = 0.5 + 0.5 * (zx * nx + zy * ny + zz * nz), a = sx * nx + sy * ny + sz * nz, b = fx * nx + fy * ny + fz * nz;
        const light = low + (high - low) * up + (a > 0 ? a : 0) + (b > 0 ? b : 0);
        shade[c] = SRGB[Math.min(1024, (red * light) | 0)];
        shade[c + 1] = SRGB[Math.min(1024, (green * light) | 0)];
        shade[c + 2] = SRGB[Math.min(1024, (blue * light) | 0)];
      }
    }
    this.at.needsUpdate = this.shade.needsUpdate = true;
  }
  // Before each picture.
  look(camera: THREE.Camera, fog: THREE.Fog) {
    const u = this.material.uniforms, color = fog.color.clone().convertLinearToSRGB();
    u.viewProjection.value.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
    u.eye.value.copy(camera.position);
    u.fog.value.set(color.r, color.g, color.b);
    u.reach.value.set(fog.near, fog.far);
  }
  dispose() {
    this.mesh.geometry.dispose();
    this.material.dispose();
  }
}
