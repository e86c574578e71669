// How a large recording opens and scrubs: node viewer/tests/large.mjs ABUT REC
// Measures the time from the start of `abut view` to the first picture with all bodies, and how many different frames a second are
// fetched, posed and drawn while the scrubber is dragged through the whole recording.
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
const here = dirname(fileURLToPath(import.meta.url));
const { chromium } = await import(join(here, "..", "node_modules", "playwright-core", "index.mjs"));
const [, , abut, recording] = process.argv;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
});
const page = await browser.newPage({ viewport: { width: 1100, height: 720 } });
page.setDefaultTimeout(120000);
const began = performance.now();
const server = spawn(abut, ["view", recording, "--no-browser"], { stdio: ["ignore", "pipe", "ignore"] });
const address = await new Promise((done) => server.stdout.on("data", (d) => done(String(d).trim())));
const served = performance.now();
await page.goto(address);
await page.waitForFunction(() => window.abut?.motion && abut.stage.drawn > 0 && abut.stage.groups.length > 0, null, { polling: 20 });
console.log(`server ready after ${(served - began).toFixed(0)} ms, first picture after ${(performance.now() - began).toFixed(0)} ms`);
await page.waitForFunction(() => abut.loaded);
console.log(`events and series after ${(performance.now() - began).toFixed(0)} ms`);
const scrub = await page.evaluate(async () => {
  const app = abut, seconds = 4, start = performance.now(), drawn = app.stage.drawn;
  let shown = 0, t = 0, fetched = 0;
  while (performance.now() - start < 1000 * seconds) {
    t = (t + app.end * 0.0137) % app.end; // far apart: each place is fetched
    const k = Math.round(t / app.head.frame), before = performance.now();
    await app.show(app.motion.timeOf(k));
    fetched += performance.now() - before;
    if (app.shownFrame === k) shown++;
    await new Promise((done) => requestAnimationFrame(done));
  }
  const passed = (performance.now() - start) / 1000;
  return { shown: shown / passed, drawn: (app.stage.drawn - drawn) / passed, fetch: fetched / shown };
});
console.log(`scrubbing: ${scrub.shown.toFixed(1)} places a second (${scrub.fetch.toFixed(1)} ms to fetch and pose one), ${scrub.drawn.toFixed(1)} pictures a second`);
const play = await page.evaluate(async () => {
  abut.seek(100);
  await new Promise((d) => setTimeout(d, 500));
  const drawn = abut.stage.drawn, start = performance.now();
  abut.play();
  await new Promise((d) => setTimeout(d, 4000));
  abut.pause();
  return (abut.stage.drawn - drawn) / ((performance.now() - start) / 1000);
});
console.log(`playing: ${play.toFixed(1)} pictures a second`);
await page.screenshot({ path: "large.png" });
await browser.close();
server.kill();
