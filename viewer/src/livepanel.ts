// The controls of a live run: start, pause, step, restart, parameters, clock, step times, and the mouse as a spring.
import * as THREE from "three";
import type { App } from "./app";
import { button, h, num } from "./dom";
import { LiveLink, type LiveMotion } from "./live";

const AVERAGED = 30;
const TOLD_MS = 400;

export class LivePanel {
  running = false;
  follows = true; // shows the newest frame
  pulling = -1; // the body that is held
  state = "loading";
  private link: LiveLink;
  private motion: LiveMotion | null = null;
  private geometry: ArrayBuffer | null = null;
  private params = h("div", { class: "params", id: "params" });
  private status = h("p", { class: "status", id: "live-status" }, "loading");
  private times = h("output", { class: "dim", id: "step-times" });
  private mode = h("select", { id: "mode", "aria-label": "clock" }, h("option", { value: "exact" }, "exact clock"), h("option", { value: "live" }, "live clock"));
  private run = h("button", { class: "primary", id: "live-start", onclick: () => this.toggle() }, "Start");
  private values: Record<string, number> = {};
  private grip: { at: THREE.Vector3; through: THREE.Vector3; to: THREE.Vector3 } | null = null;
  private due = 0;
  private fresh = false;

  constructor(private app: App, box: HTMLElement) {
    this.mode.addEventListener("change", () => this.restart());
    box.append(h("h2", {}, "Live run"),
      h("div", { class: "live-buttons" }, this.run, h("button", { id: "live-step", onclick: () => this.step() }, "Step"), button("restart", "restart", () => this.restart(), "live-restart"), this.mode),
      this.status, this.times, this.params);
    this.link = new LiveLink({
      begun: (motion, geometry) => this.begun(motion, geometry),
      moved: (motion) => this.arrived(motion),
      state: (state, message) => this.told(state, message),
    });
    addEventListener("pointermove", (e) => this.drag(e));
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => this.release());
  }

  toggle() {
    this.follows = true;
    this.link.send({ do: this.running ? "pause" : "start" });
  }
  step() {
    this.follows = true;
    this.link.send({ do: "step" });
  }
  pace(value: number) {
    this.link.send({ do: "pace", value });
  }
  restart() {
    this.release();
    this.follows = true;
    this.link.send({ do: "restart", set: this.values, mode: this.mode.value });
  }

  private begun(motion: LiveMotion, geometry: ArrayBuffer) {
    this.motion = motion;
    this.geometry = geometry;
    this.mode.value = motion.head.mode;
    this.sliders(motion);
  }
  private arrived(motion: LiveMotion) {
    if (motion.frames === 1 && this.geometry) {
      this.app.open(motion, this.geometry);
      this.geometry = null;
      this.app.loaded = true;
      this.told("paused", "");
      return;
    }
    this.fresh = true;
  }
  // Once a picture: several frames may have arrived since the last one.
  tick() {
    const motion = this.motion;
    if (!this.fresh || !motion) return;
    this.fresh = false;
    if (this.follows) this.app.seek(this.app.end);
    if (performance.now() >= this.due) this.tell(motion);
  }
  // Numbers, timeline and plots: a few times a second, and for at most a tenth of the time.
  private tell(motion: LiveMotion) {
    const began = performance.now(), recent = motion.times.slice(-AVERAGED), mean = recent.reduce((a, b) => a + b, 0) / recent.length;
    this.times.textContent = `frame ${num(recent[recent.length - 1], 3)} ms, mean ${num(mean, 3)} ms, most ${num(Math.max(...recent), 3)} ms`;
    this.app.timeline.set(motion.events, this.app.end);
    this.app.plots.update();
    this.due = performance.now() + Math.max(TOLD_MS, 10 * (performance.now() - began));
  }
  private told(state: string, message: string) {
    this.state = state;
    this.running = state === "running";
    this.due = 0;
    this.run.textContent = this.running ? "Pause" : "Start";
    this.app.setPlayIcon(this.running);
    this.app.stage.hold("live", this.running);
    this.status.textContent = message || (state === "running" ? "running: drag a body to pull it" : state);
    this.status.classList.toggle("bad", state === "failed" || state === "closed");
    if (state === "failed") this.app.say(message, true);
  }

  private sliders(motion: LiveMotion) {
    const params = motion.head.params ?? [];
    this.params.replaceChildren();
    for (const p of params) {
      this.values[p.name] = p.value;
      const whole = Number.isInteger(p.initial) && Math.abs(p.initial) >= 2;
      const span = Math.abs(p.initial) || 1, low = p.initial < 0 ? p.initial - span : whole ? 1 : 0, high = p.initial + 2 * span;
      const out = h("output", {}, num(p.value, 4));
      const slider = h("input", { type: "range", min: Math.min(low, p.value), max: Math.max(high, p.value), step: whole ? 1 : span / 100, value: p.value, id: `param-${p.name}`, "aria-label": p.name });
      slider.addEventListener("input", () => ((this.values[p.name] = Number(slider.value)), (out.textContent = num(Number(slider.value), 4))));
      slider.addEventListener("change", () => this.restart());
      this.params.append(h("label", { class: "wide" }, p.name, slider, out));
    }
  }

  // ---- pulling

  // True when the pointer has taken hold of a body.
  grab(e: PointerEvent): boolean {
    if (!this.motion || e.button !== 0 || e.shiftKey) return false;
    const pick = this.app.stage.pick(e.clientX, e.clientY);
    if (!pick || this.motion.head.bodies[pick.body].mass == null || !this.follows) return false;
    const body = this.motion.head.bodies[pick.body];
    const at = pick.point.clone().applyMatrix4(this.app.stage.matrix(pick.body).clone().invert());
    at.sub(new THREE.Vector3(...body.center));
    this.grip = { at, through: pick.point.clone(), to: pick.point.clone() };
    this.pulling = pick.body;
    this.app.stage.controls.enabled = false;
    this.app.selectBody(pick.body);
    this.send();
    if (!this.running) this.toggle();
    return true;
  }
  private drag(e: PointerEvent) {
    if (!this.grip) return;
    const to = this.app.stage.drag(e.clientX, e.clientY, this.grip.through);
    if (!to) return;
    this.grip.to.copy(to);
    this.send();
    this.moved();
  }
  private send() {
    if (this.grip) this.link.send({ do: "pull", body: this.pulling, at: this.grip.at.toArray(), to: this.grip.to.toArray() });
  }
  private release() {
    if (!this.grip) return;
    this.grip = null;
    this.pulling = -1;
    this.app.stage.controls.enabled = true;
    this.link.send({ do: "release" });
    this.moved();
  }
  // Draws the spring from where the body is now.
  moved() {
    if (!this.grip || !this.motion) return this.app.overlay.setSpring(null, null);
    const center = new THREE.Vector3(...this.motion.head.bodies[this.pulling].center);
    this.app.overlay.setSpring(this.grip.at.clone().add(center).applyMatrix4(this.app.stage.matrix(this.pulling)), this.grip.to);
  }
}
