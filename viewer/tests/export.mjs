// What `abut export` writes, read by others: node viewer/tests/export.mjs ABUT OUT
// The page opens from disk in Chromium (headless, software GL) without a network and shows the recording; glTF passes the Khronos
// validator and plays in three.js with the recorded poses; USD is read by TinyUSDZ with the same poses.  Pictures go to OUT.  Exit 77 where browser or packages are missing.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
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

function record(name) {
  const file = join(out, `export-${name}.abut`);
  run("run", join(source, "scenes", `${name}.lua`), "-o", file, "-q");
  return file;
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

async function pageOpensOffline(file, recording) {
  if (!existsSync(chromiumPath)) return console.log(`  page: ${chromiumPath} is missing; apt-get install chromium`);
  const { chromium } = await import(join(viewer, "node_modules", "playwright-core", "index.mjs"));
  const browser = await chromium.launch({ executablePath: chromiumPath,
    args: ["--no-sandbox", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage"] });
  try {
    const context = await browser.newContext({ viewport: { width: 1100, height: 720 }, offline: true });
    const page = await context.newPage(), problems = [];
    page.setDefaultTimeout(90000);
    page.on("pageerror", (e) => problems.push(e.message));
    page.on("console", (m) => m.type() === "error" && problems.push(m.text()));
    const address = pathToFileURL(file).href;
    page.on("request", (r) => r.url() !== address && !/^(data|blob):/.test(r.url()) && problems.push(`request to ${r.url()}`));
    const before = Date.now();
    await page.goto(address);
    await page.waitForFunction(() => window.abut?.loaded);
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
