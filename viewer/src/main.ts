// Begins: a gallery, a recording, or a live run, as the head says.
import "./style.css";
import { App } from "./app";
import { h } from "./dom";
import { showGallery } from "./gallery";
import { RecordedMotion } from "./motion";
import { findSource, loadHead } from "./source";

async function begin() {
  const root = document.getElementById("app")!;
  try {
    const source = findSource(), head = await loadHead(source);
    if (head.gallery) return await showGallery(root, source);
    const app = new App(root, source);
    (window as unknown as { abut: App }).abut = app;
    if (head.live) return app.connect();
    const motion = new RecordedMotion(head, source);
    const [geometry] = await Promise.all([source.bytes("geometry.bin"), motion.glance(0)]);
    app.open(motion, geometry ?? new ArrayBuffer(0));
    await motion.loadRest(() => app.changed(), () => app.timeline.window);
    app.loaded = true;
  } catch (error) {
    root.append(h("div", { class: "failure", role: "alert" }, h("h1", {}, "abut"), h("p", {}, error instanceof Error ? error.message : String(error))));
  }
}

void begin();
