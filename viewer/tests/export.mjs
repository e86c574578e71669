// What `abut export` writes, read by others: node viewer/tests/export.mjs ABUT OUT [impacts]
// The page opens from disk in Chromium (headless, software GL) without a network and shows the recording; glTF passes the Khronos
// validator and plays in three.js with the recorded poses; USD is read by TinyUSDZ with the same poses.  A click on an impact shows in the
// page from disk what it shows in the served one.  Pictures go to OUT.  Exit 77 where browser or packages are missing.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { usdHolds, usdReader } from "./usd.mjs";

const viewer = join(dirname(fileURLToPath(import.meta.url)), ".."), source = join(viewer, "..");
const abut = resolve(process.argv[2]), out = resolve(process.argv[3]);
const chromiumPath = process.env.CHROMIUM || "/usr/bin/chromium";
const skip = (why) => (console.log(`skipped: ${why}`), process.exit(77));
if (!existsSync(join(viewer, "node_modules", "gltf-validator"))) {
  const done = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"], { cwd: viewer, stdio: "inherit" });
  if (done.status !== 0) skip("npm ci found no packages");
}
const packages = createRequire(join(viewer, "package.json"));
mkdirSync(out, { recursive: true });

const run = (...args) => execFileSync(abut, args, { encoding: "utf8", maxBuffer: 1 << 28 });
const near = (a, b, tolerance, what) => assert.ok(Math.abs(a - b) <= tolerance, `${what}: ${a} is not ${b}`);
const rows = (text) => text.trim().split("\n").slice(1).map((line) => line.split(","));

function record(name, scene = join(source, "scenes", `${name}.lua`)) {
  const file = join(out, `export-${name}.abut`);
  run("run", scene, "-o", file, "-q");
  return file;
}
async function serve(recording) {
  const child = spawn(abut, ["view", recording, "--no-browser"], { stdio: ["ignore", "pipe", "ignore"] });
  const address = await new Promise((done, fail) => {
    let text = "";
    child.stdout.on("data", (d) => (text += d).includes("\n") && done(text.trim()));
    child.on("exit", () => fail(new Error("abut view ended")));
  });
  return { address, end: () => child.kill() };
}
function exported(recording, format) {
  const file = recording.replace(/abut$/, format);
  run("export", recording, "--to", format, "-o", file);
  return file;
}

async function glbIsValid(file) {
  const { issues } = await packages("gltf-validator").validateBytes(new Uint8Array(readFileSync(file)));
  assert.equal(issues.numErrors + issues.numWarnings, 0, JSON.stringify(issues.messages.slice(0, 5)));
}

// At every tenth frame each body is where the recording has its shape: for these scenes the centre of mass is the shape's origin.
// three.js has y up: (x, y, z) is drawn at (x, z, -y).
async function glbPlays(file, recording) {
  const THREE = await import(pathToFileURL(packages.resolve("three/src/Three.js")).href);
  const { GLTFLoader } = await import(pathToFileURL(join(viewer, "node_modules/three/examples/jsm/loaders/GLTFLoader.js")).href);
  globalThis.self ??= globalThis;
  const bytes = readFileSync(file);
  const gltf = await new Promise((done, fail) =>
    new GLTFLoader().parse(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), "", done, fail));
  const mixer = new THREE.AnimationMixer(gltf.scene);
  mixer.clipAction(gltf.animations[0]).play();
  const tracks = rows(readFileSync(exported(recording, "csv"), "utf8"));
  const times = [...new Set(tracks.map((r) => r[0]))].map(Number);
  for (let k = 0; k < times.length - 1; k += 10) {
    mixer.setTime(times[k]);
    gltf.scene.updateMatrixWorld(true);
    for (const row of tracks.filter((r) => Number(r[0]) === times[k])) {
      const node = gltf.scene.getObjectByName(row[1]);
      assert.ok(node, row[1]);
      const m = node.matrixWorld.elements, [x, y, z] = row.slice(2, 5).map(Number);
      [x, z, -y].forEach((want, i) => near(m[12 + i], want, 2e-5, `${row[1]} at ${times[k]} along ${i}`));
    }
  }
}

async function launch() {
  const { chromium } = await import(join(viewer, "node_modules", "playwright-core", "index.mjs"));
  return chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage"] });
}
// A page, and what went wrong in it.
async function open(browser, address, offline) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 720 }, offline });
  const page = await context.newPage(), problems = [];
  page.setDefaultTimeout(240000);
  page.on("pageerror", (e) => problems.push(e.message));
  page.on("console", (m) => m.type() === "error" && problems.push(m.text()));
  page.on("request", (r) => offline && r.url() !== address && !/^(data|blob):/.test(r.url()) && problems.push(`request to ${r.url()}`));
  await page.goto(address);
  await page.waitForFunction(() => window.abut?.loaded);
  return { page, problems };
}

async function pageOpensOffline(file, recording) {
  if (!existsSync(chromiumPath)) return console.log(`  page: ${chromiumPath} is missing; apt-get install chromium`);
  const browser = await launch();
  try {
    const before = Date.now(), { page, problems } = await open(browser, pathToFileURL(file).href, true);
    console.log(`  page: ${(statSync(file).size / 1e6).toFixed(2)} MB, open after ${Date.now() - before} ms`);
    const tracks = rows(readFileSync(exported(recording, "csv"), "utf8"));
    const names = [...new Set(tracks.map((r) => r[1]))], frames = tracks.length / names.length;
    assert.equal(await page.evaluate(() => abut.motion.frames), frames);
    const events = JSON.parse(run("events", recording, "--json")).events;
    assert.equal(await page.evaluate(() => abut.motion.events.length), events.length);
    for (const k of [0, Math.floor(frames / 3), frames - 1]) {
      const t = Number(tracks[k * names.length][0]);
      await page.evaluate((time) => abut.seek(time), t);
      await page.waitForFunction((time) => Math.abs(abut.time - time) < 1e-9, t);
      const { frame, numbers } = await page.evaluate(() => ({ frame: Array.from(abut.frame), numbers: abut.head.numbers }));
      names.forEach((name, b) => tracks[k * names.length + b].slice(2, 2 + numbers).map(Number)
        .forEach((want, i) => near(frame[b * numbers + i], want, 0, `${name}, number ${i} at frame ${k}`)));
    }
    await page.screenshot({ path: join(out, "export-page.png") });
    assert.deepEqual(problems, []);
  } finally {
    await browser.close();
  }
}

// What a click on a mark of the timeline shows: the event, the state, the contacts, what is drawn, and the words of the panel.
async function clickEvent(page, index) {
  const at = await page.evaluate((i) => abut.timeline.position(i), index), box = await page.locator("#timeline").boundingBox();
  await page.mouse.click(box.x + at.x, box.y + at.y);
  await page.waitForFunction(() => abut.shownEvent >= 0 && abut.shownEvent === abut.selectedEvent?.index);
  return page.evaluate(() => ({ event: abut.selectedEvent, frame: Array.from(abut.frame), contacts: abut.contacts, shown: abut.overlay.shown,
    panel: document.getElementById("details-event").textContent }));
}

// Two boxes of 0.3 x 0.2 m fall flat, one on a table and one on the floor; a ball falls on the floor; a box slides onto nothing.
const falls = `-- flat falls
world { title = "flat falls", duration = 0.6, frame = 1/60 }
material { restitution = 0.5, friction = 0.3 }
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
body { name = "table", shape = solid.box {0.5, 0.4, 0.2}, fixed = true, position = {0, 0, 0.1} }
body { name = "upper", shape = solid.box {0.3, 0.2, 0.1}, position = {0, 0, 0.5} }
body { name = "lower", shape = solid.box {0.3, 0.2, 0.1}, position = {1, 0, 0.45} }
body { name = "ball", shape = sphere {0.1}, position = {2, 0, 0.6} }
body { name = "slider", shape = solid.box {0.2, 0.2, 0.1}, position = {3, 0, 0.05}, velocity = {1, 0, 0} }
`;
async function impactsAreThoseOfTheServedPage() {
  if (!existsSync(chromiumPath)) return;
  const scene = join(out, "falls.lua");
  writeFileSync(scene, falls);
  const recording = record("falls", scene), server = await serve(recording), browser = await launch();
  try {
    const served = await open(browser, server.address, false), stored = await open(browser, pathToFileURL(exported(recording, "html")).href, true);
    const events = JSON.parse(run("events", recording, "--json")).events, kinds = new Set();
    for (const [i, event] of events.entries()) {
      const a = await clickEvent(served.page, i), b = await clickEvent(stored.page, i);
      assert.deepEqual(b, a, `event ${i}, ${event.kind}`);
      kinds.add(event.kind);
      const flat = ["upper", "lower"].find((name) => a.event.kind === "impact" && events[a.event.index].bodies.includes(name));
      if (!flat) continue;
      const regions = b.contacts.filter((c) => c.frame === -2);
      assert.equal(regions.length, 1, `${flat}: a region of the instant`);
      near(regions[0].area, 0.06, 1e-7, `${flat}: its area`);
      assert.match(b.panel, /Region of the instant.*0\.06 m²/);
      const bounce = events.slice(0, a.event.index).filter((e) => e.kind === "impact" && e.bodies.includes(flat)).length;
      const fall = (flat === "upper" ? 0.25 : 0.4) / 4 ** bounce, impulse = 1.5 * 6 * Math.sqrt(2 * 9.81 * fall); // 6 kg, restitution 0.5
      near(Number(/size([\d.]+)\sN\ss/.exec(b.panel)[1]), impulse, 1e-6, `${flat}: its impulse`);
      near(Number(/energy before([\d.]+)\sJ/.exec(b.panel)[1]), 6 * 9.81 * fall, 1e-5, `${flat}: its energy before`);
      near(Number(/energy after([\d.]+)\sJ/.exec(b.panel)[1]), 6 * 9.81 * fall / 4, 1e-5, `${flat}: its energy after`);
      if (a.event.index === i && flat === "upper") await stored.page.screenshot({ path: join(out, "export-impact.png") });
    }
    for (const kind of ["impact", "stick"]) assert.ok(kinds.has(kind), `${[...kinds]}`);
    assert.deepEqual([...served.problems, ...stored.problems], []);
    console.log(`ok: ${events.length} events of the exported page are those of the served one`);
  } finally {
    await browser.close();
    server.end();
  }
}

if (process.argv[4] === "impacts") {
  await impactsAreThoseOfTheServedPage();
  process.exit(0);
}
const Reader = await usdReader();
if (!Reader) console.log("  USD: npm has no tinyusdz; tests/record/read_scene_files.py has read it by its grammar");
for (const [name, centred, page] of [["demo", true, true], ["four-bar", true, false], ["rattleback", false, true]]) {
  const recording = record(name), glb = exported(recording, "glb");
  await glbIsValid(glb);
  if (centred) await glbPlays(glb, recording);
  console.log(`ok: ${name}.glb`);
  if (centred && Reader) {
    usdHolds(Reader, exported(recording, "usda"), rows(readFileSync(exported(recording, "csv"), "utf8")));
    console.log(`ok: ${name}.usda by TinyUSDZ`);
  }
  if (!page) continue;
  await pageOpensOffline(exported(recording, "html"), recording);
  console.log(`ok: ${name}.html`);
}
await impactsAreThoseOfTheServedPage();
