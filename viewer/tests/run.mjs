// The page in a browser: node viewer/tests/run.mjs ABUT OUT [WORD]
// Starts `abut view`, looks at the page with Chromium (headless, software GL), and compares what the page shows with what the
// other commands print.  Pictures go to OUT.  WORD: only the tests whose name has it.  Exit 77 where the browser is missing.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url)), viewer = join(here, ".."), source = join(viewer, "..");
const abut = resolve(process.argv[2]), out = resolve(process.argv[3]), word = process.argv[4] ?? "";
const chromiumPath = process.env.CHROMIUM || "/usr/bin/chromium";
const skip = (why) => (console.log(`skipped: ${why}`), process.exit(77));
if (!existsSync(chromiumPath)) skip(`${chromiumPath} is missing; apt-get install chromium`);
if (!existsSync(join(viewer, "node_modules", "playwright-core"))) {
  const done = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"], { cwd: viewer, stdio: "inherit" });
  if (done.status !== 0) skip("npm ci found no packages");
}
const { chromium } = await import(join(viewer, "node_modules", "playwright-core", "index.mjs"));
mkdirSync(out, { recursive: true });

const run = (...args) => execFileSync(abut, args, { encoding: "utf8", maxBuffer: 1 << 28 });
const json = (...args) => JSON.parse(run(...args, "--json"));
const scene = (name) => join(source, "scenes", `${name}.lua`);
const record = (name, ...more) => {
  const file = join(out, `${name}.abut`);
  run("run", scene(name), "-o", file, "-q", ...more);
  return file;
};
// The state of a body at a time, from `abut track`.
const track = (file, body, time) => {
  const row = run("track", file, "--body", body, "--at", String(time)).trim().split("\n").pop().split(",").map(Number);
  return { center: row.slice(1, 4), quaternion: row.slice(4, 8), velocity: row.slice(8, 11) };
};
const near = (a, b, tolerance, what) => assert.ok(Math.abs(a - b) <= tolerance, `${what}: ${a} is not ${b}`);
const nearAll = (a, b, tolerance, what) => [...b].forEach((x, i) => near(a[i], x, tolerance, `${what}[${i}]`));

const servers = [];
async function serve(...args) {
  const child = spawn(abut, ["view", ...args, "--no-browser"], { stdio: ["ignore", "pipe", "ignore"] });
  servers.push(child);
  const address = await new Promise((done, fail) => {
    let text = "";
    child.stdout.on("data", (d) => (text += d).includes("\n") && done(text.trim()));
    child.on("exit", () => fail(new Error("abut view ended")));
  });
  return address;
}

const browser = await chromium.launch({
  executablePath: chromiumPath,
  args: ["--no-sandbox", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage"],
});
const problems = [];
async function open(address, width = 1100, height = 720) {
  const page = await browser.newPage({ viewport: { width, height } });
  page.setDefaultTimeout(240000);
  page.on("pageerror", (e) => problems.push(`error in the page: ${e.message}`));
  page.on("console", (m) => m.type() === "error" && problems.push(`console: ${m.text()}`));
  page.on("request", (r) => {
    const url = r.url();
    if (!url.startsWith(new URL(address).origin) && !/^(data|blob):/.test(url) && url !== address) problems.push(`request to ${url}`);
  });
  await page.goto(address);
  await page.waitForFunction(() => window.abut?.loaded || document.querySelector(".cards, .failure"));
  return page;
}
const state = (page) => page.evaluate(() => ({
  time: abut.time, playing: abut.playing, frames: abut.motion.frames, drawn: abut.stage.drawn, shown: abut.overlay.shown,
  contacts: abut.contacts.length, frame: Array.from(abut.frame), numbers: abut.head.numbers, event: abut.selectedEvent, body: abut.selectedBody,
}));
const cells = (page, section) => page.$$eval(`${section} tr`, (rows) => Object.fromEntries(rows.map((r) => [r.cells[0].textContent, r.cells[1].textContent])));
const number = (text) => Number(text.replace(/\u2212/g, "-").replace(/\s.*$/s, ""));
const numbers = (text) => text.replace(/\u2212/g, "-").split(/[,\s]+/).map(Number).filter((x) => !Number.isNaN(x));
const picture = (page) => page.evaluate(() => abut.stage.picture());
const shoot = (page, name) => page.screenshot({ path: join(out, `${name}.png`) });

const tests = [];
const test = (name, body) => tests.push([name, body]);
const demo = record("demo");

test("a recording opens with its bodies, frames and audit", async () => {
  const page = await open(await serve(demo));
  const s = await state(page), summary = json("events", demo);
  assert.equal(s.frames, 121);
  assert.equal(await page.locator("#tree .row").count(), 4);
  assert.equal(await page.locator("#audit").textContent(), "promises kept");
  assert.equal(await page.evaluate(() => abut.motion.events.length), summary.events.length);
  assert.match(await page.locator("#clock").textContent(), /t = 0\.0000 s +frame 0 \/ 120/);
  const energy = run("energy", demo).trim().split("\n").slice(1).map((l) => l.split(",").map(Number));
  const shown = await page.evaluate(() => abut.plots.last.system);
  energy.forEach((row, k) => near(shown[0][k], row[1], 1e-12 * Math.abs(row[1]) + 1e-12, `kinetic energy of frame ${k}`));
  energy.forEach((row, k) => near(shown[2][k], row[4], 1e-12 * Math.abs(row[4]) + 1e-12, `total energy of frame ${k}`));
  await shoot(page, "recording");
  await page.close();
});

test("play, pause, step by frame, speed", async () => {
  const page = await open(await serve(demo));
  await page.click("#play");
  await page.waitForFunction(() => abut.time > 0.2);
  await page.click("#play");
  const paused = (await state(page)).time;
  await page.waitForTimeout(300);
  const s = await state(page);
  assert.equal(s.time, paused);
  assert.ok(!s.playing && s.drawn > 2);
  await page.evaluate(() => abut.seek(0.5));
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => abut.time > 0.5);
  near((await state(page)).time, 31 / 60, 1e-9, "one frame on");
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction(() => abut.time < 0.51);
  near((await state(page)).time, 30 / 60, 1e-9, "one frame back");
  await page.keyboard.press("+");
  assert.equal(await page.locator("#speed").inputValue(), "2");
  await page.keyboard.press("End");
  await page.waitForFunction(() => abut.time === 2);
  await page.close();
});

test("scrubbing shows the recorded state", async () => {
  const page = await open(await serve(demo));
  const box = await page.locator("#timeline").boundingBox();
  await page.mouse.move(box.x + 70, box.y + 6);
  await page.mouse.down();
  for (const part of [0.2, 0.8, 0.4]) await page.mouse.move(box.x + 62 + part * (box.width - 86), box.y + 6);
  await page.mouse.up();
  await page.waitForFunction(() => Math.abs(abut.time - 0.8) < 0.03);
  for (const k of [0, 17, 60, 120]) {
    await page.evaluate((t) => abut.seek(t), k / 60);
    await page.waitForFunction((t) => Math.abs(abut.time - t) < 1e-9, k / 60);
    const s = await state(page);
    for (const [i, name] of ["floor", "block", "bouncing", "sliding"].entries()) {
      const want = track(demo, name, k / 60);
      nearAll(s.frame.slice(i * s.numbers, i * s.numbers + 3), want.center, 1e-12, `${name} at frame ${k}`);
    }
  }
  await page.close();
});

test("click an impact: its instant, impulse, energies and region", async () => {
  const page = await open(await serve(demo));
  const events = json("events", demo).events, index = events.findIndex((e) => e.kind === "impact" && e.bodies.includes("bouncing"));
  const at = await page.evaluate((i) => abut.timeline.position(i), index);
  const box = await page.locator("#timeline").boundingBox();
  await page.mouse.click(box.x + at.x, box.y + at.y);
  await page.waitForSelector("#details-event");
  const chosen = (await state(page)).event, want = events[chosen.index];
  near(want.time, events[index].time, 0.012, "the mark that was clicked");
  await page.waitForFunction(() => abut.contacts.some((c) => c.frame === -1) || abut.contacts.length === 0);
  const shown = await cells(page, "#details-event");
  near(number(shown.time), want.time, 1e-10, "time");
  const size = Math.hypot(...want.impulse);
  near(number(shown.size), size, 1e-8 * size, "impulse");
  near(number(shown["energy before"]), want.energy_before, 1e-8 * want.energy_before, "energy before");
  near(number(shown["energy after"]), want.energy_after, 1e-8 * want.energy_before, "energy after");
  nearAll(numbers(shown.normal), want.normal.map((x) => (want.bodies[0] === "floor" ? -x : x)), 1e-3, "normal, towards the body that moves");
  const on = want.bodies.find((b) => b !== "floor");
  nearAll(numbers(shown[`impulse on ${on}`]), want.impulse.map((x) => (want.bodies[0] === "floor" ? -x : x)), 1e-3 * size, "impulse on the body that moves");
  const s = await state(page);
  const exact = track(demo, "bouncing", want.time);
  nearAll(s.frame.slice(2 * s.numbers, 2 * s.numbers + 3), exact.center, 1e-12, "the ball at the instant");
  nearAll(s.frame.slice(2 * s.numbers + 7, 2 * s.numbers + 10), exact.velocity, 1e-12, "its velocity just after");
  await shoot(page, "impact");
  await page.keyboard.press("Shift+ArrowRight");
  await page.waitForFunction((i) => abut.selectedEvent?.index === i, chosen.index + 1);
  near((await state(page)).time, events[chosen.index + 1].time, 1e-12, "the next event");
  await page.keyboard.press("Shift+ArrowLeft");
  await page.waitForFunction((i) => abut.selectedEvent?.index === i, chosen.index);
  await page.close();
});

test("the region of an impact between solids, and of a solid with the floor", async () => {
  // two boxes fall flat: one on a box of 0.5 x 0.4 m, one on the floor; both touch on their whole lower faces and bounce
  const file = join(out, "flat.lua"), recording = join(out, "flat.abut");
  writeFileSync(file, `-- flat falls
world { title = "flat falls", duration = 0.5, frame = 1/60 }
material { restitution = 0.5 }
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
body { name = "table", shape = solid.box {0.5, 0.4, 0.2}, fixed = true, position = {0, 0, 0.1} }
body { name = "upper", shape = solid.box {0.2, 0.3, 0.1}, position = {0, 0, 0.5} }
body { name = "lower", shape = solid.box {0.3, 0.1, 0.1}, position = {2, 0, 0.5} }
`);
  run("run", file, "-o", recording, "-q");
  const page = await open(await serve(recording), 900, 640);
  for (const [name, area] of [["upper", 0.2 * 0.3], ["lower", 0.3 * 0.1]]) {
    const index = await page.evaluate((n) => 
      Array.from({ length: abut.motion.events.length }, (_, i) => abut.motion.events.known(i))
        .findIndex((e) => e.kind === "impact" && e.bodies.some((b) => abut.head.bodies[b]?.name === n)), name);
    assert.ok(index >= 0, `${name} has an impact`);
    await page.evaluate((i) => abut.goToEvent(i), index);
    const regions = await page.evaluate((n) => abut.contacts.filter((c) => c.frame === -2 && c.bodies.some((b) => abut.head.bodies[b].name === n)), name);
    assert.equal(regions.length, 1, `${name}: one region`);
    assert.equal(regions[0].dimension, 2);
    near(regions[0].area, area, 1e-6 * area, `${name}: area of the region`);
    assert.match(await page.locator("#details-event").textContent(), /Region of the instant/);
  }
  await shoot(page, "flat");
  await page.close();
});

test("the region of an impact has its holes and dents", async () => {
  // a square ring of 0.4 m with a hole of 0.2 m falls flat on a table and another on the floor: 0.12 m2 with two loops;
  // an L of 0.3 m without a square of 0.2 m on the floor: 0.05 m2, one loop of six corners, and not their hull
  const corners = [-0.05, 0.05].flatMap((z) => [0.2, 0.1].flatMap((s) => [[-s, -s, z], [s, -s, z], [s, s, z], [-s, s, z]]));
  const faces = [0, 1, 2, 3].flatMap((i) => {
    const j = (i + 1) % 4; // outer 0..3, inner 4..7, above 8 more
    return [[i, j, 8 + j, 8 + i], [4 + j, 4 + i, 12 + i, 12 + j], [8 + i, 8 + j, 12 + j, 12 + i], [j, i, 4 + i, 4 + j]];
  });
  writeFileSync(join(out, "ring.obj"), [...corners.map((v) => `v ${v.join(" ")}`), ...faces.map((f) => `f ${f.map((k) => k + 1).join(" ")}`)].join("\n") + "\n");
  const file = join(out, "ring.lua"), recording = join(out, "ring.abut");
  writeFileSync(file, `-- rings fall
world { title = "rings fall", duration = 0.5, frame = 1/60 }
material { restitution = 0.5 }
local ring = solid.mesh { file = "ring.obj" }
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
body { name = "table", shape = solid.box {1, 1, 0.2}, fixed = true, position = {0, 0, 0.1} }
body { name = "upper", shape = ring, position = {0, 0, 0.6} }
body { name = "lower", shape = ring, position = {1.5, 0, 0.5} }
body { name = "angle", shape = solid.prism { {{0, 0}, {0.3, 0}, {0.3, 0.1}, {0.1, 0.1}, {0.1, 0.3}, {0, 0.3}}, 0.1 }, position = {2.5, 0, 0.4} }
`);
  run("run", file, "-o", recording, "-q");
  const page = await open(await serve(recording), 900, 640);
  for (const [name, area, loops] of [["upper", 0.12, 2], ["lower", 0.12, 2], ["angle", 0.05, 1]]) {
    const index = await page.evaluate((n) =>
      Array.from({ length: abut.motion.events.length }, (_, i) => abut.motion.events.known(i))
        .findIndex((e) => e.kind === "impact" && e.bodies.some((b) => abut.head.bodies[b]?.name === n)), name);
    await page.evaluate((i) => abut.goToEvent(i), index);
    const regions = await page.evaluate((n) => abut.contacts.filter((c) => c.frame === -2 && c.bodies.some((b) => abut.head.bodies[b].name === n)), name);
    assert.equal(regions.length, 1, `${name}: one region`);
    near(regions[0].area, area, 1e-6 * area, `${name}: area of the region`);
    assert.equal(regions[0].loops.length, loops, `${name}: loops`);
    // what is drawn: triangles whose areas sum to the region's
    const drawn = await page.evaluate(() => {
      const p = abut.overlay.areas.geometry.getAttribute("position").array, sub = (i, j) => [0, 1, 2].map((k) => p[i + k] - p[j + k]);
      let sum = 0;
      for (let i = 0; i < p.length; i += 9) {
        const [a, b] = [sub(i + 3, i), sub(i + 6, i)];
        sum += Math.hypot(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]) / 2;
      }
      return sum;
    });
    near(drawn, area, 1e-5 * area, `${name}: area of what is drawn`);
    if (name !== "angle") await shoot(page, `ring-${name}`);
  }
  await page.close();
});

test("contacts drawn are those of abut contacts", async () => {
  const page = await open(await serve(demo));
  await page.evaluate(() => abut.seek(2));
  await page.waitForFunction(() => abut.time === 2 && abut.contacts.length > 0);
  const want = json("contacts", demo, "--at", "2").contacts, s = await state(page);
  const count = (d) => want.filter((c) => c.dimension === d).length;
  assert.deepEqual([s.shown.points, s.shown.lines, s.shown.regions], [count(0), count(1), count(2)]);
  assert.equal(s.shown.forces, want.reduce((n, c) => n + c.points.length, 0));
  await page.locator("#details-overview .contact-line").first().click();
  const shown = await cells(page, "#details-contact"), area = want.find((c) => c.dimension === 2);
  near(number(shown.area), area.area, 1e-5 * area.area, "area");
  const total = area.forces.reduce((f, g) => f.map((x, i) => x + g[i]), [0, 0, 0]);
  near(number(shown.size), Math.hypot(...total), 1e-5 * Math.hypot(...total), "force");
  near(Math.hypot(...total), 24 * 9.81, 1e-6, "the weight of the block"); // it rests: the floor carries 24 kg
  await page.close();
});

// What is drawn with a layer on or off, held against the recording where it is of the contacts.
async function layerHolds(page, layer, on, recording, shown) {
  if (layer === "edges" || layer === "patches") {
    const lines = await page.evaluate((patches) => abut.stage.groups.flatMap((g) => g.lines.filter((l) => (l.name === "patches") === patches)
      .map((l) => ({ visible: l.visible, corners: l.geometry.getAttribute("position").count }))), layer === "patches");
    assert.ok(lines.length > 0 && lines.every((l) => l.visible === on && l.corners > 0), `${layer}: lines ${JSON.stringify(lines)}`);
  } else if (layer === "shadows") assert.equal(await page.evaluate(() => abut.stage.sun.castShadow), on);
  else if (layer === "wireframe") assert.deepEqual(await page.evaluate(() => abut.stage.groups.map((g) => g.faces.material.wireframe)), [on, on]);
  else if (layer === "translucent") assert.deepEqual(await page.evaluate(() => abut.stage.groups.map((g) => g.faces.material.opacity)), on ? [0.35, 0.35] : [1, 1]);
  else if (layer === "slice") {
    const told = await page.locator(".slice-controls").getAttribute("title");
    if (on) assert.match(told, /^block: \d+ nodes, height \d+, \d+ cells$/);
    assert.equal(await page.evaluate(() => abut.overlay.sliceGroup.children.length > 0), on);
  } else {
    const contacts = json("contacts", recording, "--at", "2").contacts, points = contacts.reduce((n, c) => n + c.points.length, 0);
    const want = { regions: contacts.filter((c) => c.dimension === 2).length, normals: points, forces: points, friction: points, pressure: contacts.length };
    assert.equal(shown[layer], on ? want[layer] : 0, `${layer} ${on ? "on" : "off"}`);
    if (on && layer === "pressure") {
      const at = await page.evaluate(() => Array.from(abut.overlay.pressures.object.geometry.getAttribute("position").array));
      nearAll(at, contacts.flatMap((c) => c.center_of_pressure), 1e-6, "centres of pressure");
    }
    if (on && layer === "friction") {
      const states = await page.evaluate(() => [...document.querySelectorAll(".legend span")].map((s) => s.textContent));
      for (const state of new Set(contacts.map((c) => c.state))) assert.ok(states.includes(state), `the legend says ${states}, not ${state}`);
    }
  }
}

test("every layer changes the picture and the data drawn", async () => {
  const file = record("rattleback", "--duration", "0.5");
  for (const [recording, layers] of [[demo, ["edges", "shadows", "wireframe", "translucent", "regions", "normals", "forces", "pressure", "friction", "slice"]], [file, ["patches"]]]) {
    const page = await open(await serve(recording), 900, 640);
    await page.evaluate((t) => abut.seek(t), recording === demo ? 2 : 0.2);
    await page.waitForTimeout(200);
    for (const layer of layers) {
      const before = await picture(page), shown = (await state(page)).shown;
      await page.locator(`#layer-${layer}`).click();
      if (layer === "slice") await page.waitForFunction(() => Number(document.querySelector(".slice-controls").dataset.cells) > 0);
      await page.waitForTimeout(80);
      const after = await picture(page), now = (await state(page)).shown;
      assert.notEqual(before, after, `${layer} changes nothing`);
      const on = await page.locator(`#layer-${layer}`).isChecked();
      await layerHolds(page, layer, on, recording, now);
      if (layer === "slice") await shoot(page, "slice");
      await page.locator(`#layer-${layer}`).click();
      await page.waitForTimeout(60);
      assert.deepEqual((await state(page)).shown, shown, `${layer} does not go back`);
    }
    await page.close();
  }
});

test("an area of contact with a dent, and one with a hole", async () => {
  // an L of 3 unit squares and a frame of 12 lie on the floor
  const at = (z) => [[-2, -2], [2, -2], [2, 2], [-2, 2], [-1, -1], [1, -1], [1, 1], [-1, 1]].map(([x, y]) => `v ${x} ${y} ${z}`).join("\n");
  const quads = [0, 1, 2, 3].flatMap((i) => {
    const j = (i + 1) % 4, [a, b, c, d] = [i, j, 4 + j, 4 + i];
    return [[8 + a, 8 + b, 8 + c, 8 + d], [d, c, b, a], [a, b, 8 + b, 8 + a], [c, d, 8 + d, 8 + c]];
  });
  writeFileSync(join(out, "frame.obj"), `${at(0)}\n${at(1)}\n${quads.map((q) => `f ${q.map((i) => i + 1).join(" ")}`).join("\n")}\n`);
  const file = join(out, "areas.lua"), recording = join(out, "areas.abut");
  writeFileSync(file, `-- areas
world { title = "areas", duration = 0.1, frame = 1/60 }
material { friction = 0.5 }
body { name = "floor", shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }
body { name = "angle", shape = solid.prism { { {0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2} }, 1 }, position = {5, 0, 0.5} }
body { name = "frame", shape = solid.mesh { file = "frame.obj" }, position = {0, 0, 0} }
`);
  run("run", file, "-o", recording, "-q");
  const page = await open(await serve(recording), 900, 640);
  await page.evaluate(() => abut.seek(0.1));
  await page.waitForFunction(() => abut.contacts.length === 2);
  const seen = await page.evaluate(() => abut.contacts.map((c) => ({ name: c.bodies.map((b) => abut.head.bodies[b].name).find((n) => n !== "floor"), area: c.area, loops: c.loops.map((l) => l.length) })));
  assert.deepEqual(seen.sort((a, b) => (a.name < b.name ? -1 : 1)).map((c) => [c.name, Math.round(c.area * 1e6) / 1e6, c.loops]), [["angle", 3, [6]], ["frame", 12, [4, 4]]]);
  // what is filled has the same area: nothing over the hole, nothing over the dent
  const filled = await page.evaluate(() => {
    const p = abut.overlay.areas.geometry.getAttribute("position").array, parts = [0, 0];
    for (let i = 0; i < p.length; i += 9) {
      const [ax, ay, , bx, by, , cx, cy] = p.subarray(i, i + 9);
      parts[ax > 3 ? 0 : 1] += Math.abs((bx - ax) * (cy - ay) - (by - ay) * (cx - ax)) / 2;
    }
    return parts;
  });
  nearAll(filled, [3, 12], 1e-5, "filled area");
  await shoot(page, "areas");
  await page.close();
});

// Balls as points: where they are in the frame, some outside of the picture.  The first box: its corners half a diagonal from its middle,
// at most three of its faces are seen, and of a cylinder of 14 sides one end and at most eight of them.
async function plainIsRight({ balls, corners, triangles }, { bodies, frame, n }) {
  const centers = (shape) => bodies.flatMap((b, i) => (b.shape === shape ? [frame.slice(i * n, i * n + 3)] : []));
  const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]), spheres = centers("sphere");
  assert.ok(balls.length > 0 && balls.length / 4 <= spheres.length, `${balls.length / 4} of ${spheres.length} balls`);
  for (let i = 0; i < balls.length; i += 4) {
    assert.ok(spheres.some((c) => distance(c, balls.slice(i, i + 3)) < 1e-5), `ball ${i / 4} is in the frame`);
    near(balls[i + 3], 0.16, 1e-6, "its radius");
  }
  const near4 = centers("solid").filter((c) => [0, 3, 6, 9].every((k) => Math.abs(distance(c, corners.slice(k, k + 3)) - Math.hypot(0.3, 0.24, 0.2) / 2) < 1e-4));
  assert.equal(near4.length, 1, "the first face is one of a box");
  assert.ok(triangles <= 6 * centers("solid").length + (14 + 2 * 8) * centers("cylinder").length, `${triangles} triangles`);
}

// Marks come in pieces: at first some that are evenly apart, with times in between that ascend; at last the time and the kind of each.
async function marksAreTheirOwn(page, all) {
  const { first, last, steps } = await page.evaluate(async () => {
    const { events, source } = abut.motion, n = events.length, stride = 500, list = (e) => Array.from({ length: n }, (_, i) => [e.time(i), e.kind(i)]);
    const some = new events.constructor(abut.head), steps = [];
    some.setSome(n, stride, await source.bytes("marks.bin", `from=0&count=2000&stride=${stride}`));
    const first = list(some);
    // the piece that is looked at comes first
    for (let p = some.missing(20, 21); p; p = some.missing(20, 21)) {
      if (!steps.length) steps.push([p.first, some.from(20), p.first + p.count]);
      some.setPiece(p.first, await source.bytes("marks.bin", `from=${p.first}&count=${p.count}`));
    }
    return { first, last: [list(events), list(some)], steps };
  });
  for (const marks of last) marks.forEach(([time, kind], i) => (near(time, all[i].time, 0, `time of mark ${i}`), assert.equal(kind, all[i].kind)));
  const [from, looked, to] = steps[0];
  assert.ok(from <= looked && looked < to, `the first piece is ${from} to ${to}, not where ${looked} is`);
  first.forEach(([time, kind], i) => {
    if (i % 500 === 0) near(time, all[i].time, 0, `time of mark ${i} of the first`), assert.equal(kind, all[i].kind);
    assert.ok(i === 0 || time >= first[i - 1][0], `mark ${i} of the first`);
  });
}

test("many bodies: one mesh a shape, events by need, contacts at rest", async () => {
  const file = join(out, "rain.abut"), bodies = 400;
  execFileSync("python3", [join(here, "large-recording.py"), abut, file, String(bodies), "30"], { stdio: "ignore" });
  const page = await open(await serve(file), 900, 640), all = json("events", file).events;
  assert.equal(await page.evaluate(() => abut.motion.events.length), all.length);
  assert.ok(all.length > 20000, `${all.length} events`); // so that only marks were fetched
  assert.equal(await page.evaluate(() => abut.motion.events.known(5)), undefined);
  await marksAreTheirOwn(page, all);
  assert.equal(await page.evaluate(() => abut.stage.groups.length), 3, "boxes, balls and cylinders are three meshes");
  assert.equal(await page.locator("#tree .row").count(), bodies);
  const i = Math.floor(0.7 * all.length);
  await page.evaluate((n) => abut.goToEvent(n), i);
  const event = await page.evaluate(() => abut.selectedEvent);
  near(event.time, all[i].time, 0, "time of the event");
  assert.equal(event.kind, all[i].kind);
  nearAll(event.impulse, all[i].impulse, 0, "its impulse");
  // while the scrubber is held the bodies are one mesh where the processor draws, in the same places
  await page.evaluate(() => (abut.stage.hold("scrubber", true), abut.seek(12.5)));
  await page.waitForFunction(() => abut.shownFrame === 375 && abut.stage.plain?.object.visible !== false);
  const plain = await page.evaluate(() => {
    abut.stage.render();
    const { plain } = abut.stage;
    return plain && { balls: Array.from(plain.ballAt.array.slice(0, 4 * plain.drawn.balls)), corners: Array.from(plain.at.array.slice(0, 12)), triangles: plain.drawn.triangles };
  });
  if (plain) await plainIsRight(plain, await page.evaluate(() => ({ bodies: abut.head.bodies, frame: Array.from(abut.frame), n: abut.head.numbers })));
  // what is drawn as one mesh can be taken hold of all the same
  const picked = await page.evaluate(() => [5, 50, 200].map((b) => {
    const { x, y } = abut.stage.toScreen(abut.stage.centerOf(b));
    return abut.stage.sees(abut.stage.centerOf(b)) ? abut.stage.pick(x, y)?.body : b;
  }));
  assert.ok(picked.every((b) => b > 0), `the bodies that were picked: ${picked}`);
  // every seventh frame, as the overview of a longer recording has them
  const apart = await page.evaluate(async () => {
    const get = async (query) => new Float32Array(await (await fetch(`data/frames.bin?${query}`)).arrayBuffer()), some = await get("from=3&count=4&stride=7");
    const singles = await Promise.all([3, 10, 17, 24].map((k) => get(`from=${k}&count=1`)));
    return some.length === 4 * singles[0].length && singles.every((one, i) => one.every((x, j) => x === some[i * one.length + j]));
  });
  assert.ok(apart, "frames that are seven apart are those frames");
  await page.evaluate(() => abut.stage.hold("scrubber", false));
  await page.waitForFunction(() => abut.contacts.length > 0);
  assert.equal(await page.evaluate(() => abut.contacts.length), json("contacts", file, "--at", "12.5").contacts.length);
  await page.waitForFunction(() => !abut.stage.quality.moving);
  await shoot(page, "many");
  await page.close();
});

test("what moves is in the picture, on a phone too, and nothing hides it", async () => {
  for (const [name, width, height] of [["figure-on-stairs", 1100, 720], ["domino-row", 390, 780], ["marble-in-bowl", 900, 640]]) {
    const page = await open(await serve(record(name, "--duration", "0.2")), width, height);
    const seen = await page.evaluate(() => ({ hiding: abut.stage.hiding(), outside: abut.head.bodies.filter((b, i) => !b.fixed && !abut.stage.sees(abut.stage.centerOf(i))).map((b) => b.name) }));
    assert.deepEqual(seen, { hiding: [], outside: [] }, name);
    await page.close();
  }
});

test("select, hide and follow a body; its numbers and its curve", async () => {
  const page = await open(await serve(demo));
  await page.evaluate(() => abut.seek(1));
  await page.waitForFunction(() => abut.time === 1);
  const at = await page.evaluate(() => abut.stage.toScreen(abut.stage.centerOf(1)));
  await page.mouse.click(at.x, at.y);
  await page.waitForSelector("#details-body");
  assert.equal(await page.locator("#details-body h3").textContent(), "block");
  const shown = await cells(page, "#details-body"), want = track(demo, "block", 1);
  nearAll(numbers(shown["centre of mass"]), want.center, 1e-3, "centre");
  near(number(shown.mass), 24, 1e-9, "mass");
  await page.waitForFunction(() => abut.plots.last.body.length === 3);
  const curve = await page.evaluate(() => abut.plots.last.body);
  near(curve[2][60], want.center[2], 1e-12, "height in the plot at frame 60");
  await page.keyboard.press("g");
  const offset = () => page.evaluate(() => abut.stage.camera.position.clone().sub(abut.stage.centerOf(1)).toArray());
  const before = await offset();
  await page.evaluate(() => abut.seek(0));
  await page.waitForFunction(() => abut.time === 0);
  nearAll(await offset(), before, 1e-9, "the camera keeps its place beside the body");
  const seen = await picture(page);
  await page.locator('#tree .row[data-body="1"] input').click();
  assert.equal(await page.evaluate(() => abut.stage.isVisible(1)), false);
  await page.waitForTimeout(100);
  assert.notEqual(await picture(page), seen);
  await page.close();
});

test("dark and light, keys, screenshot", async () => {
  const page = await open(await serve(demo), 1000, 700);
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  const first = await theme();
  await page.keyboard.press("d");
  assert.notEqual(await theme(), first);
  await shoot(page, "dark");
  await page.keyboard.press("?");
  assert.ok(await page.locator("#keys").isVisible());
  await page.keyboard.press("Escape");
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("o")]);
  const file = join(out, "screenshot-of-the-page.png");
  await download.saveAs(file);
  assert.equal(readFileSync(file).subarray(1, 4).toString(), "PNG");
  assert.ok(readFileSync(file).length > 5000);
  await page.close();
});

test("works at the width of a phone", async () => {
  const page = await open(await serve(demo), 390, 780);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `the page is ${wide} wide`);
  await page.evaluate(() => abut.seek(1.5));
  const view = await page.locator("#stage canvas").boundingBox(), line = await page.locator("#timeline").boundingBox();
  assert.ok(view.width === 390 && view.height > 300 && line.width === 390, "the picture and the timeline have the width of the phone");
  await shoot(page, "phone");
  assert.ok(!(await page.locator("#left").isVisible()));
  await page.click("#toggle-left");
  assert.ok(await page.locator("#layer-forces").isVisible());
  await page.click("#toggle-left");
  for (const id of ["play", "first", "event-forward", "screenshot", "theme"]) {
    const box = await page.locator(`#${id}`).boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= 390, `${id} is outside`);
  }
  await page.close();
});

test("a smooth surface is smooth, its borders are lines", async () => {
  const page = await open(await serve(record("rattleback", "--duration", "0.5")), 900, 640);
  const normals = await page.evaluate(() => {
    const group = abut.stage.groups.find((g) => g.shape.patches);
    return group ? group.faces.geometry.getAttribute("normal").count : 0;
  });
  assert.ok(normals > 100, "the surface has normals of its own");
  await page.evaluate(() => abut.seek(0.3));
  await page.locator("#layer-patches").click();
  await shoot(page, "smooth");
  await page.close();
});

test("live: start, pause, step, pull, sliders, restart, clocks", async () => {
  const page = await open(await serve(scene("demo")));
  assert.equal(await page.evaluate(() => abut.motion.frames), 1);
  await page.click("#live-step");
  await page.waitForFunction(() => abut.motion.frames === 2);
  const free = await page.evaluate(() => abut.motion.frame(1)[2 * 19 + 2]);
  near(free, 1.1 - 0.5 * 9.81 / 3600, 1e-9, "a frame of free fall");
  await page.click("#live-start");
  await page.waitForFunction(() => abut.motion.frames > 90);
  await page.click("#live-start");
  await page.waitForFunction(() => !abut.live.running);
  assert.match(await page.locator("#step-times").textContent(), /frame [\d.e−]+ ms, mean/);
  // pull the block up by the mouse
  await page.waitForFunction(() => abut.time === abut.end);
  assert.ok((await page.evaluate(() => abut.frame[19 + 2])) < 0.21, "it rests on one of its faces");
  const at = await page.evaluate(() => abut.stage.toScreen(abut.stage.centerOf(1)));
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  assert.equal(await page.evaluate(() => abut.live.pulling), 1);
  await page.mouse.move(at.x, Math.max(60, at.y - 200), { steps: 3 });
  await page.waitForFunction(() => abut.frame[19 + 2] > 0.3);
  await shoot(page, "pull");
  await page.mouse.up();
  await page.waitForFunction(() => abut.frame[19 + 2] < 0.21); // let go, it falls back on one of its faces
  await page.click("#live-start");
  await page.waitForFunction(() => !abut.live.running);
  // a parameter: the speed of the sliding ball at the start
  await page.locator("#param-speed").evaluate((e) => ((e.value = "3"), e.dispatchEvent(new Event("input")), e.dispatchEvent(new Event("change"))));
  await page.waitForFunction(() => abut.motion.frames === 1 && abut.head.params[0].value === 3);
  near(await page.evaluate(() => abut.motion.frame(0)[3 * 19 + 7]), 3, 1e-12, "the speed that was set");
  // the other clock: it falls, rests, and is pulled as well
  await page.selectOption("#mode", "live");
  await page.waitForFunction(() => abut.head.mode === "live" && abut.motion.frames === 1);
  await page.click("#live-start");
  await page.waitForFunction(() => abut.motion.frames > 100);
  await page.waitForFunction(() => abut.frame[19 + 2] < 0.21 && abut.time === abut.end);
  const held = await page.evaluate(() => abut.stage.toScreen(abut.stage.centerOf(1)));
  await page.mouse.move(held.x, held.y);
  await page.mouse.down();
  assert.equal(await page.evaluate(() => abut.live.pulling), 1);
  await page.mouse.move(held.x, Math.max(60, held.y - 200), { steps: 3 });
  await page.waitForFunction(() => abut.frame[19 + 2] > 0.3);
  await page.mouse.up();
  await page.waitForFunction(() => abut.frame[19 + 2] < 0.21);
  assert.ok(await page.evaluate(() => abut.motion.times.every((t) => t >= 0 && t < 1000)), "step times");
  await page.selectOption("#mode", "exact");
  await page.waitForFunction(() => abut.head.mode === "exact" && abut.motion.frames === 1 && abut.live.state === "paused");
  await page.close();
});

test("the gallery lists the scenes and opens them", async () => {
  const page = await open(await serve());
  const files = readdirSync(join(source, "scenes")).filter((f) => f.endsWith(".lua"));
  assert.equal(await page.locator(".card").count(), files.length);
  const first = readFileSync(scene("bouncing-ball"), "utf8").split("\n")[0].replace(/^--\s*/, "");
  assert.equal(await page.locator('.card[data-name="bouncing-ball"] p').textContent(), first);
  await shoot(page, "gallery");
  await page.click('.card[data-name="bouncing-ball"]');
  await page.waitForFunction(() => window.abut?.loaded);
  assert.equal(await page.evaluate(() => abut.head.scene), "bouncing-ball.lua");
  await page.close();
});

test("a page with its data inside opens from disk, without a request", async () => {
  const address = await serve(demo), blocks = ["head.json", "geometry.bin", "series.bin", "events.bin", "frames.bin?from=0&count=121", "contacts.bin?from=0&count=121"];
  let html = await (await fetch(address)).text(), inside = "";
  for (const block of blocks) {
    const bytes = Buffer.from(await (await fetch(`${address}data/${block}`)).arrayBuffer());
    inside += `<script type="application/x-abut" data-name="${block.split("?")[0]}">${bytes.toString("base64")}</script>\n`;
  }
  assert.equal(html.split("<!--abut-data-->").length, 2);
  html = html.replace("<!--abut-data-->", () => inside);
  const file = join(out, "inside.html");
  writeFileSync(file, html);
  const page = await browser.newPage({ viewport: { width: 900, height: 640 } });
  page.on("request", (r) => !r.url().startsWith("file:") && !/^(data|blob):/.test(r.url()) && problems.push(`the file asks for ${r.url()}`));
  page.on("pageerror", (e) => problems.push(`error in the file: ${e.message}`));
  await page.goto(`file://${file}`);
  await page.waitForFunction(() => window.abut?.loaded);
  await page.evaluate(() => abut.seek(1));
  await page.waitForFunction(() => abut.time === 1);
  const s = await state(page);
  nearAll(s.frame.slice(19, 22), track(demo, "block", 1).center, 1e-12, "the block in the file");
  assert.ok(s.shown.forces > 0);
  await page.close();
});

let failed = 0;
for (const [name, body] of tests) {
  if (!name.includes(word)) continue;
  const began = Date.now();
  problems.length = 0;
  try {
    await body();
    assert.deepEqual(problems, []);
    console.log(`ok    ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`FAIL  ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)\n${error.stack}\n${problems.join("\n")}`);
    for (const context of browser.contexts()) for (const page of context.pages()) await page.close();
  }
  for (const child of servers.splice(0)) child.kill();
}
await browser.close();
console.log(failed ? `${failed} failed` : "all passed");
process.exit(failed ? 1 : 0);
