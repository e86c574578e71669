// USD read by TinyUSDZ, a reader of its own, in WebAssembly: Debian has none.  It is fetched by npm without its dependencies, which
// only its loader for three.js needs, held against its hash, and kept in the cache ($XDG_CACHE_HOME/abut or ~/.cache/abut).
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const NAME = "tinyusdz", VERSION = "0.9.0-rc10";
const HASH = "MgToqEIhJoYaS4obCVHLllKjkMGiIQQqxDS9BO6GdvVQRpL6TQ/0kow4SOo1zQDwNv9EjYcJtHiPr506v+XOXg=="; // sha512 of the package

// Null: there is no network, and nothing in the cache.
export async function usdReader() {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "abut"), packed = join(cache, `${NAME}-${VERSION}.tgz`), folder = join(cache, `${NAME}-${VERSION}`);
  mkdirSync(folder, { recursive: true });
  if (!existsSync(packed) && spawnSync("npm", ["pack", `${NAME}@${VERSION}`, "--prefer-offline", "--loglevel=error"], { cwd: cache }).status !== 0) return null;
  assert.equal(createHash("sha512").update(readFileSync(packed)).digest("base64"), HASH, `${packed} is not the package it should be`);
  assert.equal(spawnSync("tar", ["xzf", packed, "-C", folder]).status, 0);
  // the package says it is made for browsers only, and does not say that it is a module
  const script = join(folder, "tinyusdz.mjs");
  copyFileSync(join(folder, "package", "tinyusdz.js"), script);
  const was = { type: process.type, window: globalThis.window };
  process.type = "renderer";
  globalThis.window ??= globalThis;
  try {
    const { default: begin } = await import(pathToFileURL(script).href), wasm = readFileSync(join(folder, "package", "tinyusdz.wasm"));
    const instantiateWasm = (imports, done) => (WebAssembly.instantiate(wasm, imports).then((r) => done(r.instance, r.module)), {});
    return (await begin({ instantiateWasm })).TinyUSDZLoaderNative;
  } finally {
    process.type = was.type;
    if (was.window === undefined) delete globalThis.window;
  }
}

// The same double; TinyUSDZ prints as 0 what is next to nothing.
const same = (a, b, what) => assert.ok(a === b || (a === 0 && Math.abs(b) < 1e-30), `${what}: ${a} is not ${b}`);
const number = (text) => text.split(",").map(Number);
// `name = (..)` or `name.timeSamples = { k: (..), }` in the text of a prim.
function samples(prim, name) {
  const at = prim.indexOf(`${name}.timeSamples = {`);
  if (at < 0) return [[0, number(new RegExp(`${name} = \\(([^)]*)\\)`).exec(prim)[1])]];
  const block = prim.slice(at, prim.indexOf("}", at));
  return [...block.matchAll(/(\d+): \(([^)]*)\)/g)].map((m) => [Number(m[1]), number(m[2])]);
}

// What TinyUSDZ has read, against the recorded poses.  `tracks` are the rows of the CSV; in these scenes the centre of mass is the shape's
// origin.  It prints what it has read, and that is looked at; its meshes are asked for.
export function usdHolds(Reader, file, tracks) {
  const bytes = readFileSync(file), layer = new Reader(), stage = new Reader();
  assert.ok(layer.loadAsLayerFromBinary(bytes, "export.usda"), layer.error());
  assert.ok(stage.loadFromBinary(bytes, "export.usda"), stage.error());
  const text = layer.layerToString(), names = [...new Set(tracks.map((r) => r[1]))], frames = tracks.length / names.length;
  assert.match(text, /upAxis = "Z"/);
  assert.match(text, /metersPerUnit = 1\n/);
  assert.equal(Number(/endTimeCode = (\S+)/.exec(text)[1]), frames - 1);
  names.forEach((name, b) => {
    const prim = text.slice(text.indexOf(`abut:name = ${JSON.stringify(name)}`)), own = prim.slice(0, prim.indexOf("def Mesh"));
    const places = samples(own, "xformOp:translate"), turns = samples(own, "xformOp:orient");
    for (const [k, place] of places) place.forEach((x, i) => same(x, Number(tracks[k * names.length + b][2 + i]), `${name}: place at frame ${k}`));
    for (const [k, turn] of turns) {
      const want = tracks[k * names.length + b].slice(5, 9).map(Number), dot = want.reduce((sum, x, i) => sum + x * turn[i], 0);
      assert.ok(Math.abs(Math.abs(dot) - 1) < 1e-14, `${name}: turn at frame ${k}`);
    }
    assert.ok(places.length === 1 || places.length === frames, `${name}: ${places.length} places`);
    assert.ok(turns.length === 1 || turns.length === frames, `${name}: ${turns.length} turns`);
  });
  assert.ok(stage.numMeshes() > 0 && stage.numRootNodes() > 0);
  for (let i = 0; i < stage.numMeshes(); i++) {
    const { faceVertexCounts, faceVertexIndices, points, normals } = stage.getMesh(i), count = points.length / 3;
    assert.ok(faceVertexCounts.every((n) => n === 3) && faceVertexIndices.length === 3 * faceVertexCounts.length && faceVertexIndices.every((v) => v < count), `mesh ${i}`);
    for (let k = 0; k < normals.length; k += 3) assert.ok(Math.abs(Math.hypot(normals[k], normals[k + 1], normals[k + 2]) - 1) < 1e-5, `mesh ${i}: normal ${k / 3}`);
  }
}
