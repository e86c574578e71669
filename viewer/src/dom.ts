// Elements, icons and numbers.

type Props = Record<string, unknown>;

// h("button", { class: "x", onclick: f }, "text"): properties that begin with `on` are listeners, others attributes.
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: (Node | string | null)[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((c): c is Node | string => c !== null));
  return element;
}

const PATHS: Record<string, string> = {
  play: "M7 4l13 8-13 8z",
  pause: "M6 4h4v16H6zM14 4h4v16h-4z",
  first: "M5 4h2.5v16H5zM20 4v16L8.5 12z",
  last: "M16.5 4H19v16h-2.5zM4 4v16l11.500-8z",
  back: "M15 5v14L5 12zM17 5h2v14h-2z",
  forward: "M9 5v14l10-7zM5 5h2v14H5z",
  eventBack: "M14 5v14L5 12zM18.500 8.500a3.500 3.500 0 1 0 .01 0z",
  eventForward: "M10 5v14l9-7zM5.500 8.500a3.500 3.500 0 1 0 .01 0z",
  restart: "M12 5V1L7 6l5 5V7a5 5 0 1 1-5 5H5a7 7 0 1 0 7-7z",
  camera: "M9 4l-1.500 2H4a1 1 0 0 0-1 1v11a1 1 0 0 0 1 1h16a1 1 0 0 0 1-1V7a1 1 0 0 0-1-1h-3.500L15 4zM12 8.500a4 4 0 1 1 0 8 4 4 0 0 1 0-8z",
  sun: "M12 7a5 5 0 1 0 0 10 5 5 0 0 0 0-10zM11 1h2v4h-2zM11 19h2v4h-2zM1 11h4v2H1zM19 11h4v2h-4z",
  fit: "M3 3h7v2H5v5H3zM14 3h7v7h-2V5h-5zM3 14h2v5h5v2H3zM19 14h2v7h-7v-2h5z",
  plot: "M3 3h2v16h16v2H3zM7 15l4-6 4 3 5-7 1.500 1-6 9-4-3-3 4.500z",
  list: "M3 5h18v2H3zM3 11h18v2H3zM3 17h18v2H3z",
  info: "M11 10h2v8h-2zM11 6h2v2h-2zM12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm0 2a8 8 0 1 1 0 16 8 8 0 0 1 0-16z",
  eye: "M12 5c5 0 9 4.500 10 7-1 2.500-5 7-10 7S3 14.500 2 12c1-2.500 5-7 10-7zm0 3a4 4 0 1 0 0 8 4 4 0 0 0 0-8z",
  help: "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm-1 14h2v2h-2zm1-10a4 4 0 0 1 4 4c0 2.500-3 2.500-3 5h-2c0-3.500 3-3.500 3-5a2 2 0 0 0-4 0H8a4 4 0 0 1 4-4z",
  target: "M11 1h2v4h-2zM11 19h2v4h-2zM1 11h4v2H1zM19 11h4v2h-4zM12 6a6 6 0 1 0 0 12 6 6 0 0 0 0-12zm0 2a4 4 0 1 1 0 8 4 4 0 0 1 0-8z",
  home: "M12 3l10 9h-3v9h-5v-6h-4v6H5v-9H2z",
};

export function icon(name: string): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", PATHS[name]);
  path.setAttribute("fill-rule", "evenodd");
  svg.append(path);
  return svg;
}

export function button(name: string, title: string, action: () => void, id = ""): HTMLButtonElement {
  return h("button", { class: "icon", title, "aria-label": title, id: id || null, onclick: action }, icon(name));
}

// Six digits, without noise from rounding; powers of ten only beyond what is easily read.
export function num(x: number, digits = 6): string {
  if (!Number.isFinite(x)) return String(x);
  const size = Math.abs(x);
  if (size < 1e-15) return "0";
  const text = size < 1e-4 || size >= 1e7 ? x.toExponential(digits - 1).replace(/\.?0+e/, "e") : String(Number(x.toPrecision(digits)));
  return text.replace("-", "\u2212").replace("e-", "e\u2212").replace("e+", "e");
}
// Beside a number of a billion times its size a number is rounding.
export function vec(v: ArrayLike<number>, digits = 4): string {
  const least = 1e-9 * Math.max(...Array.from(v, Math.abs));
  return Array.from(v, (x) => num(Math.abs(x) < least ? 0 : x, digits)).join(", ");
}
export function size(v: ArrayLike<number>): number {
  return Math.hypot(...Array.from(v));
}
