// The blocks of PROTOCOL.md as types, and how their bytes are read.

export type Vec = [number, number, number];
export type Numbers = Float32Array | Float64Array;
export type Place = [offset: number, count: number];

export interface Body {
  name: string;
  shape: string;
  mass: number | null;
  fixed: boolean;
  center: Vec;
  color: [number, number, number, number];
  geometry: number;
}

export interface Geometry {
  kind: string;
  size: number[]; // radius, length, half axes 3, normal 3, offset
  points?: Place;
  normals?: Place;
  triangles?: Place;
  edges?: Place;
}

export interface Param {
  name: string;
  value: number;
  initial: number;
}

export interface Head {
  version: number;
  abut?: string;
  title: string;
  scene: string;
  source?: string;
  mode: string;
  status: string;
  live: boolean;
  gallery?: boolean;
  frame: number;
  frames: number;
  events?: number; // of a recording
  end: number;
  duration?: number;
  touching?: number;
  scalar: number;
  numbers: number;
  audit?: Record<string, number | boolean | string>;
  event_kinds: string[];
  entity_kinds: string[];
  camera?: { position: Vec; target: Vec; up?: Vec; field_of_view?: number } | null;
  lights?: { position: Vec; color: Vec; intensity: number }[] | null;
  params?: Param[] | null;
  bodies: Body[];
  geometries: Geometry[];
}

export const SERIES = 12; // t kinetic potential dissipated work px py pz lx ly lz deepest_overlap
export const EVENT = 20;
export const CONTACT = 17;

export interface AbutEvent {
  index: number;
  time: number;
  kind: string;
  bodies: [number, number];
  entities: [string, number, string, number];
  point: Vec;
  normal: Vec;
  impulse: Vec;
  before: number;
  after: number;
  count: number;
}

export interface Contact {
  frame: number;
  bodies: [number, number];
  representation: string;
  dimension: number;
  entities: [string, number, string, number];
  state: string;
  area: number;
  center: Vec;
  determined: boolean;
  points: Vec[];
  normals: Vec[];
  forces: Vec[]; // on bodies[0]
  loops: Vec[][]; // the border of an area that is not the hull of its points: the first loop of each part counter-clockwise, holes the other way
}

export const REPRESENTATIONS = ["region", "manifold", "rolling"];
export const STATES = ["frictionless", "stick", "slip"];

export function readEvent(head: Head, rows: Float64Array, index: number): AbutEvent {
  const r = rows.subarray(index * EVENT, (index + 1) * EVENT);
  return {
    index,
    time: r[0],
    kind: head.event_kinds[r[1]] ?? "unknown",
    bodies: [r[2], r[3]],
    entities: [head.entity_kinds[r[4]] ?? "", r[5], head.entity_kinds[r[6]] ?? "", r[7]],
    point: [r[8], r[9], r[10]],
    normal: [r[11], r[12], r[13]],
    impulse: [r[14], r[15], r[16]],
    before: r[17],
    after: r[18],
    count: r[19],
  };
}

export function readContacts(head: Head, n: Numbers): Contact[] {
  const list: Contact[] = [];
  for (let at = 0; at + CONTACT <= n.length; ) {
    const count = n[at + 15];
    const contact: Contact = {
      frame: n[at],
      bodies: [n[at + 1], n[at + 2]],
      representation: REPRESENTATIONS[n[at + 3]] ?? "",
      dimension: n[at + 4],
      entities: [head.entity_kinds[n[at + 5]] ?? "", n[at + 6], head.entity_kinds[n[at + 7]] ?? "", n[at + 8]],
      state: STATES[n[at + 9]] ?? "",
      area: n[at + 10],
      center: [n[at + 11], n[at + 12], n[at + 13]],
      determined: n[at + 14] !== 0,
      points: [],
      normals: [],
      forces: [],
      loops: [],
    };
    const border = n[at + 16];
    at += CONTACT;
    for (let i = 0; i < count && at + 9 <= n.length; i++, at += 9) {
      contact.points.push([n[at], n[at + 1], n[at + 2]]);
      contact.normals.push([n[at + 3], n[at + 4], n[at + 5]]);
      contact.forces.push([n[at + 6], n[at + 7], n[at + 8]]);
    }
    const end = Math.min(at + border, n.length);
    while (at < end) {
      const corners: Vec[] = [], count = n[at++];
      for (let i = 0; i < count && at + 3 <= end; i++, at += 3) corners.push([n[at], n[at + 1], n[at + 2]]);
      contact.loops.push(corners);
    }
    list.push(contact);
  }
  return list;
}

export function asNumbers(bytes: ArrayBuffer, scalar: number): Numbers {
  return scalar === 8 ? new Float64Array(bytes) : new Float32Array(bytes);
}

// Whether the scene said nothing about the colour.
export function isDefaultColor(c: number[]): boolean {
  const grey = Math.fround(0.7);
  return c[3] === 0 || (c[0] === grey && c[1] === grey && c[2] === grey);
}
