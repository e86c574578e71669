// Lists and numbers beside the picture: the tree of bodies, the details of what is selected.
import type { AbutEvent, Contact, Head, Numbers, Vec } from "./data";
import { h, num, size, vec } from "./dom";
import { DIMENSION_COLORS, STATE_COLORS } from "./overlay";
import { EVENT_COLORS } from "./timeline";

const DIMENSIONS = ["point", "line", "area"];

const ROWS = 40; // laid out together, when they come into view: one by one, a thousand cost the page 3 ms a picture
const chunks = <T>(list: T[], size: number) => Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));

export interface TreeActions {
  select(body: number): void;
  setVisible(bodies: number[], visible: boolean): void;
  follow(body: number): void;
  color(body: number): string;
}

// Bodies in three branches: those that move, those moved by the scene, those that stand.  Rows are copies of one, and listened to
// at their root: there may be thousands.
export class Tree {
  readonly element = h("div", { class: "tree", id: "tree" });
  private rows: HTMLElement[] = [];
  private selected = -1;

  constructor(private actions: TreeActions) {
    const bodyOf = (e: Event) => Number((e.target as HTMLElement).closest<HTMLElement>(".row")?.dataset.body ?? -1);
    this.element.addEventListener("click", (e) => {
      const body = bodyOf(e), target = e.target as HTMLElement;
      if (body < 0 || target.matches("input")) return;
      if (target.closest("button")) this.actions.follow(body);
      else this.actions.select(body);
    });
    this.element.addEventListener("change", (e) => bodyOf(e) >= 0 && this.actions.setVisible([bodyOf(e)], (e.target as HTMLInputElement).checked));
    this.element.addEventListener("keydown", (e) => e.key === "Enter" && (e.target as HTMLElement).matches(".row") && this.actions.select(bodyOf(e)));
  }

  load(head: Head) {
    this.rows = [];
    this.selected = -1;
    const branches: [string, number[]][] = [["Moving", []], ["Kinematic", []], ["Fixed", []]];
    head.bodies.forEach((b, i) => branches[b.mass != null ? 0 : b.fixed ? 2 : 1][1].push(i));
    const filter = h("input", { type: "search", placeholder: "find a body", "aria-label": "find a body", id: "find" });
    filter.addEventListener("input", () => {
      const word = filter.value.toLowerCase();
      head.bodies.forEach((b, i) => (this.rows[i].hidden = !b.name.toLowerCase().includes(word)));
    });
    this.element.replaceChildren(...(head.bodies.length > 8 ? [filter] : []));
    for (const [name, bodies] of branches) {
      if (!bodies.length) continue;
      const all = h("input", { type: "checkbox", checked: true, "aria-label": `show all ${name.toLowerCase()}`, onclick: (e: Event) => e.stopPropagation() });
      all.addEventListener("change", () => this.show(bodies, all.checked));
      this.element.append(h("details", { open: true }, h("summary", {}, all, `${name} `, h("span", { class: "dim" }, String(bodies.length))),
        ...chunks(bodies, ROWS).map((some) => h("div", { class: "rows" }, ...some.map((b) => (this.rows[b] = this.row(head, b)))))));
    }
  }
  private pattern = h("div", { class: "row", tabindex: "0" }, h("input", { type: "checkbox", checked: true }), h("i", { class: "swatch" }),
    h("span", { class: "name" }), h("span", { class: "dim" }), h("button", { class: "icon small", title: "follow with the camera" }, "◎"));
  private row(head: Head, body: number): HTMLElement {
    const row = this.pattern.cloneNode(true) as HTMLElement, [box, swatch, name, shape, follow] = [...row.children] as HTMLElement[];
    row.dataset.body = String(body);
    box.setAttribute("aria-label", `show ${head.bodies[body].name}`);
    swatch.style.background = this.actions.color(body);
    name.textContent = head.bodies[body].name;
    shape.textContent = head.bodies[body].shape;
    follow.setAttribute("aria-label", `follow ${head.bodies[body].name}`);
    return row;
  }
  show(bodies: number[], visible: boolean) {
    for (const b of bodies) (this.rows[b].querySelector("input") as HTMLInputElement).checked = visible;
    this.actions.setVisible(bodies, visible);
  }
  select(body: number) {
    this.rows[this.selected]?.classList.remove("selected");
    this.selected = body;
    this.rows[body]?.classList.add("selected");
    this.rows[body]?.scrollIntoView({ block: "nearest" });
  }
  followed(body: number) {
    this.rows.forEach((r, i) => r.classList.toggle("followed", i === body));
  }
}

// ---- details

function table(rows: [string, string][]): HTMLElement {
  return h("table", {}, h("tbody", {}, ...rows.map(([name, value]) => h("tr", {}, h("th", {}, name), h("td", {}, value)))));
}

function badge(text: string, color: string): HTMLElement {
  return h("span", { class: "badge", style: `--badge:${color}` }, text);
}

export interface DetailActions {
  body(body: number): void;
  contact(contact: Contact): void;
}

function bodyLink(head: Head, body: number, actions: DetailActions): HTMLElement {
  if (body < 0) return h("span", {}, "ground");
  return h("button", { class: "link", onclick: () => actions.body(body) }, head.bodies[body].name);
}

function sum(forces: number[][]): [number, number, number] {
  return forces.reduce<[number, number, number]>((s, f) => [s[0] + f[0], s[1] + f[1], s[2] + f[2]], [0, 0, 0]);
}

export function contactLine(head: Head, c: Contact, actions: DetailActions): HTMLElement {
  return h("button", { class: "contact-line", onclick: () => actions.contact(c) },
    h("i", { class: "swatch", style: `background:${DIMENSION_COLORS[c.dimension]}` }),
    h("span", { class: "name" }, `${head.bodies[c.bodies[0]].name} – ${head.bodies[c.bodies[1]].name}`),
    h("span", { class: "dim" }, c.frame === -2 ? `${DIMENSIONS[c.dimension]}${c.dimension === 2 ? `, ${num(c.area, 4)} m²` : ""}` : `${DIMENSIONS[c.dimension]}, ${num(size(sum(c.forces)), 4)} N`),
    c.frame === -2 ? null : badge(c.state, STATE_COLORS[c.state] ?? "#888888"));
}

// Of a pair the body whose force or impulse is told, and drawn: the first, or the second where the first does not move; what is
// recorded is for the first.
function told(head: Head, bodies: [number, number]): { on: string; second: boolean; turned: (v: Vec) => Vec } {
  const second = head.bodies[bodies[0]]?.mass == null && head.bodies[bodies[1]]?.mass != null, sign = second ? -1 : 1;
  return { on: head.bodies[bodies[second ? 1 : 0]]?.name ?? "ground", second, turned: (v) => [sign * v[0], sign * v[1], sign * v[2]] };
}

// `vertex 0 of block\nface 0 of floor`
function entities(head: Head, of: Contact | AbutEvent, second: boolean): string {
  const part = (k: 0 | 1) => `${of.entities[2 * k]} ${of.entities[2 * k + 1]} of ${head.bodies[of.bodies[k]]?.name ?? "ground"}`;
  return second ? `${part(1)}\n${part(0)}` : `${part(0)}\n${part(1)}`;
}

export function contactDetails(head: Head, c: Contact, actions: DetailActions): HTMLElement {
  const total = sum(c.forces), { on, second, turned } = told(head, c.bodies);
  const points = c.points.slice(0, 40).map((p, i): [string, string] => [`point ${i + 1}`, `${vec(p)}\u00a0m\nforce ${vec(turned(c.forces[i]))}\u00a0N`]);
  return h("section", { id: "details-contact" },
    h("h3", {}, badge(`contact ${DIMENSIONS[c.dimension]}`, DIMENSION_COLORS[c.dimension]), " ", badge(c.state, STATE_COLORS[c.state] ?? "#888888")),
    h("p", {}, bodyLink(head, c.bodies[second ? 1 : 0], actions), " on ", bodyLink(head, c.bodies[second ? 0 : 1], actions)),
    table([
      ["representation", c.representation],
      ["entities", entities(head, c, second)],
      ["area", c.dimension === 2 ? `${num(c.area)} m²` : "none"],
      ...(c.loops.length ? [["border", `${c.loops.length} loop${c.loops.length > 1 ? "s" : ""}, ${c.loops.flat().length} corners`] as [string, string]] : []),
      [`force on ${on}`, `${vec(turned(total))}\u00a0N`],
      ["size", `${num(size(total))} N`],
      ["centre of pressure", `${vec(c.center)}\u00a0m`],
      ["forces", c.determined ? "unique" : "not unique: least norm"],
      ["normal", c.normals.length ? vec(turned(c.normals[0])) : "none"],
      ...points,
    ]));
}

export function bodyDetails(head: Head, body: number, frame: Numbers | null, contacts: Contact[], actions: DetailActions): HTMLElement {
  const b = head.bodies[body], n = head.numbers, m = frame?.subarray(body * n, (body + 1) * n);
  const rows: [string, string][] = [["shape", b.shape], ["mass", b.mass == null ? (b.fixed ? "fixed" : "kinematic") : `${num(b.mass)} kg`]];
  if (m) {
    rows.push(["centre of mass", `${vec(m.subarray(0, 3))}\u00a0m`], ["orientation w x y z", vec(m.subarray(3, 7))]);
    rows.push(["velocity", `${vec(m.subarray(7, 10))}\u00a0m/s`], ["speed", `${num(size(m.subarray(7, 10)))} m/s`]);
    rows.push(["spin", `${vec(m.subarray(10, 13))}\u00a0rad/s`]);
    if (n >= 19) rows.push(["acceleration", `${vec(m.subarray(13, 16))}\u00a0m/s²`], ["spin rate", `${vec(m.subarray(16, 19))}\u00a0rad/s²`]);
    if (b.mass != null) rows.push(["kinetic energy, translation", `${num(0.5 * b.mass * size(m.subarray(7, 10)) ** 2)} J`]);
  }
  const own = contacts.filter((c) => c.bodies.includes(body));
  return h("section", { id: "details-body" }, h("h3", {}, b.name), table(rows),
    h("h4", {}, `Contacts (${own.length})`), ...own.slice(0, 30).map((c) => contactLine(head, c, actions)));
}

export function eventDetails(head: Head, e: AbutEvent, regions: Contact[] | null, actions: DetailActions): HTMLElement {
  const rows: [string, string][] = [["time", `${num(e.time, 12)} s`]], { on, second, turned } = told(head, e.bodies);
  if (e.entities[0] !== "none") rows.push(["entities", entities(head, e, second)]);
  if (size(e.normal) > 0) rows.push(["point", `${vec(e.point)}\u00a0m`], ["normal", vec(turned(e.normal))]);
  if (size(e.impulse) > 0) rows.push([`impulse on ${on}`, `${vec(turned(e.impulse))}\u00a0N\u00a0s`], ["size", `${num(size(e.impulse), 9)} N s`]);
  if (e.before || e.after) {
    rows.push(["energy before", `${num(e.before, 9)} J`], ["energy after", `${num(e.after, 9)} J`]);
    rows.push(["lost", `${num(e.before - e.after)} J (${num((100 * (e.before - e.after)) / Math.max(e.before, 1e-300), 4)}\u00a0%)`]);
  }
  if (e.count > 1) rows.push(["stands for", `${e.count} impacts, summed`]);
  const own = regions?.filter((c) => c.bodies.every((b) => e.bodies.includes(b))) ?? [];
  return h("section", { id: "details-event" }, h("h3", {}, badge(e.kind, EVENT_COLORS[e.kind] ?? "#888888")),
    h("p", {}, bodyLink(head, e.bodies[second ? 1 : 0], actions), " and ", bodyLink(head, e.bodies[second ? 0 : 1], actions)), table(rows),
    ...(own.length ? [h("h4", {}, own[0].frame === -2 ? "Region of the instant" : "Region just after"), ...own.map((c) => contactLine(head, c, actions))] : []));
}

// `contacts` null: they come when the picture rests.
export function overviewDetails(head: Head, contacts: Contact[] | null, actions: DetailActions): HTMLElement {
  const audit = head.audit ?? {}, rows: [string, string][] = [];
  const name = (key: string) => key.replace(/_(m|s|relative)$/, (_, u: string) => (u === "relative" ? " (relative)" : ` (${u})`)).replace(/_/g, " ");
  for (const [key, value] of Object.entries(audit)) rows.push([name(key), typeof value === "number" ? num(value, 4) : value === true ? "yes" : value === false ? "no" : String(value)]);
  return h("section", { id: "details-overview" }, h("h3", {}, head.title || head.scene),
    table([["scene", head.scene], ["clock", head.mode], ["bodies", String(head.bodies.length)],
      ...(head.live ? [] : [["status", head.status] as [string, string], ["frames", String(head.frames)] as [string, string], ["touching distance", `${num(head.touching ?? 0, 3)}\u00a0m`] as [string, string]])]),
    ...(rows.length && !head.live ? [h("h4", {}, "Audit"), table(rows)] : []),
    ...(contacts ? [h("h4", {}, `Contacts now (${contacts.length})`), ...contacts.slice(0, 30).map((c) => contactLine(head, c, actions))] : [h("h4", {}, "Contacts"), h("p", { class: "dim" }, "shown when the picture rests")]),
    ...(head.source ? [h("details", { class: "source" }, h("summary", {}, "Scene file"), h("pre", {}, head.source))] : []));
}
