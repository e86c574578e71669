// The events of a run: when and of which kind for all of them, the whole rows where they were asked for.
// A run of minutes with a thousand bodies has a million: the timeline needs 9 bytes of each, and only what is looked at is fetched.
import { EVENT, readEvent, type AbutEvent, type Head } from "./data";

const PAGE = 256; // rows fetched at once

export class Events {
  length = 0;
  largestImpulse = 0;
  private times = new Float64Array(256);
  private kinds = new Uint8Array(256);
  private rows = new Map<number, AbutEvent>();

  constructor(private head: Head, private fetch: ((from: number, count: number) => Promise<Float64Array>) | null = null) {}

  time(i: number): number {
    return this.times[i];
  }
  kind(i: number): string {
    return this.head.event_kinds[this.kinds[i]] ?? "unknown";
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
  // marks.bin: the largest impulse and all times, f64, then all kinds, u8.
  setMarks(bytes: ArrayBuffer) {
    const count = Math.max(0, Math.floor((bytes.byteLength - 8) / 9));
    this.largestImpulse = new Float64Array(bytes, 0, 1)[0];
    this.times = new Float64Array(bytes, 8, count);
    this.kinds = new Uint8Array(bytes, 8 + 8 * count, count);
    this.length = count;
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
