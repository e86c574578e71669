// Frames of motion, fetched in chunks as they are needed, or kept as a live run sends them.
import { asNumbers, readContacts, readEvent, SERIES, EVENT, type AbutEvent, type Contact, type Head, type Numbers } from "./data";
import type { Source } from "./source";

const CHUNK_BYTES = 1.5e6;
const KEEP_BYTES = 300e6;

export interface Motion {
  readonly head: Head;
  frames: number;
  series: Float64Array; // rows of 12 numbers, as many as are known
  events: AbutEvent[];
  // The motions of a frame; null until it has arrived.
  frame(k: number): Numbers | null;
  contacts(k: number): Contact[] | null;
  // Resolves when the frame (and its contacts) can be had.
  want(k: number, ahead?: boolean): Promise<void>;
  glance(k: number): Promise<void>; // the one frame, at once
  state(time: number): Promise<Numbers | null>;
  moment(time: number): Promise<Contact[] | null>;
  touch(event: AbutEvent): Promise<Contact[]>; // the region of an event's pair at its instant
  track(body: number): Promise<{ t: Float64Array; rows: Numbers; numbers: number } | null>;
  timeOf(k: number): number;
}

export class RecordedMotion implements Motion {
  frames: number;
  series = new Float64Array(0);
  events: AbutEvent[] = [];
  private chunk: number; // frames in one
  private cache = new Map<number, { frames: Numbers; contacts: Map<number, Contact[]> }>();
  private waiting = new Map<number, { promise: Promise<void>; abort: AbortController }>();
  private single: { k: number; frames: Numbers; contacts: Contact[] } | null = null; // where the scrubber is, until its chunk is there
  private idle = 0;
  private instants: Float64Array | null = null;

  constructor(readonly head: Head, private source: Source) {
    this.frames = head.frames;
    const one = Math.max(1, head.bodies.length * head.numbers * head.scalar);
    this.chunk = source.embedded ? Math.max(1, head.frames) : Math.max(4, Math.min(240, Math.floor(CHUNK_BYTES / one)));
  }

  async loadRest(changed: () => void) {
    const events = await this.source.bytes("events.bin");
    if (events) {
      const rows = new Float64Array(events);
      for (let i = 0; i < rows.length / EVENT; i++) this.events.push(readEvent(this.head, rows, i));
      changed();
    }
    const series = await this.source.bytes("series.bin");
    if (series) {
      this.series = new Float64Array(series);
      changed();
    }
    const instants = this.source.embedded ? await this.source.bytes("instants.bin") : null;
    if (instants) this.instants = new Float64Array(instants);
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
    const kept = this.cache.get(Math.floor(k / this.chunk));
    if (!kept) return this.single?.k === k ? this.single.frames : null;
    const at = (k % this.chunk) * this.width();
    return at + this.width() <= kept.frames.length ? kept.frames.subarray(at, at + this.width()) : null;
  }

  contacts(k: number): Contact[] | null {
    const kept = this.cache.get(Math.floor(k / this.chunk));
    if (!kept) return this.single?.k === k ? this.single.contacts : null;
    return kept.contacts.get(k) ?? [];
  }

  async want(k: number, ahead = false): Promise<void> {
    const c = Math.floor(Math.max(0, Math.min(k, this.frames - 1)) / this.chunk);
    if (!ahead)
      for (const [other, wait] of this.waiting)
        if (Math.abs(other - c) > 1) wait.abort.abort(); // scrubbed past it
    if (!this.cache.has(c)) await this.fetchChunk(c);
    if (ahead && (c + 1) * this.chunk < this.frames && !this.cache.has(c + 1)) void this.fetchChunk(c + 1).catch(() => undefined);
  }

  // One frame alone, which is quick; its chunk follows when the scrubber rests.
  async glance(k: number): Promise<void> {
    if (this.frame(k)) return;
    clearTimeout(this.idle);
    this.idle = window.setTimeout(() => void this.want(k).catch(() => undefined), 250);
    const query = `from=${k}&count=1`;
    const [frames, contacts] = await Promise.all([this.source.bytes("frames.bin", query), this.source.bytes("contacts.bin", query)]);
    if (frames) this.single = { k, frames: asNumbers(frames, this.head.scalar), contacts: contacts ? readContacts(this.head, asNumbers(contacts, this.head.scalar)) : [] };
  }

  private fetchChunk(c: number): Promise<void> {
    const known = this.waiting.get(c);
    if (known) return known.promise;
    const abort = new AbortController();
    const query = `from=${c * this.chunk}&count=${this.chunk}`;
    const promise = Promise.all([
      this.source.bytes("frames.bin", query, abort.signal),
      this.source.bytes("contacts.bin", query, abort.signal),
    ])
      .then(([frames, contacts]) => {
        if (!frames) throw new Error("the frames are missing");
        const byFrame = new Map<number, Contact[]>();
        if (contacts)
          for (const contact of readContacts(this.head, asNumbers(contacts, this.head.scalar))) {
            const list = byFrame.get(contact.frame);
            if (list) list.push(contact);
            else byFrame.set(contact.frame, [contact]);
          }
        this.cache.set(c, { frames: asNumbers(frames, this.head.scalar), contacts: byFrame });
        this.forget(c);
      })
      .finally(() => this.waiting.delete(c));
    this.waiting.set(c, { promise, abort });
    return promise;
  }

  // Chunks far from the one in use go first when there are too many.
  private forget(current: number) {
    const most = Math.max(4, Math.floor(KEEP_BYTES / (this.chunk * this.width() * this.head.scalar)));
    if (this.cache.size <= most) return;
    const far = [...this.cache.keys()].sort((a, b) => Math.abs(b - current) - Math.abs(a - current))[0];
    this.cache.delete(far);
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
    if (this.source.embedded) return null;
    const bytes = await this.source.bytes("moment.bin", `t=${time}`).catch(() => null);
    return bytes && readContacts(this.head, asNumbers(bytes, this.head.scalar));
  }

  async touch(event: AbutEvent): Promise<Contact[]> {
    const [a, b] = event.bodies;
    if (this.source.embedded || a < 0 || b < 0) return [];
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
