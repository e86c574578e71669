// Half-spaces, drawn as wide floors with a grid of squares of a round length: lit, or plain where the processor draws what moves.
import * as THREE from "three";
import type { Extent } from "./extent";
import { plainFloor } from "./plain";
import type { Shape } from "./shapes";
import { THEMES, type ThemeName } from "./themes";

const REACH = 60; // sides of a floor, in radii of what there is to see

// The side of a square: a round length.
function cellOf(radius: number): number {
  const decade = 10 ** Math.floor(Math.log10(radius / 2)), fine = radius / 2 / decade;
  return decade * (fine > 5 ? 5 : fine > 2 ? 2 : 1);
}

function gridPicture(theme: ThemeName): HTMLCanvasElement {
  const colors = THEMES[theme], canvas = document.createElement("canvas");
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

interface Plane {
  mesh: THREE.Mesh;
  body: number;
  fine: THREE.MeshStandardMaterial;
  plain: THREE.RawShaderMaterial;
}

export class Floors {
  private planes: Plane[] = [];

  constructor(private scene: THREE.Scene) {}

  get meshes(): THREE.Mesh[] {
    return this.planes.map((p) => p.mesh);
  }
  clear() {
    for (const { mesh, fine, plain } of this.planes) {
      this.scene.remove(mesh);
      fine.map?.dispose(), plain.uniforms.grid.value?.dispose();
      mesh.geometry.dispose(), fine.dispose(), plain.dispose();
    }
    this.planes = [];
  }
  // The square under what there is to see; the corners of its cells are at round places.
  add(shape: Shape, body: number, pose: THREE.Matrix4, extent: Extent) {
    const normal = shape.plane!.normal.clone().transformDirection(pose), cell = cellOf(extent.radius), size = REACH * extent.radius;
    const at = shape.plane!.normal.clone().multiplyScalar(shape.plane!.offset).applyMatrix4(pose);
    const fine = new THREE.MeshStandardMaterial({ roughness: 0.95, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2 });
    const mesh = new THREE.Mesh(new THREE.PlaneGeometry(size, size), fine);
    const foot = extent.center.clone().addScaledVector(normal, -normal.dot(extent.center.clone().sub(at)));
    foot.set(Math.round(foot.x / cell) * cell, Math.round(foot.y / cell) * cell, foot.z);
    foot.addScaledVector(normal, -normal.dot(foot.clone().sub(at)));
    mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
    mesh.position.copy(foot);
    mesh.receiveShadow = true;
    mesh.userData.body = body;
    this.planes.push({ mesh, body, fine, plain: plainFloor() });
    this.scene.add(mesh);
  }
  // A grid for the lit floor, and the same for the plain one, which takes the picture's numbers as they are.
  paint(theme: ThemeName, radius: number, anisotropy: number) {
    if (!this.planes.length) return;
    const canvas = gridPicture(theme), repeat = (REACH * radius) / (4 * cellOf(radius)), offset = 0.5 - ((repeat / 2) % 1);
    const fine = new THREE.CanvasTexture(canvas), plain = new THREE.CanvasTexture(canvas);
    for (const texture of [fine, plain]) texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
    fine.anisotropy = anisotropy;
    fine.colorSpace = THREE.SRGBColorSpace;
    fine.repeat.setScalar(repeat);
    fine.offset.setScalar(offset);
    plain.minFilter = THREE.LinearMipmapNearestFilter;
    for (const p of this.planes) {
      p.fine.map?.dispose();
      (p.fine.map = fine), (p.fine.needsUpdate = true);
      const u = p.plain.uniforms;
      u.grid.value?.dispose();
      (u.grid.value = plain), (u.repeat.value = repeat), (u.offset.value = offset);
    }
  }
  setPlain(on: boolean) {
    for (const p of this.planes) p.mesh.material = on ? p.plain : p.fine;
  }
  setVisible(body: number, visible: boolean) {
    for (const p of this.planes) if (p.body === body) p.mesh.visible = visible;
  }
  // The plain ones are told where the eye is and where the fog is.
  look(eye: THREE.Vector3, fog: THREE.Fog) {
    const color = fog.color.clone().convertLinearToSRGB().toArray();
    for (const { plain } of this.planes) {
      plain.uniforms.eye.value.copy(eye);
      plain.uniforms.fog.value.set(...color);
      plain.uniforms.reach.value.set(fog.near, fog.far);
    }
  }
}
