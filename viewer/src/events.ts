// The events of a run: when and of which kind for all of them, the whole rows where they were asked for.
// A run of minutes with a thousand bodies has a million: the timeline needs 9 bytes of each, and only what is looked at is fetched.
import { EVENT, readEvent, type AbutEvent, type Head } from "./data";

const PAGE = 256; // rows fetched at once
const MARKS_AT_ONCE = 50000; // at least; the server gives no more than 100,000

// marks.bin: the largest impulse and times, f64, then kinds, u8.
function readMarks(bytes: ArrayBuffer): { largest: number; times: Float64Array; kinds: Uint8Array } {
  const count = Math.max(0, Math.floor((bytes.byteLength - 8) / 9));
  return { largest: new Float64Array(bytes, 0, 1)[0], times: new Float64Array(bytes, 8, count), kinds: new Uint8Array(bytes, 8 + 8 * count, count) };
}

export class Events {
  length = 0;
  largestImpulse = 0;
  private times = new Float64Array(256);
  private kinds = new Uint8Array(256);
  private rows = new Map<number, AbutEvent>();
  private told: Uint8Array | null = null; // of each piece of marks; null: all came at once
  private piece = 1;

  constructor(private head: Head, private fetch: ((from: number, count: number) => Promise<Float64Array>) | null = null) {}

  time(i: number): number {
    return this.times[i];
  }
  kind(i: number): string {
    return this.head.event_kinds[this.kinds[i]] ?? "unknown";
  }
  // The same as a number, for those who ask for all of them.
  kindNumber(i: number): number {
    return this.kinds[i];
  }
  get kindNames(): string[] {
    return this.head.event_kinds;
  }
  // The row where it is here already.
  known(i: number): AbutEvent | undefined {
    return this.rows.get(i);
  }
  async get(i: number): Promise<AbutEvent> {
    if (!this.rows.has(i) && this.fetch && i >= 0 && i < this.length) {
      const from = Math.floor(i / PAGE) * PAGE, rows = await this.fetch(from, PAGE);
      for (let k = 0; (k + 1) * EVENT <= rows.length; k++) this.rows.set(from + k, { ...readEvent(this.head, rows, k), index: from + k });
    }
    const event = this.rows.get(i);
    if (!event) throw new Error(`event ${i} is missing`);
    return event;
  }

  // Whole rows, in order.
  addRows(rows: Float64Array, count = rows.length / EVENT) {
    this.reserve(this.length + count);
    for (let k = 0; k < count && (k + 1) * EVENT <= rows.length; k++) {
      const event = readEvent(this.head, rows, k);
      event.index = this.length;
      this.rows.set(this.length, event);
      this.times[this.length] = event.time;
      this.kinds[this.length++] = rows[k * EVENT + 1];
      this.largestImpulse = Math.max(this.largestImpulse, Math.hypot(...event.impulse));
    }
  }
  // Of `count` events every stride-th, as marks.bin has them: in between, times are interpolated and kinds those of the mark before, until
  // they are told. So the timeline shows at once where there is much and where little.
  setSome(count: number, stride: number, bytes: ArrayBuffer) {
    const some = readMarks(bytes), last = some.times.length - 1;
    this.times = new Float64Array(count);
    this.kinds = new Uint8Array(count);
    this.length = count;
    this.piece = stride * Math.ceil(MARKS_AT_ONCE / stride); // so that a piece ends at a mark that is known
    this.told = new Uint8Array(Math.ceil(count / this.piece));
    this.largestImpulse = some.largest;
    for (let i = 0; i < count; i++) {
      const k = Math.min(last, Math.floor(i / stride)), next = Math.min(last, k + 1), part = (i - k * stride) / stride;
      this.times[i] = some.times[k] + part * (some.times[next] - some.times[k]);
      this.kinds[i] = some.kinds[k];
    }
  }
  // What is still to be told: a piece of what lies between two times, or any; null: all is told.
  missing(from: number, to: number): { first: number; count: number } | null {
    const told = this.told;
    if (!told) return null;
    let p = Math.floor(this.from(from) / this.piece);
    const last = Math.min(told.length - 1, Math.floor(this.from(to, true) / this.piece));
    while (p <= last && told[p]) p++;
    if (p > last) p = told.indexOf(0);
    return p < 0 ? null : { first: p * this.piece, count: Math.min(this.piece, this.length - p * this.piece) };
  }
  setPiece(first: number, bytes: ArrayBuffer) {
    const { largest, times, kinds } = readMarks(bytes);
    this.times.set(times, first);
    this.kinds.set(kinds, first);
    this.largestImpulse = Math.max(this.largestImpulse, largest);
    this.told![Math.floor(first / this.piece)] = 1;
  }
  // Whether the time and the kind of an event are its own.
  isTold(i: number): boolean {
    return !this.told || this.told[Math.floor(i / this.piece)] === 1;
  }
  private reserve(count: number) {
    if (count <= this.times.length) return;
    const size = Math.max(count, 2 * this.times.length), times = new Float64Array(size), kinds = new Uint8Array(size);
    times.set(this.times), kinds.set(this.kinds);
    (this.times = times), (this.kinds = kinds);
  }

  // The first event at or after a time (`later`: after it); `length` where there is none.  Times ascend.
  from(time: number, later = false): number {
    let low = 0, high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (later ? this.times[middle] <= time : this.times[middle] < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
