// The scenes that come with abut, as cards.
import { h } from "./dom";
import type { Source } from "./source";

interface Listed {
  scenes: { name: string; text: string; picture: boolean }[];
}

export async function showGallery(root: HTMLElement, source: Source) {
  const list = (await source.json<Listed>("gallery.json"))?.scenes ?? [];
  document.title = "abut: scenes";
  const find = h("input", { type: "search", placeholder: "find a scene", "aria-label": "find a scene" });
  const cards = list.map((s) =>
    h("a", { class: "card", href: `scene/${encodeURIComponent(s.name)}/`, "data-name": s.name },
      s.picture ? h("img", { src: `picture/${encodeURIComponent(s.name)}`, alt: "", loading: "lazy" }) : h("div", { class: "no-picture" }, s.name.slice(0, 1)),
      h("h2", {}, s.name.charAt(0).toUpperCase() + s.name.slice(1).replace(/-/g, " ")), h("p", {}, s.text)));
  find.addEventListener("input", () => {
    const word = find.value.toLowerCase();
    list.forEach((s, i) => (cards[i].hidden = !`${s.name} ${s.text}`.toLowerCase().includes(word)));
  });
  root.replaceChildren(h("div", { class: "gallery" }, h("header", {}, h("h1", {}, "abut"), h("p", {}, `${list.length} scenes, ready to run`), find), h("div", { class: "cards" }, ...cards)));
}
