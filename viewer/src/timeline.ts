// The event timeline and scrubber: lanes of marks over the time of the run.
import type { Events } from "./events";
import { h, num } from "./dom";

export const EVENT_COLORS: Record<string, string> = {
  impact: "#e8590c",
  "contact-made": "#2f9e44",
  "contact-changed": "#82a33b",
  "contact-lost": "#868e96",
  stick: "#1971c2",
  slip: "#e03131",
  "patch-crossed": "#9c36b5",
  "rolling-begins": "#0c8599",
  "rolling-ends": "#66a5ad",
  "hinge-broken": "#c2255c",
  "impulse-without-impact": "#d6336c",
  limit: "#b08900",
  sleep: "#5c7cfa",
  wake: "#4dabf7",
  user: "#495057",
};
const LANES: [string, string[]][] = [
  ["impacts", ["impact", "impulse-without-impact", "hinge-broken"]],
  ["contacts", ["contact-made", "contact-changed", "contact-lost"]],
  ["friction", ["stick", "slip"]],
  ["other", ["patch-crossed", "rolling-begins", "rolling-ends", "limit", "sleep", "wake", "user"]],
];
const laneOf = new Map(LANES.flatMap(([, kinds], i) => kinds.map((k) => [k, i] as [string, number])));
const RULER = 16, LANE = 13, LEFT = 62;

export class Timeline {
  readonly element: HTMLElement;
  private canvas = h("canvas", { id: "timeline", tabindex: "0", role: "slider", "aria-label": "time" });
  private tip = h("div", { class: "tip", hidden: true });
  // over the canvas: marks are drawn rarely, these move with each picture
  private now = h("div", { class: "now" }, h("i", {}));
  private ring = h("div", { class: "chosen", hidden: true });
  private events: Events | null = null;
  private from = 0;
  private to = 1;
  private end = 1;
  private time = 0;
  private chosen = -1;
  private lanes: number[] = [];
  private laneOfKind: number[] = [];
  private width = 1; // of the canvas: asking the page for it costs a layout

  constructor(private seek: (time: number) => void, private choose: (event: number) => void, private hold: (on: boolean) => void) {
    this.element = h("div", { class: "timeline" }, this.canvas, this.ring, this.now, this.tip);
    new ResizeObserver(() => this.redraw()).observe(this.element);
    let dragging = false;
    this.canvas.addEventListener("pointerdown", (e) => {
      const event = this.eventAt(e);
      if (event >= 0) return this.choose(event);
      dragging = true;
      this.hold(true);
      this.canvas.setPointerCapture(e.pointerId);
      this.seek(this.timeAt(e.offsetX));
    });
    this.canvas.addEventListener("pointermove", (e) => {
      if (dragging) this.seek(this.timeAt(e.offsetX));
      else this.hover(e);
    });
    for (const end of ["pointerup", "pointercancel"]) this.canvas.addEventListener(end, () => dragging && ((dragging = false), this.hold(false)));
    this.canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    this.canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      this.zoom(e.offsetX, Math.exp(e.deltaY * 0.002));
    }, { passive: false });
    this.canvas.addEventListener("dblclick", () => ((this.from = 0), (this.to = this.end), this.redraw()));
  }

  set(events: Events, end: number) {
    const whole = this.from <= 0 && this.to >= this.end;
    this.events = events;
    this.end = Math.max(end, 1e-9);
    if (whole || this.to > this.end) (this.from = 0), (this.to = this.end);
    const kinds = new Uint8Array(256); // there may be millions: nothing but numbers in the loop
    for (let i = 0; i < events.length; i++) kinds[events.kindNumber(i)] = 1;
    this.laneOfKind = events.kindNames.map((name) => laneOf.get(name) ?? 3);
    this.lanes = [...new Set(this.laneOfKind.filter((_, k) => kinds[k]))].sort();
    if (!this.lanes.length) this.lanes = [0];
    this.canvas.style.height = `${RULER + LANE * this.lanes.length + 4}px`;
    this.redraw();
  }
  setTime(time: number, chosen: number) {
    this.time = time;
    this.chosen = chosen;
    this.place();
  }

  get window(): [from: number, to: number] {
    return [this.from, this.to];
  }
  // The time of a pixel.
  get grain(): number {
    return (this.to - this.from) / Math.max(1, this.width - LEFT - 24);
  }
  // For those who hear the page.
  tell() {
    for (const [name, value] of [["now", this.time], ["min", 0], ["max", this.end]] as const) this.canvas.setAttribute(`aria-value${name}`, String(value));
  }

  // ---- places

  private x(time: number): number {
    return LEFT + ((time - this.from) / (this.to - this.from)) * (this.width - LEFT - 24);
  }
  private timeAt(x: number): number {
    const t = this.from + ((x - LEFT) / (this.width - LEFT - 24)) * (this.to - this.from);
    return Math.max(0, Math.min(this.end, t));
  }
  // Where a mark is on the page, for those who click by program.
  position(event: number): { x: number; y: number } {
    const lane = this.lanes.indexOf(laneOf.get(this.events!.kind(event)) ?? 3);
    return { x: this.x(this.events!.time(event)), y: RULER + LANE * lane + LANE / 2 };
  }
  // The mark under the pointer, at most six pixels away; -1: none.
  private eventAt(e: PointerEvent): number {
    const events = this.events, lane = this.lanes[Math.floor((e.offsetY - RULER) / LANE)];
    if (!events || e.offsetY < RULER || lane === undefined) return -1;
    const here = this.timeAt(e.offsetX), reach = this.timeAt(e.offsetX + 6) - here || here - this.timeAt(e.offsetX - 6);
    let best = -1, nearest = reach;
    for (let i = events.from(here - reach); i < events.length && events.time(i) <= here + reach; i++) {
      const d = Math.abs(events.time(i) - here);
      if (d < nearest && (laneOf.get(events.kind(i)) ?? 3) === lane) (nearest = d), (best = i);
    }
    return best;
  }
  private hover(e: PointerEvent) {
    const event = this.eventAt(e);
    this.canvas.style.cursor = event >= 0 ? "pointer" : "col-resize";
    this.tip.hidden = event < 0;
    if (event < 0) return;
    this.tip.textContent = `${this.events!.kind(event)} at ${num(this.events!.time(event), 9)} s`;
    this.tip.style.left = `${Math.min(e.offsetX, this.canvas.clientWidth - 200)}px`;
  }
  private zoom(x: number, factor: number) {
    const t = this.timeAt(x), width = Math.max(this.end * 1e-5, Math.min(this.end, (this.to - this.from) * factor));
    const part = (t - this.from) / (this.to - this.from);
    this.from = Math.max(0, Math.min(this.end - width, t - part * width));
    this.to = this.from + width;
    this.redraw();
  }

  // ---- drawing

  redraw() {
    const w = this.canvas.clientWidth, height = this.canvas.clientHeight, scale = Math.min(devicePixelRatio, 2);
    if (!w || !height) return;
    this.width = w;
    (this.canvas.width = w * scale), (this.canvas.height = height * scale);
    const c = this.canvas.getContext("2d")!, style = getComputedStyle(this.element);
    c.scale(scale, scale);
    c.font = "10.5px system-ui, sans-serif";
    this.drawRuler(c, w, height, style.getPropertyValue("--faint"), style.getPropertyValue("--line"));
    c.fillStyle = style.getPropertyValue("--faint");
    this.lanes.forEach((lane, i) => c.fillText(LANES[lane][0], 8, RULER + LANE * i + 10));
    this.drawMarks(c, w);
    this.place();
  }
  // One mark a half pixel and kind: of a million events only so many can be seen.
  private drawMarks(c: CanvasRenderingContext2D, w: number) {
    const events = this.events;
    if (!events) return;
    const names = events.kindNames, cells = 2 * w, taken = new Uint8Array(cells * names.length);
    const scale = (2 * (w - LEFT - 24)) / (this.to - this.from), start = 2 * LEFT - scale * this.from;
    for (let i = events.from(this.from), end = events.from(this.to, true); i < end; i++) {
      const cell = Math.round(start + scale * events.time(i));
      if (cell >= 0 && cell < cells) taken[events.kindNumber(i) * cells + cell] = 1;
    }
    names.forEach((name, kind) => {
      const y = RULER + LANE * this.lanes.indexOf(this.laneOfKind[kind]) + 1.5;
      c.fillStyle = EVENT_COLORS[name] ?? "#888888";
      for (let cell = 0; cell < cells; cell++) if (taken[kind * cells + cell]) c.fillRect(cell / 2 - 1, y, 2, LANE - 3);
    });
  }
  private drawRuler(c: CanvasRenderingContext2D, w: number, height: number, faint: string, line: string) {
    const span = this.to - this.from, rough = span / Math.max(2, (w - LEFT) / 90), decade = 10 ** Math.floor(Math.log10(rough));
    const step = decade * (rough / decade > 5 ? 10 : rough / decade > 2 ? 5 : rough / decade > 1 ? 2 : 1);
    c.strokeStyle = line;
    c.fillStyle = faint;
    for (let k = Math.ceil(this.from / step); k * step <= this.to + 1e-12; k++) {
      const x = Math.round(this.x(k * step)) + 0.5;
      c.beginPath();
      c.moveTo(x, RULER - 3), c.lineTo(x, height);
      c.stroke();
      c.fillText(num(k * step, 6), x + 3, 11);
    }
    c.fillText("s", 8, 11);
  }
  // The time that is shown, and a ring around the event that is chosen.
  private place() {
    const x = this.x(Math.min(this.time, this.end)), chosen = this.events && this.chosen >= 0 && this.chosen < this.events.length;
    this.now.style.transform = `translateX(${x < LEFT - 1 ? -100 : x}px)`;
    if (this.ring.hidden === chosen) this.ring.hidden = !chosen;
    if (!chosen) return;
    const p = this.position(this.chosen);
    this.ring.style.transform = `translate(${p.x}px, ${p.y}px)`;
    this.ring.style.background = EVENT_COLORS[this.events!.kind(this.chosen)] ?? "#888888";
  }
}
