// How a large recording opens and scrubs: node viewer/tests/large.mjs ABUT REC [PICTURE.png]
// (viewer/tests/large-recording.py makes one.)  Measured are
// - the time from the start of `abut view` to the first picture of all bodies that the drawing has finished, and to all events and plots;
// - dragging the scrubber through the whole recording: different frames that were drawn a second, pictures a second;
// - the processor time of such a picture in all processes, which does not depend on what else the machine does;
// - a frame that is fetched alone, and a run that plays.
// CHROMIUM_FLAGS: other flags for the browser.  Those here are what a computer without a graphics card has: WebGL by SwiftShader, and the
// page put together by the browser itself; with --ignore-gpu-blocklist SwiftShader does that too, at four times the work.
import { execFileSync, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
const here = dirname(fileURLToPath(import.meta.url));
const { chromium } = await import(join(here, "..", "node_modules", "playwright-core", "index.mjs"));
const [, , abut, recording, picture] = process.argv;

// Seconds of processor time of a process and all below it, by what they are: the page, what draws, the browser, its helpers, abut, this script.
const tick = 1 / Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
function processorTime(root) {
  const all = readdirSync("/proc").filter((f) => /^\d+$/.test(f)).flatMap((pid) => {
    try {
      const field = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/.*\) /s, "").split(" ");
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8"), type = /--type=([\w-]+)/.exec(command)?.[1] ?? command.split("\0")[0].replace(/.*\//, "");
      return [{ pid: Number(pid), parent: Number(field[1]), type, time: (Number(field[11]) + Number(field[12])) * tick }];
    } catch {
      return [];
    }
  });
  const sums = {}, add = (p) => ((sums[p.type] = (sums[p.type] ?? 0) + p.time), all.filter((q) => q.parent === p.pid).forEach(add));
  all.filter((p) => p.pid === root).forEach(add);
  return sums;
}
const spent = () => processorTime(process.pid);
// What was spent since then, for each of n pictures: the sum, and its parts.  This script is no part of it.
function told(then, n, unit, digits) {
  const now = spent(), parts = Object.keys(now).filter((k) => k !== "node").map((k) => [k, (now[k] - (then[k] ?? 0)) / n]).filter((p) => p[1] * 1000 > 0.3 * n ** -0.5).sort((a, b) => b[1] - a[1]);
  const scale = unit === "ms" ? 1000 : 1, sum = parts.reduce((s, p) => s + p[1], 0);
  return `${(scale * sum).toFixed(digits)} ${unit} of processor time (${parts.map(([k, v]) => `${k} ${(scale * v).toFixed(digits)}`).join(", ")})`;
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox", ...(process.env.CHROMIUM_FLAGS ?? "--enable-unsafe-swiftshader").split(" ")],
});
const page = await browser.newPage({ viewport: { width: 1100, height: 720 } });
page.setDefaultTimeout(120000);
const began = performance.now(), spentBefore = spent();
const since = () => `${((performance.now() - began) / 1000).toFixed(2)} s`;
const server = spawn(abut, ["view", recording, "--no-browser"], { stdio: ["ignore", "pipe", "ignore"] });
const address = await new Promise((done) => server.stdout.on("data", (d) => done(String(d).trim())));
console.log(`served after ${since()}`);
// the page looks itself, right after it has drawn: the next picture, a finer one, is not waited for
await page.addInitScript(() => {
  const look = () => {
    if (!(window.abut?.motion && abut.stage.drawn > 0)) return requestAnimationFrame(look);
    const gl = abut.stage.renderer.getContext();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); // returns when all is drawn
    window.firstPicture = performance.timeOrigin + performance.now();
  };
  requestAnimationFrame(look);
});
const beganAt = Date.now() - (performance.now() - began);
await page.goto(address, { waitUntil: "commit" });
await page.waitForFunction(() => window.firstPicture, null, { polling: 20 });
const first = (await page.evaluate(() => firstPicture)) - beganAt;
const parts = await page.evaluate(() => performance.getEntriesByType("resource").filter((e) => /data\//.test(e.name)).slice(0, 5)
  .map((e) => `${e.name.replace(/.*data\//, "")} ${e.startTime.toFixed(0)}-${e.responseEnd.toFixed(0)} ms`));
console.log(`first picture after ${(first / 1000).toFixed(2)} s, ${told(spentBefore, 1, "s", 2)}; ${parts.join(", ")}`);
await page.waitForFunction(() => abut.motion.events.length > 0, null, { polling: 20 });
console.log(`the timeline after ${since()}`);
await page.waitForFunction(() => abut.loaded);
console.log(`all ${await page.evaluate(() => abut.motion.events.length)} events and the plots after ${since()}`);
await page.waitForFunction(() => abut.motion.overview?.complete ?? true);
console.log(`the overview for the scrubber after ${since()}`);
await page.waitForTimeout(500);

// the scrubber, by mouse, from left to right and back
await page.evaluate(() => {
  window.seen = { frames: new Set(), pictures: 0, ticks: 0, pose: 0 };
  const { stage } = abut, render = stage.render.bind(stage), pose = stage.pose.bind(stage);
  stage.pose = (...x) => {
    const at = performance.now();
    pose(...x);
    seen.pose += performance.now() - at;
    seen.posed = abut.shownFrame;
    seen.fresh = true;
  };
  stage.render = (...x) => {
    const drawn = render(...x);
    seen.ticks++;
    if (drawn && seen.fresh) seen.frames.add(abut.shownFrame), seen.pictures++, (seen.fresh = false);
    return drawn;
  };
});
// what a mouse does that tells its place once a turn of the page: the scrubber is held, and each turn it is elsewhere
const seconds = 6, spentThen = spent();
const passed = await page.evaluate(async (seconds) => {
  const start = performance.now(), line = document.getElementById("timeline"), box = line.getBoundingClientRect();
  const at = (part, type) => line.dispatchEvent(new PointerEvent(type, { pointerId: 1, clientX: box.left + 70 + (box.width - 100) * part, clientY: box.top + 6, bubbles: true }));
  line.setPointerCapture = () => undefined; // there is no such pointer
  at(0.05, "pointerdown");
  for (let part = 0; part < 1; ) {
    part = (performance.now() - start) / (1000 * seconds);
    at(0.05 + 0.9 * (part < 0.5 ? 2 * part : 2 - 2 * part), "pointermove");
    await new Promise(requestAnimationFrame);
  }
  at(0.05, "pointerup");
  return (performance.now() - start) / 1000;
}, seconds);
const seen = await page.evaluate(() => ({ ...seen, frames: seen.frames.size, quality: abut.stage.quality.level, pixels: abut.stage.quality.pixels, software: abut.stage.software }));
console.log(`scrubbing ${passed.toFixed(1)} s: ${(seen.pictures / passed).toFixed(1)} pictures a second of ${seen.frames} different frames, ` +
  `${(seen.ticks / passed).toFixed(1)} turns of the page; poses ${(seen.pose / seen.pictures).toFixed(2)} ms; ` +
  `a picture takes ${told(spentThen, seen.pictures, "ms", 1)}; quality ${seen.quality}, pixels ${seen.pixels.toFixed(2)}${seen.software ? ", software GL" : ""}`);

// a place that is not in the overview
const one = await page.evaluate(async () => {
  const sum = { fetch: 0, pose: 0 }, n = 40, { motion, stage } = abut;
  for (let i = 0; i < n; i++) {
    const k = (i * 7919 + 13) % motion.frames, a = performance.now();
    await motion.glance(k);
    const b = performance.now();
    stage.pose(motion.frame(k));
    sum.fetch += (b - a) / n, sum.pose += (performance.now() - b) / n;
  }
  return sum;
});
console.log(`one frame: fetched in ${one.fetch.toFixed(1)} ms, posed in ${one.pose.toFixed(2)} ms`);
await page.waitForTimeout(1200);
const play = await page.evaluate(async () => {
  abut.seek(100);
  await new Promise((d) => setTimeout(d, 500));
  const { pictures } = seen, begin = performance.now();
  abut.play();
  await new Promise((d) => setTimeout(d, 4000));
  abut.pause();
  return (seen.pictures - pictures) / ((performance.now() - begin) / 1000);
});
console.log(`playing: ${play.toFixed(1)} pictures a second`);
await page.waitForTimeout(2500);
const rest = await page.evaluate(() => ({ contacts: abut.contacts.length, shown: abut.overlay.shown }));
console.log(`at rest: ${rest.contacts} contacts, ${rest.shown.forces} forces drawn`);
if (picture) await page.screenshot({ path: picture });
await browser.close();
server.kill();
