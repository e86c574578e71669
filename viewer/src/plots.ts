// Plots over time, synchronous with the scrubber: energy, momentum, overlap, any body's coordinates, step times.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { SERIES } from "./data";
import { h, num } from "./dom";
import type { LiveMotion } from "./live";
import type { Motion } from "./motion";

const COLORS = ["#e8590c", "#1971c2", "#2f9e44", "#ae3ec9", "#868e96"];
const MOST = 2000; // samples drawn

interface Curve {
  name: string;
  column: number | ((row: number, s: Float64Array) => number);
}
interface Kind {
  title: string;
  unit: string;
  curves: Curve[];
}
const at = (column: number) => (row: number, s: Float64Array) => s[row * SERIES + column];
export const SYSTEM: Record<string, Kind> = {
  energy: {
    title: "Energy", unit: "J",
    curves: [
      { name: "kinetic", column: 1 }, { name: "potential", column: 2 },
      { name: "total", column: (k, s) => at(1)(k, s) + at(2)(k, s) }, { name: "dissipated", column: 3 }, { name: "work", column: 4 },
    ],
  },
  momentum: { title: "Momentum", unit: "kg m/s", curves: [{ name: "px", column: 5 }, { name: "py", column: 6 }, { name: "pz", column: 7 }] },
  angular: { title: "Angular momentum", unit: "kg m²/s", curves: [{ name: "Lx", column: 8 }, { name: "Ly", column: 9 }, { name: "Lz", column: 10 }] },
  overlap: { title: "Deepest overlap", unit: "m", curves: [{ name: "overlap", column: 11 }] },
};
export const BODY: Record<string, Kind> = {
  position: { title: "Position", unit: "m", curves: [{ name: "x", column: 0 }, { name: "y", column: 1 }, { name: "z", column: 2 }] },
  velocity: { title: "Velocity", unit: "m/s", curves: [{ name: "vx", column: 7 }, { name: "vy", column: 8 }, { name: "vz", column: 9 }] },
  orientation: { title: "Quaternion", unit: "", curves: [{ name: "w", column: 3 }, { name: "x", column: 4 }, { name: "y", column: 5 }, { name: "z", column: 6 }] },
  spin: { title: "Spin", unit: "rad/s", curves: [{ name: "ωx", column: 10 }, { name: "ωy", column: 11 }, { name: "ωz", column: 12 }] },
  acceleration: { title: "Acceleration", unit: "m/s²", curves: [{ name: "ax", column: 13 }, { name: "ay", column: 14 }, { name: "az", column: 15 }] },
};

// The sample at a time: the last one at or before it.
function nearest(times: ArrayLike<number>, t: number): number {
  let low = 0, high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= t + 1e-9) low = middle;
    else high = middle - 1;
  }
  return low;
}

// A number for an axis, where six letters have room: 5e6, not 5000000.
const short = (x: number) => (Math.abs(x) >= 1e5 ? x.toExponential(1).replace(".0", "").replace("e+", "e").replace("-", "\u2212") : num(x, 4));

class Plot {
  readonly element = h("div", { class: "plot" });
  private chart: uPlot | null = null;
  private kind = ""; // curves and colours of the chart
  private line = h("div", { class: "playhead" });
  private time = 0;

  // The legend, which tells the numbers of now, stands in the head of the plot.
  constructor(private seek: (t: number) => void, private head: HTMLElement) {
    new ResizeObserver(() => this.resize()).observe(this.element);
  }
  private box() {
    return { width: Math.max(60, this.element.clientWidth), height: Math.max(60, this.element.clientHeight) };
  }
  show(names: string[], data: uPlot.AlignedData, unit: string) {
    const style = getComputedStyle(this.element), ink = style.getPropertyValue("--faint"), grid = { stroke: style.getPropertyValue("--line"), width: 1 };
    const kind = [names, unit, ink, grid.stroke].join();
    if (this.chart && kind === this.kind) return this.setData(data); // of the same curves: nothing is built anew
    this.kind = kind;
    this.chart?.destroy();
    this.head.querySelector(".u-legend")?.remove();
    const options: uPlot.Options = {
      ...this.box(),
      padding: [8, 18, 0, 0],
      scales: { x: { time: false } },
      legend: { live: true, markers: { width: 2 }, mount: (_, legend) => this.head.append(legend) },
      hooks: { draw: [() => (this.setTime(this.time), this.tell())] }, // scales are known only then
      cursor: { drag: { x: false, y: false }, points: { size: 5 } },
      axes: [
        { stroke: ink, grid, ticks: grid, size: 24, font: "11px system-ui", values: (_, v) => v.map((x, i) => num(x, 5) + (i === v.length - 1 ? " s" : "")) },
        { stroke: ink, grid, ticks: grid, size: 58, font: "11px system-ui", values: (_, v) => v.map((x) => short(x)) },
      ],
      series: [
        { label: "t", class: "legend-time", value: (_, v) => (v == null ? "" : `${num(v, 6)} s`) },
        ...names.map((label, i) => ({
          label, stroke: COLORS[i % COLORS.length], width: 1.5, pxAlign: 0, points: { show: false },
          value: (_: uPlot, v: number | null) => (v == null ? "" : `${num(v, 4)} ${unit}`),
        })),
      ],
    };
    this.chart = new uPlot(options, data, this.element);
    this.chart.over.append(this.line);
    this.chart.over.addEventListener("pointerdown", (e) => this.seek(this.chart!.posToVal(e.offsetX, "x")));
    this.chart.over.addEventListener("pointermove", (e) => e.buttons && this.seek(this.chart!.posToVal(e.offsetX, "x")));
    this.setTime(this.time);
    this.tell();
  }
  private setData(data: uPlot.AlignedData) {
    this.chart!.setData(data);
    this.setTime(this.time);
    this.tell();
  }
  private resize() {
    this.chart?.setSize(this.box());
    this.setTime(this.time);
  }
  setTime(t: number) {
    this.time = t;
    const chart = this.chart;
    if (!chart) return;
    const last = chart.data[0].length - 1, most = last >= 0 ? chart.data[0][last] : t; // a live run may be ahead of its curves
    this.line.style.transform = `translateX(${chart.valToPos(Math.min(t, most), "x")}px)`;
  }
  // The numbers of now, where the pointer tells no other time.
  tell() {
    const chart = this.chart;
    if (chart && chart.cursor.idx == null) chart.setLegend({ idx: nearest(chart.data[0], this.time) }, false);
  }
}

// Rows of the series, every so many, so that a plot has at most MOST samples.
function sample(count: number, value: (row: number) => number): Float64Array {
  const step = Math.max(1, Math.ceil(count / MOST)), n = Math.ceil(count / step), out = new Float64Array(n);
  for (let i = 0; i < n; i++) out[i] = value(i * step);
  return out;
}

export class Plots {
  readonly element: HTMLElement;
  private system: Plot;
  private body: Plot;
  private systemKind = h("select", { id: "plot-system", "aria-label": "system plot" });
  private bodyKind = h("select", { id: "plot-body", "aria-label": "body plot" });
  private bodyName = h("span", { class: "dim", id: "plot-body-name" });
  private motion: Motion | null = null;
  private selected = -1;
  private asked = 0;
  last: { system: number[][]; body: number[][] } = { system: [], body: [] }; // what is drawn

  constructor(seek: (t: number) => void) {
    const heads = [h("div", { class: "plot-head" }, this.systemKind), h("div", { class: "plot-head" }, this.bodyKind, this.bodyName)];
    this.system = new Plot(seek, heads[0]);
    this.body = new Plot(seek, heads[1]);
    for (const [key, kind] of Object.entries(SYSTEM)) this.systemKind.append(h("option", { value: key }, kind.title));
    for (const [key, kind] of Object.entries(BODY)) this.bodyKind.append(h("option", { value: key }, kind.title));
    this.systemKind.addEventListener("change", () => this.drawSystem());
    this.bodyKind.addEventListener("change", () => void this.drawBody());
    this.element = h("section", { class: "plots", id: "plots" },
      h("div", { class: "plot-box" }, heads[0], this.system.element), h("div", { class: "plot-box" }, heads[1], this.body.element));
  }
  private get visible(): boolean {
    return this.element.closest(".no-plots") === null; // asking for its place would cost a layout
  }
  setMotion(motion: Motion) {
    this.motion = motion;
    const times = this.systemKind.querySelector("option[value=steps]");
    if ("times" in motion && !times) this.systemKind.append(h("option", { value: "steps" }, "Step times"));
    this.update();
  }
  select(body: number) {
    this.selected = body;
    void this.drawBody();
  }
  update() {
    if (!this.motion || !this.visible) return;
    this.drawSystem();
    void this.drawBody();
  }
  setTime(t: number) {
    if (!this.visible) return;
    this.system.setTime(t);
    this.body.setTime(t);
  }
  tell() {
    if (!this.visible) return;
    this.system.tell();
    this.body.tell();
  }
  private drawSystem() {
    const motion = this.motion;
    if (!motion || !this.visible) return;
    const s = motion.series, count = s.length / SERIES;
    const t = sample(count, (k) => s[k * SERIES]);
    if (this.systemKind.value === "steps") {
      const times = (motion as LiveMotion).times, values = sample(count, (k) => times[k] ?? 0);
      this.last.system = [Array.from(values)];
      return this.system.show(["wall time of a frame"], [t, values], "ms");
    }
    const kind = SYSTEM[this.systemKind.value];
    const curves = kind.curves.filter((c) => c.name !== "work" || sample(count, (k) => at(4)(k, s)).some((w) => w !== 0));
    const columns = curves.map((c) => sample(count, (k) => (typeof c.column === "number" ? at(c.column)(k, s) : c.column(k, s))));
    this.last.system = columns.map((c) => Array.from(c));
    this.system.show(curves.map((c) => c.name), [t, ...columns], kind.unit);
  }
  private async drawBody() {
    const motion = this.motion, kind = BODY[this.bodyKind.value], asked = ++this.asked;
    if (!motion || !this.visible) return;
    const bodies = motion.head.bodies, moving = bodies.findIndex((b) => b.mass != null);
    const body = this.selected >= 0 ? this.selected : moving >= 0 ? moving : bodies.findIndex((b) => !b.fixed);
    if (body < 0) return;
    this.bodyName.textContent = motion.head.bodies[body].name;
    const track = await motion.track(body);
    if (!track || asked !== this.asked) return;
    const count = track.t.length, has = kind.curves.filter((c) => (c.column as number) < track.numbers);
    const columns = has.map((c) => sample(count, (k) => track.rows[k * track.numbers + (c.column as number)]));
    this.last.body = columns.map((c) => Array.from(c));
    this.body.show(has.map((c) => c.name), [sample(count, (k) => track.t[k]), ...columns], kind.unit);
  }
}
