// The state of the page and what ties its parts together.
import * as THREE from "three";
import type { AbutEvent, Contact, Head, Numbers } from "./data";
import { button, h, icon, num, size } from "./dom";
import { LivePanel } from "./livepanel";
import { frameAt, type Motion } from "./motion";
import { DIMENSION_COLORS, FORCE_COLOR, IMPULSE_COLOR, NORMAL_COLOR, Overlay, PRESSURE_COLOR, SLICE_COLORS, STATE_COLORS } from "./overlay";
import { bodyDetails, contactDetails, eventDetails, overviewDetails, Tree } from "./panels";
import { Plots } from "./plots";
import type { Slice, Source } from "./source";
import { Stage } from "./stage";
import type { ThemeName } from "./themes";
import { Timeline } from "./timeline";

const LAYERS: [key: string, label: string, on: boolean, shortcut: string][] = [
  ["edges", "Edges", true, "e"],
  ["shadows", "Shadows", true, ""],
  ["wireframe", "Wireframe", false, "w"],
  ["translucent", "See through", false, "x"],
  ["regions", "Contact regions", true, "r"],
  ["normals", "Normals", false, "n"],
  ["forces", "Forces", true, "f"],
  ["pressure", "Centre of pressure", false, "c"],
  ["friction", "Friction state", false, "s"],
  ["patches", "Patch borders", false, "p"],
  ["slice", "Index slice", false, "i"],
];

const SLICE_LEGEND = Object.entries({ inside: "inside the solid", face: "on a face", outside: "outside" }).map(([kind, text]): [string, string, string] => [SLICE_COLORS[kind][0], text, ""]);
const FETCHES_MOST = 3;
const ARROWS_MOST = 60; // bodies: of more, the arrows of all forces hide them, and are shown when they are asked for
const KEYS: [string, string][] = [
  ["Space", "play, pause"], ["← →", "one frame"], ["Shift ← →", "one event"], ["Home End", "start, end"], ["+ −", "faster, slower"],
  ["0", "fit the view"], ["g", "follow the selected body"], ["h", "hide the selected body"], ["Esc", "select nothing"], ["d", "dark, light"], ["o", "screenshot"], ["?", "this list"],
  ...LAYERS.filter((l) => l[3]).map((l): [string, string] => [l[3], l[1].toLowerCase()]),
];

export class App {
  stage: Stage;
  overlay: Overlay;
  motion: Motion | null = null;
  loaded = false; // events and series too
  time = 0;
  private asked = 0; // where the scrubber is
  playing = false;
  speed = 1;
  layers: Record<string, boolean> = {};
  selectedBody = -1;
  selectedContact: Contact | null = null;
  selectedEvent: AbutEvent | null = null;
  shownEvent = -1; // that all of is shown: state, contacts and numbers
  contacts: Contact[] = []; // those drawn
  frame: Numbers | null = null; // the motions drawn
  theme: ThemeName = "light";
  live: LivePanel | null = null;
  timeline: Timeline;
  plots: Plots;
  private regionsAtEvent: Contact[] | null = null;
  private shownFrame = -1;
  private eventAsked = 0;
  private fetching = new Set<number>(); // frames
  private fetchOrder = 0;
  private shownOrder = 0;
  private contactsDue = 0;
  private scrubbing = false;
  private lastTick = 0;
  private tree: Tree;
  private details = h("div", { class: "details" });
  private clockTime = document.createTextNode("");
  private clockFrame = document.createTextNode("");
  private clock = h("output", { class: "clock", id: "clock" }, this.clockTime, h("span", { class: "frames" }, this.clockFrame));
  private playButton = button("play", "play (Space)", () => this.toggle(), "play");
  private speedBox = h("select", { id: "speed", title: "speed", "aria-label": "speed" });
  private layerBoxes = new Map<string, HTMLInputElement>();
  private legend = h("div", { class: "legend" });
  private legendTold = "";
  private toast = h("div", { class: "toast", role: "status", hidden: true });
  private root: HTMLElement;
  private titleBox = h("div", { class: "title" });
  private sliceControls = h("div", { class: "slice-controls", hidden: true });
  private sliceAxis = 2;
  private sliceAt = 0.487;
  private slicing = false;
  private sliceAgain = false;
  private liveBox = h("div", { id: "live" });
  private detailsAt = 0;
  private detailsDue = 0;

  constructor(root: HTMLElement, private source: Source) {
    this.root = root;
    const view = h("div", { class: "stage", id: "stage" });
    this.timeline = new Timeline((t) => this.seek(t), (i) => void this.goToEvent(i), (on) => this.scrub(on));
    this.plots = new Plots((t) => this.seek(Math.max(0, t)));
    this.tree = new Tree({
      select: (b) => this.selectBody(b),
      setVisible: (bodies, v) => (bodies.forEach((b) => this.stage.setVisible(b, v)), this.refresh()),
      follow: (b) => this.follow(b),
      color: (b) => `#${this.stage.colorOf(b).getHexString()}`,
    });
    for (const s of [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 10]) this.speedBox.append(h("option", { value: s, selected: s === 1 }, `${s}×`));
    this.speedBox.addEventListener("change", () => this.setSpeed(Number(this.speedBox.value)));
    root.classList.add("app");
    root.replaceChildren(this.header(), h("aside", { class: "left", id: "left" }, this.liveBox, h("h2", {}, "Bodies"), this.tree.element, h("h2", {}, "Show"), this.layerList()),
      view, h("aside", { class: "right", id: "right" }, this.details), this.footer());
    view.append(this.legend, this.toast);
    this.stage = new Stage(view);
    this.overlay = new Overlay(this.stage);
    this.setTheme(localStorageGet("abut-theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
    this.pointer(this.stage.renderer.domElement);
    addEventListener("keydown", (e) => this.key(e));
    if (innerWidth < 760) root.classList.add("no-left", "no-right");
    if (innerWidth < 760 || innerHeight < 700) root.classList.add("no-plots");
    requestAnimationFrame((t) => this.tick(t));
  }

  // ---- building

  private header(): HTMLElement {
    const flip = (name: string) => () => (this.root.classList.toggle(name), this.plots.update());
    return h("header", {},
      button("list", "bodies and layers", flip("no-left"), "toggle-left"),
      h("a", { class: "brand", href: this.source.embedded ? "#" : new URL(location.pathname.includes("/scene/") ? "../../" : "./", location.href).href }, "abut"), this.titleBox,
      h("span", { class: "spring" }),
      button("fit", "fit the view (0)", () => this.stage.fit(), "fit"), button("camera", "screenshot (o)", () => this.screenshot(), "screenshot"),
      button("sun", "dark, light (d)", () => this.setTheme(this.theme === "dark" ? "light" : "dark"), "theme"),
      button("plot", "plots", flip("no-plots"), "toggle-plots"), button("help", "keys (?)", () => this.help(), "help"),
      button("info", "details", flip("no-right"), "toggle-right"));
  }

  private layerList(): HTMLElement {
    const list = h("div", { class: "layers", id: "layers" });
    for (const [key, label, on, shortcut] of LAYERS) {
      this.layers[key] = on;
      const box = h("input", { type: "checkbox", checked: on, id: `layer-${key}` });
      box.addEventListener("change", () => this.setLayer(key, box.checked));
      this.layerBoxes.set(key, box);
      list.append(h("label", {}, box, label, shortcut ? h("kbd", {}, shortcut) : null));
    }
    const scale = h("input", { type: "range", min: -1.5, max: 1.5, step: 0.05, value: 0, id: "force-scale", "aria-label": "length of force arrows" });
    scale.addEventListener("input", () => ((this.overlay.forceFactor = 10 ** Number(scale.value)), this.refresh()));
    list.append(h("label", { class: "wide" }, "Force arrows", scale));
    const axis = h("select", { "aria-label": "slice axis", id: "slice-axis" }, ...["x", "y", "z"].map((a, i) => h("option", { value: i, selected: i === 2 }, a)));
    const at = h("input", { type: "range", min: 0.001, max: 0.999, step: 0.002, value: this.sliceAt, "aria-label": "slice place", id: "slice-at" });
    axis.addEventListener("change", () => ((this.sliceAxis = Number(axis.value)), void this.updateSlice()));
    at.addEventListener("input", () => ((this.sliceAt = Number(at.value)), void this.updateSlice()));
    this.sliceControls.append("Slice across ", axis, at);
    list.append(this.sliceControls);
    return list;
  }

  private footer(): HTMLElement {
    return h("footer", {},
      h("div", { class: "transport" },
        button("first", "start (Home)", () => this.seek(0), "first"), button("eventBack", "event before (Shift ←)", () => this.stepEvent(-1), "event-back"),
        button("back", "frame before (←)", () => this.stepFrame(-1), "frame-back"), this.playButton,
        button("forward", "next frame (→)", () => this.stepFrame(1), "frame-forward"), button("eventForward", "next event (Shift →)", () => this.stepEvent(1), "event-forward"),
        button("last", "end (End)", () => this.seek(this.end), "last"), this.speedBox, this.clock),
      this.timeline.element, this.plots.element);
  }

  // ---- what there is

  get head(): Head | null {
    return this.motion?.head ?? null;
  }
  get end(): number {
    return this.motion ? this.motion.timeOf(this.motion.frames - 1) : 0;
  }

  open(motion: Motion, geometry: ArrayBuffer) {
    const again = this.motion !== null && this.motion.head.bodies.length === motion.head.bodies.length;
    const camera = again ? { position: this.stage.camera.position.clone(), target: this.stage.controls.target.clone() } : null;
    const head = motion.head, first = motion.frame(0);
    this.motion = motion;
    this.time = 0;
    this.stopped();
    this.shownFrame = -1;
    this.selectedBody = -1;
    this.selectedContact = this.selectedEvent = this.regionsAtEvent = null;
    if (!first) throw new Error("the recording has no frames");
    document.title = `${head.title || head.scene} – abut`;
    const kept = head.audit?.promises_kept;
    this.titleBox.replaceChildren(h("b", {}, head.title || head.scene), h("span", { class: "dim" }, ` ${head.scene} · ${head.mode} clock`),
      kept === undefined ? "" : h("span", { class: kept ? "audit kept" : "audit broken", id: "audit" }, h("span", { class: "word" }, kept ? "promises kept" : "promise broken")));
    // of a short recording all is here already
    const some = [0, 0.25, 0.5, 0.75, 1].map((part) => motion.frame(Math.round(part * (motion.frames - 1)))).filter((f) => f !== null);
    this.stage.load(head, geometry, some);
    if (camera) {
      this.stage.camera.position.copy(camera.position);
      this.stage.controls.target.copy(camera.target);
    }
    this.overlay.begin(head);
    this.tree.load(head);
    this.stage.follow(-1);
    if (!again) this.layerBoxes.get("forces")!.checked = this.layers.forces = head.bodies.length <= ARROWS_MOST;
    for (const [key] of LAYERS) this.applyLayer(key, this.layers[key]);
    this.enable("patches", this.stage.hasPatches);
    this.enable("slice", !head.live && !this.source.embedded && head.geometries.some((g) => g.kind === "solid"));
    this.timeline.set(motion.events, this.end);
    this.plots.setMotion(motion);
    this.stage.hold("opening", !motion.along && !head.live); // of many bodies: the timeline first, then the fine picture, which takes long
    this.seek(0);
  }
  private enable(layer: string, can: boolean) {
    const box = this.layerBoxes.get(layer)!;
    box.disabled = !can;
    box.parentElement!.hidden = !can;
  }
  // Events or series have arrived.
  changed() {
    if (!this.motion) return;
    this.timeline.set(this.motion.events, this.end);
    this.plots.update();
    this.stage.hold("opening", false);
  }

  connect() {
    this.live = new LivePanel(this, this.liveBox);
  }

  // ---- time

  private show(time: number): Promise<void> | void {
    const motion = this.motion!;
    this.time = this.asked = Math.max(0, Math.min(this.end, time));
    let k = frameAt(motion, this.time);
    // a scrubber is no more exact than a pixel: a frame that is here already will do until it is let go
    if (this.scrubbing && motion.frames > 1) {
      k = motion.near(k, this.timeline.grain / motion.head.frame);
      if (motion.frame(k)) this.time = motion.timeOf(k);
    }
    if (!motion.frame(k)) return this.fetchFrame(motion, k);
    if (this.playing) void motion.want(k, true).catch(() => undefined);
    this.showFrame(motion, k);
  }
  // While the scrubber moves, a few requests at a time: what arrives is shown unless a later one was, and then the newest time that was
  // asked for is fetched.
  private async fetchFrame(motion: Motion, k: number): Promise<void> {
    if (this.fetching.has(k) || this.fetching.size >= FETCHES_MOST) return;
    const order = ++this.fetchOrder;
    this.fetching.add(k);
    await (this.playing ? motion.want(k, true) : motion.glance(k)).catch(() => undefined);
    this.fetching.delete(k);
    if (this.motion !== motion || !motion.frame(k)) return;
    if (order > this.shownOrder) {
      this.shownOrder = order;
      this.showFrame(motion, k);
    }
    const newest = frameAt(motion, this.time);
    if (newest !== k && newest !== this.shownFrame) await this.show(this.time);
  }
  private showFrame(motion: Motion, k: number) {
    const next = Math.min(k + 1, motion.frames - 1), a = motion.frame(k)!;
    const t0 = motion.timeOf(k), t1 = motion.timeOf(next), part = t1 > t0 ? Math.max(0, Math.min(1, (this.time - t0) / (t1 - t0))) : 0;
    const b = part > 1e-6 ? motion.frame(next) : null;
    this.frame = a;
    this.stage.pose(a, b, part);
    this.overlay.moved();
    const contacts = motion.contacts(k);
    if (!this.regionsAtEvent) this.contacts = contacts ?? [];
    if (this.shownFrame !== k || !this.playing) this.drawContacts();
    this.shownFrame = k;
    clearTimeout(this.contactsDue);
    if (!contacts && !this.regionsAtEvent && (motion.along || !this.scrubbing)) this.contactsDue = window.setTimeout(() => void this.fetchContacts(motion, k), 120);
    this.tellTime(k);
  }
  private scrub(on: boolean) {
    this.scrubbing = on;
    this.stage.hold("scrubber", on);
    if (!on && this.motion) void this.show(this.asked);
  }
  // Contacts that did not come with the frame: when the picture rests.
  private async fetchContacts(motion: Motion, k: number) {
    await motion.wantContacts(k).catch(() => undefined);
    if (this.motion !== motion || this.shownFrame !== k || this.regionsAtEvent) return;
    this.contacts = motion.contacts(k) ?? [];
    this.drawContacts();
    this.legendNow();
    this.showDetails();
  }
  private drawContacts() {
    const l = this.layers;
    const seen = this.contacts.filter((c) => c.bodies.every((b) => this.stage.isVisible(b)));
    if (!seen.length && !this.overlay.marked) return;
    this.overlay.setContacts(seen, { regions: l.regions, normals: l.normals, forces: l.forces, pressure: l.pressure, friction: l.friction });
    this.live?.moved();
  }
  private tellTime(k: number) {
    this.clockTime.data = `t = ${this.time.toFixed(4)} s`;
    this.clockFrame.data = `   frame ${k} / ${this.motion!.frames - 1}`;
    this.timeline.setTime(this.time, this.selectedEvent?.index ?? -1);
    this.plots.setTime(this.time);
    // numbers and the panel are written anew: ten times a second are enough
    if (performance.now() >= this.detailsAt + 100) this.tell();
    else if (!this.detailsDue) this.detailsDue = window.setTimeout(() => this.tell(), 100);
  }
  private tell() {
    clearTimeout(this.detailsDue);
    this.detailsDue = 0;
    this.detailsAt = performance.now();
    this.timeline.tell();
    this.plots.tell();
    this.legendNow();
    this.showDetails();
  }
  refresh() {
    if (!this.motion) return;
    if (this.frame && this.selectedEvent) {
      this.stage.pose(this.frame);
      this.drawContacts();
    } else void this.show(this.time);
    this.legendNow();
  }

  seek(time: number) {
    if (!this.motion) return;
    this.leaveEvent();
    if (this.live) this.live.follows = time >= this.end - 1e-9;
    void this.show(time);
  }
  stepFrame(by: number) {
    if (!this.motion) return;
    this.pause();
    if (this.live && by > 0 && this.time >= this.end - 1e-9) return this.live.step();
    const k = frameAt(this.motion, this.time), between = this.time - this.motion.timeOf(k) > 1e-9;
    this.seek(this.motion.timeOf(Math.max(0, Math.min(this.motion.frames - 1, between && by < 0 ? k : k + by))));
  }
  stepEvent(by: number) {
    const events = this.motion?.events;
    if (!events?.length) return this.say("there are no events");
    this.pause();
    const current = this.selectedEvent?.index;
    const next = current !== undefined ? current + by : by > 0 ? events.from(this.time + 1e-12, true) : events.from(this.time - 1e-12) - 1;
    if (next >= 0 && next < events.length) void this.goToEvent(next);
    else this.say(by > 0 ? "that was the last event" : "that was the first event");
  }

  // The instant of an event: the state from the dense output just after it, the region computed there.
  async goToEvent(index: number) {
    const motion = this.motion!, asked = ++this.eventAsked;
    this.pause();
    if (this.live) this.live.follows = false;
    const event = motion.events.known(index) ?? (await motion.events.get(index));
    if (asked !== this.eventAsked) return;
    this.selectedEvent = event;
    this.shownEvent = -1;
    this.regionsAtEvent = null;
    this.selectedContact = null;
    this.selectedBody = -1;
    this.stage.select(-1);
    await this.show(event.time);
    const [state, regions, touch] = await Promise.all([motion.state(event.time).catch(() => null), motion.moment(event.time), motion.touch(event)]);
    if (this.selectedEvent !== event) return;
    if (state) {
      this.frame = state;
      this.stage.pose(state);
      this.overlay.moved();
    }
    const next = Math.min(frameAt(motion, event.time) + 1, motion.frames - 1);
    const lasting = regions ?? motion.contacts(next) ?? [];
    // a region that does not last stands for itself; one that does is among the contacts
    const lasts = lasting.some((c) => c.bodies.every((b) => event.bodies.includes(b)));
    this.regionsAtEvent = lasts ? lasting : [...touch, ...lasting];
    this.contacts = this.regionsAtEvent;
    this.overlay.setEvent(event, motion.events.largestImpulse);
    const place = new THREE.Vector3(...event.point);
    if (size(event.normal) > 0 && !this.stage.sees(place)) this.stage.lookAt(place);
    this.drawContacts();
    if (innerWidth >= 760) this.root.classList.remove("no-right");
    this.tellTime(frameAt(motion, event.time));
    this.tell();
    this.shownEvent = event.index;
  }
  private leaveEvent() {
    this.eventAsked++;
    if (!this.selectedEvent) return;
    this.selectedEvent = this.regionsAtEvent = null;
    this.overlay.setEvent(null, 1);
  }

  toggle() {
    if (this.live && (this.live.running || this.time >= this.end - 1e-9)) return this.live.toggle();
    if (this.playing) this.pause();
    else this.play();
  }
  play() {
    if (!this.motion) return;
    if (this.time >= this.end - 1e-9) this.time = 0;
    this.leaveEvent();
    this.playing = true;
    this.stage.hold("run", true);
    this.setPlayIcon(true);
  }
  pause() {
    if (this.live?.running) this.live.toggle();
    if (!this.playing) return;
    this.stopped();
    this.refresh();
  }
  private stopped() {
    this.playing = false;
    this.stage.hold("run", false);
    this.setPlayIcon(false);
  }
  setPlayIcon(playing: boolean) {
    this.playButton.replaceChildren(icon(playing ? "pause" : "play"));
    this.playButton.classList.toggle("on", playing);
  }
  private setSpeed(speed: number) {
    this.speed = speed;
    this.speedBox.value = String(speed);
    this.live?.pace(speed);
  }

  private tick(now: number) {
    const real = now - this.lastTick, passed = Math.min(0.1, real / 1000);
    this.lastTick = now;
    this.live?.tick();
    if (this.playing && this.motion) {
      const next = this.time + passed * this.speed, ready = this.motion.frame(frameAt(this.motion, Math.min(next, this.end)));
      if (next >= this.end && !this.live) {
        this.stopped();
        void this.show(this.end);
      } else if (ready) void this.show(next);
      else void this.motion.want(frameAt(this.motion, next), true).catch(() => undefined);
    }
    this.stage.render(real);
    requestAnimationFrame((t) => this.tick(t));
  }

  // ---- selection and layers

  selectBody(body: number) {
    this.selectedBody = body;
    this.selectedContact = null;
    this.leaveEvent();
    this.stage.select(body);
    this.tree.select(body);
    this.plots.select(body);
    this.showDetails();
    if (this.layers.slice) void this.updateSlice();
  }
  private showDetails() {
    const head = this.head;
    if (!head) return;
    const actions = { body: (b: number) => this.selectBody(b), contact: (c: Contact) => this.selectContact(c) };
    if (this.selectedContact) {
      const same = this.contacts.find((c) => c.bodies.join() === this.selectedContact!.bodies.join() && c.entities.join() === this.selectedContact!.entities.join());
      this.details.replaceChildren(same ? contactDetails(head, same, actions) : h("p", {}, "this contact is open now"));
    } else if (this.selectedEvent) this.details.replaceChildren(eventDetails(head, this.selectedEvent, this.regionsAtEvent, actions));
    else if (this.selectedBody >= 0) this.details.replaceChildren(bodyDetails(head, this.selectedBody, this.frame, this.contacts, actions));
    else this.details.replaceChildren(overviewDetails(head, this.motion!.along || this.motion!.contacts(this.shownFrame) ? this.contacts : null, actions));
  }
  private selectContact(contact: Contact) {
    this.selectedContact = contact;
    this.stage.lookAt(new THREE.Vector3(...contact.center));
    this.showDetails();
  }
  follow(body: number) {
    const next = this.stage.followed === body ? -1 : body;
    this.stage.follow(next);
    this.tree.followed(next);
    this.say(next >= 0 ? `following ${this.head!.bodies[next].name}` : "not following");
  }

  setLayer(key: string, on: boolean) {
    this.layers[key] = on;
    this.layerBoxes.get(key)!.checked = on;
    if (!this.applyLayer(key, on)) this.refresh();
    else this.legendNow();
  }
  // False: a layer of the contacts, which are drawn anew.
  private applyLayer(key: string, on: boolean): boolean {
    if (key === "edges") this.stage.setEdges(on);
    else if (key === "shadows") this.stage.setShadows(on);
    else if (key === "wireframe") this.stage.setWireframe(on);
    else if (key === "translucent") this.stage.setTranslucent(on);
    else if (key === "patches") this.stage.setPatches(on);
    else if (key === "slice") void this.updateSlice();
    else return false;
    return true;
  }

  private async updateSlice() {
    const head = this.head;
    this.sliceControls.hidden = !this.layers.slice;
    if (!head || !this.layers.slice || head.live || this.source.embedded) return this.overlay.setSlice(-1, null);
    const solid = (b: number) => b >= 0 && head.geometries[head.bodies[b].geometry].kind === "solid";
    const body = solid(this.selectedBody) ? this.selectedBody : head.bodies.findIndex((b, i) => solid(i) && b.mass != null);
    const chosen = body >= 0 ? body : head.bodies.findIndex((_, i) => solid(i));
    if (chosen < 0) return;
    // one request at a time while the slider moves, the newest at last
    if (this.slicing) return void (this.sliceAgain = true);
    this.slicing = true;
    try {
      const slice = await this.source.json<Slice>("slice.json", `geometry=${head.bodies[chosen].geometry}&axis=${this.sliceAxis}&at=${this.sliceAt}`);
      if (!slice || !this.layers.slice) return;
      this.overlay.setSlice(chosen, slice);
      this.sliceControls.dataset.cells = String(slice.cells);
      this.sliceControls.title = `${head.bodies[chosen].name}: ${slice.nodes} nodes, height ${slice.height}, ${slice.cells} cells`;
    } catch (error) {
      this.say(error instanceof Error ? error.message : String(error));
    } finally {
      this.slicing = false;
    }
    if (this.sliceAgain) (this.sliceAgain = false), await this.updateSlice();
  }

  setTheme(theme: string) {
    this.theme = theme === "dark" ? "dark" : "light";
    document.documentElement.dataset.theme = this.theme;
    localStorageSet("abut-theme", this.theme);
    this.stage.setTheme(this.theme);
    this.timeline.redraw();
    this.plots.update();
  }

  screenshot() {
    const link = h("a", { href: this.stage.picture(), download: `${this.head?.scene.replace(/\.\w+$/, "") ?? "abut"}-${this.time.toFixed(3)}s.png` });
    link.click();
    this.say("picture saved");
  }

  say(text: string, keep = false) {
    this.toast.textContent = text;
    this.toast.hidden = false;
    if (!keep) setTimeout(() => this.toast.textContent === text && (this.toast.hidden = true), 2500);
  }

  private legendNow() {
    const s = this.overlay.shown, items: [color: string, text: string, mark: string][] = [];
    const count = (n: number, name: string) => `${n} ${name}${n > 1 ? "s" : ""}`;
    if (s.regions) items.push([DIMENSION_COLORS[2], count(s.regions, "area"), ""]);
    if (s.lines) items.push([DIMENSION_COLORS[1], count(s.lines, "line"), "line"]);
    if (s.points) items.push([DIMENSION_COLORS[0], count(s.points, "point"), "dot"]);
    if (s.friction) for (const state of new Set(this.contacts.map((c) => c.state))) if (state) items.push([STATE_COLORS[state], state, "ring"]);
    if (s.pressure) items.push([PRESSURE_COLOR, "centre of pressure", "dot"]);
    if (s.normals || (this.selectedEvent && size(this.selectedEvent.normal) > 0)) items.push([NORMAL_COLOR, "normal", "arrow"]);
    if (s.forces) {
      const length = 0.1 * this.overlay.size, newtons = length / this.overlay.metresPerNewton, decade = 10 ** Math.floor(Math.log10(newtons));
      items.push([FORCE_COLOR, `force, ${num(decade, 2)} N is ${num(decade * this.overlay.metresPerNewton, 3)} m`, "arrow"]);
    }
    if (this.selectedEvent && size(this.selectedEvent.impulse) > 0) items.push([IMPULSE_COLOR, "impulse", "arrow"]);
    if (this.layers.slice && !this.sliceControls.hidden) items.push(...SLICE_LEGEND);
    const told = items.join();
    if (told === this.legendTold) return;
    this.legendTold = told;
    this.legend.replaceChildren(...items.map(([color, text, mark]) => h("span", {}, h("i", { class: `swatch ${mark}`, style: `background:${color};--mark:${color}` }), text)));
  }

  private help() {
    const old = document.getElementById("keys");
    if (old) return old.remove();
    this.root.append(h("div", { id: "keys", class: "dialog", onclick: () => document.getElementById("keys")?.remove() },
      h("table", {}, h("tbody", {}, ...KEYS.map(([k, does]) => h("tr", {}, h("th", {}, h("kbd", {}, k)), h("td", {}, does)))))));
  }

  // ---- pointer and keys

  private pointer(canvas: HTMLElement) {
    let down: { x: number; y: number } | null = null;
    canvas.addEventListener("pointerdown", (e) => {
      down = { x: e.clientX, y: e.clientY };
      if (this.live?.grab(e)) down = null;
    }, { capture: true });
    canvas.addEventListener("pointerup", (e) => {
      if (down && Math.hypot(e.clientX - down.x, e.clientY - down.y) < 5 && this.motion) this.selectBody(this.stage.pick(e.clientX, e.clientY)?.body ?? -1);
      down = null;
    });
    let last = 0;
    canvas.addEventListener("pointermove", (e) => {
      if (e.buttons || !this.motion || performance.now() - last < 60) return;
      last = performance.now();
      this.stage.hover(this.stage.pick(e.clientX, e.clientY)?.body ?? -1);
    });
  }

  private key(e: KeyboardEvent) {
    const target = e.target as HTMLElement;
    if (e.ctrlKey || e.metaKey || e.altKey || (target.matches("input, select, textarea") && !target.matches("input[type=checkbox]"))) return;
    const step = (by: number) => (e.shiftKey ? this.stepEvent(by) : this.stepFrame(by));
    const actions: Record<string, () => void> = {
      " ": () => this.toggle(), ArrowLeft: () => step(-1), ArrowRight: () => step(1), Home: () => this.seek(0), End: () => this.seek(this.end),
      "+": () => this.setSpeed(Math.min(10, this.nextSpeed(1))), "-": () => this.setSpeed(Math.max(0.05, this.nextSpeed(-1))),
      "0": () => this.stage.fit(), g: () => this.selectedBody >= 0 && this.follow(this.selectedBody), d: () => this.setTheme(this.theme === "dark" ? "light" : "dark"),
      h: () => this.selectedBody >= 0 && this.tree.show([this.selectedBody], !this.stage.isVisible(this.selectedBody)),
      Escape: () => (document.getElementById("keys")?.remove(), this.selectBody(-1), this.refresh()), o: () => this.screenshot(), "?": () => this.help(),
    };
    for (const [layer, , , key] of LAYERS) if (key && !this.layerBoxes.get(layer)!.disabled) actions[key] ??= () => this.setLayer(layer, !this.layers[layer]);
    const action = actions[e.key];
    if (!action) return;
    e.preventDefault();
    action();
  }
  private nextSpeed(by: number): number {
    const all = [...this.speedBox.options].map((o) => Number(o.value)), at = all.indexOf(this.speed);
    return all[Math.max(0, Math.min(all.length - 1, at + by))];
  }
}

// A page from disk may have no storage.
function localStorageGet(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
function localStorageSet(key: string, value: string) {
  try {
    localStorage.setItem(key, value);
  } catch {
    return;
  }
}
