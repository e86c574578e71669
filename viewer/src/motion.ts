// Frames of motion, fetched in chunks as they are needed, or kept as a live run sends them.
import { asNumbers, readContacts, SERIES, type AbutEvent, type Contact, type Head, type Numbers } from "./data";
import { Events } from "./events";
import type { Source } from "./source";

const CHUNK_BYTES = 1.5e6;
const KEEP_BYTES = 300e6;
const OVERVIEW_BYTES = 48e6; // 900 frames of 1,000 bodies
const OVERVIEW_BLOCK = 16; // frames a request
const EVENTS_AT_ONCE = 20000; // more are fetched as marks, and as rows when they are looked at
const MARKS_FIRST = 2000; // of these: as many as a timeline has pixels
const MARKS_SHOWN_MS = 700; // between two pictures of a timeline that is told more and more
export const CONTACTS_ALONG = 150; // bodies: of more, contacts are fetched for the frame that rests

export interface Motion {
  readonly head: Head;
  readonly along: boolean; // contacts come along with the frames; otherwise when the picture rests
  frames: number;
  series: Float64Array; // rows of 12 numbers, as many as are known
  events: Events;
  // The motions of a frame; null until it has arrived.
  frame(k: number): Numbers | null;
  contacts(k: number): Contact[] | null;
  // Resolves when the frame can be had.
  want(k: number, ahead?: boolean): Promise<void>;
  glance(k: number): Promise<void>; // the one frame, at once
  wantContacts(k: number): Promise<void>; // resolves when the contacts of the frame can be had
  state(time: number): Promise<Numbers | null>;
  moment(time: number): Promise<Contact[] | null>;
  touch(event: AbutEvent): Promise<Contact[]>; // the region of an event's pair at its instant
  track(body: number): Promise<{ t: Float64Array; rows: Numbers; numbers: number } | null>;
  timeOf(k: number): number;
  near(k: number, reach: number): number; // a frame that is here already, at most so many away, or k
}

interface Chunk {
  frames: Numbers;
  contacts: Map<number, Contact[]> | null;
}

export class RecordedMotion implements Motion {
  frames: number;
  series = new Float64Array(0);
  events: Events;
  private chunk: number; // frames in one
  private cache = new Map<number, Chunk>(); // the one used last stands last
  private waiting = new Map<number, { promise: Promise<void>; abort: AbortController }>();
  private single: { k: number; frames: Numbers } | null = null; // where the scrubber is, until its chunk is there
  private touching: { k: number; contacts: Contact[] } | null = null; // of the frame that was looked at last
  readonly along: boolean;
  private overview: Overview | null;
  private last = 0; // frame that was looked at
  private idle = 0;
  private instants: Float64Array | null = null;
  private touches: Sections | null = null; // of events, in an exported page
  private moments: Sections | null = null;
  private begun!: () => void;
  private timelineFirst = new Promise<void>((done) => (this.begun = done)); // a curve goes through the whole recording: it can wait

  constructor(readonly head: Head, private source: Source) {
    this.frames = head.frames;
    this.along = source.embedded || head.bodies.length <= CONTACTS_ALONG;
    this.events = new Events(head, source.embedded ? null : async (from, count) => {
      const bytes = await source.bytes("events.bin", `from=${from}&count=${count}`);
      return new Float64Array(bytes ?? new ArrayBuffer(0));
    });
    const one = Math.max(1, head.bodies.length * head.numbers * head.scalar);
    this.overview = this.along ? null : new Overview(head, source, one);
    this.chunk = source.embedded ? Math.max(1, head.frames) : Math.max(4, Math.min(240, Math.floor(CHUNK_BYTES / one)));
  }

  // `window`: the times that are on the timeline.
  async loadRest(changed: () => void, window: () => [from: number, to: number]) {
    if (this.overview) setTimeout(() => void this.overview!.load(), 500); // the first picture goes first
    const many = !this.source.embedded && (this.head.events ?? 0) > EVENTS_AT_ONCE;
    if (many) await this.loadSomeMarks();
    else {
      const events = await this.source.bytes("events.bin");
      if (events) this.events.addRows(new Float64Array(events));
    }
    this.begun();
    changed();
    const series = await this.source.bytes("series.bin");
    if (series) {
      this.series = new Float64Array(series);
      changed();
    }
    if (many) await this.loadMarks(changed, window);
    if (this.source.embedded) await this.loadInstants();
  }
  private async loadSomeMarks() {
    const count = this.head.events!, stride = Math.ceil(count / MARKS_FIRST);
    const marks = await this.source.bytes("marks.bin", `from=0&count=${MARKS_FIRST}&stride=${stride}`);
    if (marks) this.events.setSome(count, stride, marks);
  }
  private async loadMarks(changed: () => void, window: () => [from: number, to: number]) {
    let shown = performance.now();
    for (let p = this.events.missing(...window()); p; p = this.events.missing(...window())) {
      const marks = await this.source.bytes("marks.bin", `from=${p.first}&count=${p.count}`);
      if (!marks) break;
      this.events.setPiece(p.first, marks);
      if (performance.now() - shown < MARKS_SHOWN_MS) continue;
      shown = performance.now();
      changed();
    }
    changed();
  }
  private async loadInstants() {
    const [instants, touches, moments] = await Promise.all(["instants.bin", "touches.bin", "moments.bin"].map((name) => this.source.bytes(name)));
    if (instants) this.instants = new Float64Array(instants);
    if (touches) this.touches = new Sections(this.head, touches);
    if (moments) this.moments = new Sections(this.head, moments);
  }
  near(k: number, reach: number): number {
    return this.frame(k) ? k : (this.overview?.near(k, reach) ?? k);
  }

  timeOf(k: number): number {
    const row = k * SERIES;
    if (row < this.series.length) return this.series[row];
    return Math.min(k * this.head.frame, this.head.end);
  }

  private width(): number {
    return this.head.bodies.length * this.head.numbers;
  }

  frame(k: number): Numbers | null {
    const c = Math.floor(k / this.chunk), kept = this.cache.get(c);
    if (!kept) return this.single?.k === k ? this.single.frames : (this.overview?.frame(k) ?? null);
    this.cache.delete(c);
    this.cache.set(c, kept);
    const at = (k % this.chunk) * this.width();
    return at + this.width() <= kept.frames.length ? kept.frames.subarray(at, at + this.width()) : null;
  }

  contacts(k: number): Contact[] | null {
    if (!this.along) return this.touching?.k === k ? this.touching.contacts : null;
    const kept = this.cache.get(Math.floor(k / this.chunk))?.contacts;
    return kept ? (kept.get(k) ?? []) : null;
  }
  async wantContacts(k: number): Promise<void> {
    if (this.along) return this.want(k);
    if (this.touching?.k === k) return;
    const bytes = await this.source.bytes("contacts.bin", `from=${k}&count=1`);
    this.touching = { k, contacts: bytes ? readContacts(this.head, asNumbers(bytes, this.head.scalar)) : [] };
  }

  async want(k: number, ahead = false): Promise<void> {
    const c = Math.floor(Math.max(0, Math.min(k, this.frames - 1)) / this.chunk);
    if (!ahead)
      for (const [other, wait] of this.waiting)
        if (Math.abs(other - c) > 1) wait.abort.abort(); // scrubbed past it
    if (!this.cache.has(c)) await this.fetchChunk(c);
    if (ahead) this.prefetch(c + 1);
  }
  private prefetch(c: number) {
    if (c >= 0 && c * this.chunk < this.frames && !this.cache.has(c)) void this.fetchChunk(c).catch(() => undefined);
  }

  // One frame alone, which is quick. Its chunk follows when the scrubber rests or goes slowly, and then the next one on its way.
  async glance(k: number): Promise<void> {
    const c = Math.floor(k / this.chunk), forth = k >= this.last, slow = Math.floor(this.last / this.chunk) === c;
    this.last = k;
    if (this.frame(k)) return;
    clearTimeout(this.idle);
    if (slow && this.along) return this.want(k);
    this.idle = window.setTimeout(() => void this.want(k).then(() => this.prefetch(forth ? c + 1 : c - 1), () => undefined), slow ? 0 : 250);
    const frames = await this.source.bytes("frames.bin", `from=${k}&count=1`);
    if (frames) this.single = { k, frames: asNumbers(frames, this.head.scalar) };
  }

  private async readChunk(c: number, signal: AbortSignal): Promise<Chunk> {
    const query = `from=${c * this.chunk}&count=${this.chunk}`;
    const [frames, contacts] = await Promise.all([
      this.source.bytes("frames.bin", query, signal),
      this.along ? this.source.bytes("contacts.bin", query, signal) : null,
    ]);
    if (!frames) throw new Error("the frames are missing");
    const chunk: Chunk = { frames: asNumbers(frames, this.head.scalar), contacts: this.along ? new Map() : null };
    if (contacts)
      for (const contact of readContacts(this.head, asNumbers(contacts, this.head.scalar))) {
        const list = chunk.contacts!.get(contact.frame);
        if (list) list.push(contact);
        else chunk.contacts!.set(contact.frame, [contact]);
      }
    return chunk;
  }
  private fetchChunk(c: number): Promise<void> {
    const known = this.waiting.get(c);
    if (known) return known.promise;
    const abort = new AbortController();
    const promise = this.readChunk(c, abort.signal)
      .then((chunk) => {
        this.cache.set(c, chunk);
        this.forget();
      })
      .finally(() => this.waiting.delete(c));
    this.waiting.set(c, { promise, abort });
    return promise;
  }

  // What was not used for the longest time goes when there is too much.
  private forget() {
    const most = Math.max(4, Math.floor(KEEP_BYTES / (this.chunk * this.width() * this.head.scalar)));
    if (this.cache.size > most) this.cache.delete(this.cache.keys().next().value!);
  }

  async state(time: number): Promise<Numbers | null> {
    if (!this.source.embedded) {
      const bytes = await this.source.bytes("state.bin", `t=${time}`);
      return bytes && asNumbers(bytes, this.head.scalar);
    }
    const width = this.width() + 1;
    for (let at = 0; this.instants && at + width <= this.instants.length; at += width)
      if (this.instants[at] === time) return this.instants.subarray(at + 1, at + width);
    return null;
  }

  async moment(time: number): Promise<Contact[] | null> {
    if (this.source.embedded) return this.moments?.get(this.events.from(time)) ?? null;
    const bytes = await this.source.bytes("moment.bin", `t=${time}`).catch(() => null);
    return bytes && readContacts(this.head, asNumbers(bytes, this.head.scalar));
  }

  async touch(event: AbutEvent): Promise<Contact[]> {
    const [a, b] = event.bodies;
    if (this.source.embedded) return this.touches?.get(event.index) ?? [];
    if (a < 0 || b < 0) return [];
    const bytes = await this.source.bytes("touch.bin", `t=${event.time}&a=${a}&b=${b}`).catch(() => null);
    return bytes ? readContacts(this.head, asNumbers(bytes, this.head.scalar)) : [];
  }

  async track(body: number) {
    if (this.source.embedded) {
      await this.want(0);
      const all = this.cache.get(0)!.frames, n = this.head.numbers, count = this.frames;
      const rows = new Float64Array(count * n), t = new Float64Array(count);
      for (let k = 0; k < count; k++) {
        t[k] = this.timeOf(k);
        rows.set(all.subarray(k * this.width() + body * n, k * this.width() + (body + 1) * n), k * n);
      }
      return { t, rows, numbers: n };
    }
    await this.timelineFirst;
    const perFrame = this.head.bodies.length * 152; // what the server reads for a row
    const samples = Math.max(100, Math.min(2000, Math.floor(150e6 / perFrame)));
    const bytes = await this.source.bytes("track.bin", `body=${body}&stride=${Math.max(1, Math.ceil(this.frames / samples))}`);
    if (!bytes) return null;
    const all = new Float64Array(bytes), count = all.length / 20;
    const rows = new Float64Array(count * 19), t = new Float64Array(count);
    for (let k = 0; k < count; k++) {
      t[k] = all[k * 20];
      rows.set(all.subarray(k * 20 + 1, (k + 1) * 20), k * 19);
    }
    return { t, rows, numbers: 19 };
  }
}

// Contacts of events: `event count` and as many numbers, one after the other. They are read when they are asked for.
class Sections {
  private places = new Map<number, [from: number, to: number]>();
  private numbers: Numbers;

  constructor(private head: Head, bytes: ArrayBuffer) {
    const n = (this.numbers = asNumbers(bytes, head.scalar));
    for (let at = 0; at + 2 <= n.length; at += 2 + n[at + 1]) this.places.set(n[at], [at + 2, at + 2 + n[at + 1]]);
  }
  get(event: number): Contact[] | null {
    const place = this.places.get(event);
    return place ? readContacts(this.head, this.numbers.subarray(...place)) : null;
  }
}

// Of a large recording some frames that are evenly apart, in the background: what a scrubber can show at once, with as many places as it
// has pixels.  The memory is limited, not the recording.
class Overview {
  readonly stride: number;
  complete = false;
  private blocks: Numbers[] = [];
  private readonly width: number;

  constructor(private head: Head, private source: Source, bytes: number) {
    this.stride = Math.max(1, Math.ceil((head.frames * bytes) / OVERVIEW_BYTES));
    this.width = head.bodies.length * head.numbers;
  }
  async load() {
    for (let first = 0; first < this.head.frames; first += this.stride * OVERVIEW_BLOCK) {
      const bytes = await this.source.bytes("frames.bin", `from=${first}&count=${OVERVIEW_BLOCK}&stride=${this.stride}`).catch(() => null);
      if (!bytes) return;
      this.blocks.push(asNumbers(bytes, this.head.scalar));
    }
    this.complete = true;
  }
  frame(k: number): Numbers | null {
    const i = k / this.stride, block = this.blocks[Math.floor(i / OVERVIEW_BLOCK)], at = (i % OVERVIEW_BLOCK) * this.width;
    return Number.isInteger(i) && block && at + this.width <= block.length ? block.subarray(at, at + this.width) : null;
  }
  near(k: number, reach: number): number | null {
    const other = Math.round(k / this.stride) * this.stride;
    return Math.abs(other - k) <= reach && this.frame(other) ? other : null;
  }
}

// The time's frame: the last one at or before it.
export function frameAt(motion: Motion, time: number): number {
  let low = 0, high = motion.frames - 1;
  const guess = Math.floor(time / motion.head.frame + 1e-6);
  if (guess >= 0 && guess < high && motion.timeOf(guess) <= time + 1e-12 && motion.timeOf(guess + 1) > time + 1e-12) return guess;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (motion.timeOf(middle) <= time + 1e-12) low = middle;
    else high = middle - 1;
  }
  return low;
}
