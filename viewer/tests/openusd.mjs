// USD read by Pixar's own OpenUSD: node viewer/tests/openusd.mjs ABUT OUT
// npm has it in WebAssembly with Hydra, built by Autodesk, inside a loader for three.js.  It wants threads, so it runs in Chromium, from a
// server of its own that this script is; Hydra tells a delegate the meshes and where they are at each time code, and that is held against the
// CSV.  The package is held against its hash and kept in the cache ($XDG_CACHE_HOME/abut or ~/.cache/abut).  Exit 77 where browser or package are missing.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import http from "node:http";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const NAME = "three-usdz-loader", VERSION = "1.0.9";
const HASH = "UOP2XHHT4dUIZInhVPQieVXFyxpSE1ApMEJZVLDdo5j5flp1KSGlY1uGE3To7KhDIks+kAOmsCnNDjQ3RvjMFA=="; // sha512 of the package
const viewer = join(dirname(fileURLToPath(import.meta.url)), ".."), source = join(viewer, "..");
const abut = resolve(process.argv[2]), out = resolve(process.argv[3]), chromiumPath = process.env.CHROMIUM || "/usr/bin/chromium";
const skip = (why) => (console.log(`skipped: ${why}`), process.exit(77));

function unpack() {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "abut"), packed = join(cache, `${NAME}-${VERSION}.tgz`), folder = join(cache, `${NAME}-${VERSION}`);
  mkdirSync(folder, { recursive: true });
  if (!existsSync(packed) && spawnSync("npm", ["pack", `${NAME}@${VERSION}`, "--prefer-offline", "--loglevel=error"], { cwd: cache }).status !== 0) skip(`npm has no ${NAME}`);
  assert.equal(createHash("sha512").update(readFileSync(packed)).digest("base64"), HASH, `${packed} is not the package it should be`);
  assert.equal(spawnSync("tar", ["xzf", packed, "-C", folder]).status, 0);
  return join(folder, "package", "external");
}

// Threads share memory only where the page is isolated.
function serve(folder, file) {
  const types = { js: "text/javascript", wasm: "application/wasm", html: "text/html" };
  const headers = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };
  const server = http.createServer((request, answer) => {
    const name = request.url.slice(1).split("?")[0] || "index.html", known = ["emHdBindings.js", "emHdBindings.wasm", "emHdBindings.data", "emHdBindings.worker.js"];
    const body = name === "index.html" ? '<!doctype html><link rel="icon" href="data:,"><script src="emHdBindings.js"></script>' : name === "scene.usda" ? readFileSync(file) : known.includes(name) ? readFileSync(join(folder, name)) : null;
    answer.writeHead(body ? 200 : 404, { ...headers, "Content-Type": types[name.split(".").pop()] ?? "application/octet-stream" });
    answer.end(body ?? "");
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
}

// In the page: the stage at some time codes.
async function readStage(count) {
  const usd = await getUsdModule(undefined, "", undefined);
  await usd.ready;
  usd.FS.createDataFile("/", "scene.usda", new Uint8Array(await (await fetch("scene.usda")).arrayBuffer()), true, true, true);
  const prims = new Map(), nothing = () => undefined;
  class Prim {
    updateIndices(list) { this.indices = Array.from(list); }
    updatePoints(list) { this.points = Array.from(list); }
    setTransform(m) { this.matrix = Array.from(m); }
  }
  for (const name of ["updateNormals", "setMaterial", "updatePrimvar", "commit", "updateNode", "updateFinished"]) Prim.prototype[name] = nothing;
  const other = () => new Prim(), delegate = { createRPrim: (_, id) => (prims.set(id, new Prim()), prims.get(id)), createBPrim: other, createSPrim: other, CommitResources: nothing };
  const driver = new usd.HdWebSyncDriver(delegate, "scene.usda"), stage = driver.GetStage(), end = stage.GetEndTimeCode(), frames = [];
  driver.Draw();
  for (let i = 0; i < count; i++) {
    const k = Math.round((i * end) / (count - 1));
    driver.SetTime(k);
    driver.Draw();
    frames.push([k, [...prims].map(([id, p]) => [id, p.matrix])]);
  }
  return { end, rate: stage.GetTimeCodesPerSecond(), frames, meshes: [...prims].map(([id, p]) => [id, p.points, p.indices]) };
}

// What the build itself lacks: volumes, cameras and lights in its delegate, plug-ins of shaders.
const ITS_OWN = /UsdVol|doesn't support prim type|_FindAndInstantiateDiscoveryPlugins/;

async function holds(browser, folder, name) {
  const recording = join(out, `openusd-${name}.abut`), file = join(out, `openusd-${name}.usda`), csv = join(out, `openusd-${name}.csv`);
  execFileSync(abut, ["run", join(source, "scenes", `${name}.lua`), "-o", recording, "-q"]);
  for (const [to, path] of [["usda", file], ["csv", csv]]) execFileSync(abut, ["export", recording, "--to", to, "-o", path]);
  const server = await serve(folder, file), page = await browser.newPage(), said = [];
  page.setDefaultTimeout(240000);
  page.on("pageerror", (e) => said.push(e.message));
  page.on("console", (m) => !ITS_OWN.test(m.text()) && said.push(m.text()));
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  const { end, rate, frames, meshes } = await page.evaluate(readStage, 7);
  const rows = readFileSync(csv, "utf8").trim().split("\n").slice(1).map((line) => line.split(",")), bodies = [...new Set(rows.map((r) => r[1]))];
  assert.equal(end, rows.length / bodies.length - 1);
  assert.equal(rate, Math.round(1 / Number(rows[bodies.length][0])));
  for (const [id, points, indices] of meshes) assert.ok(points.length > 0 && indices.length % 3 === 0 && indices.every((v) => v < points.length / 3), `${id} is a whole mesh`);
  for (const [k, matrices] of frames)
    bodies.forEach((body, b) => {
      const matrix = matrices.find(([id]) => id.startsWith(`/World/Bodies/${body.replace(/\W/g, "_")}/`))?.[1], [x, y, z, w, i, j, l] = rows[k * bodies.length + b].slice(2, 9).map(Number);
      assert.ok(matrix, `${body} is there at ${k}`);
      // rows of the matrix are the axes, in single precision
      const turn = [1 - 2 * (j * j + l * l), 2 * (i * j + w * l), 2 * (i * l - w * j), 2 * (i * j - w * l), 1 - 2 * (i * i + l * l), 2 * (j * l + w * i), 2 * (i * l + w * j), 2 * (j * l - w * i), 1 - 2 * (i * i + j * j)];
      [x, y, z].forEach((want, n) => assert.ok(Math.abs(matrix[12 + n] - want) <= 1e-6 * Math.max(1, Math.abs(want)), `${body} at ${k}: ${matrix[12 + n]} is not ${want}`));
      turn.forEach((want, n) => assert.ok(Math.abs(matrix[4 * Math.floor(n / 3) + (n % 3)] - want) <= 1e-6, `${body} at ${k}: turned by ${matrix[4 * Math.floor(n / 3) + (n % 3)]}, not ${want}`));
    });
  assert.deepEqual(said, [], "nothing to complain of");
  console.log(`ok: ${name}.usda by OpenUSD: ${meshes.length} meshes, ${end + 1} time codes`);
  await page.close();
  server.close();
}

if (!existsSync(chromiumPath)) skip(`${chromiumPath} is missing; apt-get install chromium`);
if (!existsSync(join(viewer, "node_modules", "playwright-core"))) skip("viewer/node_modules is missing; build the page first");
mkdirSync(out, { recursive: true });
const { chromium } = await import(join(viewer, "node_modules", "playwright-core", "index.mjs"));
const browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
try {
  const folder = unpack();
  for (const name of ["demo", "four-bar"]) await holds(browser, folder, name);
} finally {
  await browser.close();
}
