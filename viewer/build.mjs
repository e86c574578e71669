// node viewer/build.mjs OUT: builds the page to the file OUT.
// A page already built from the same sources is taken from the cache ($XDG_CACHE_HOME/abut or ~/.cache/abut), so that
// several build folders, and trees without a network, share one build.
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
const names = ["package.json", "package-lock.json", "vite.config.mjs", "tsconfig.json", "index.html"];

function filesBelow(folder) {
  return readdirSync(join(here, folder)).sort().flatMap((name) => {
    const path = join(folder, name);
    return statSync(join(here, path)).isDirectory() ? filesBelow(path) : [path];
  });
}

function run(command, ...args) {
  const done = spawnSync(command, args, { cwd: here, stdio: ["ignore", "inherit", "inherit"] });
  if (done.status === 0) return;
  console.error(`viewer/build.mjs: \`${command} ${args.join(" ")}\` failed; to build without the page: -DABUT_VIEWER=OFF`);
  process.exit(1);
}

const hash = createHash("sha256");
for (const name of [...names, ...filesBelow("src")]) hash.update(name).update("\0").update(readFileSync(join(here, name)));
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "abut");
const kept = join(cache, `page-${hash.digest("hex").slice(0, 24)}.html`);

mkdirSync(dirname(out), { recursive: true });
if (!existsSync(kept)) {
  const stamp = join(here, "node_modules", ".abut-lock");
  const lock = readFileSync(join(here, "package-lock.json"), "utf8");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== lock) {
    run("npm", "ci", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error");
    writeFileSync(stamp, lock);
  }
  run(process.execPath, join("node_modules", "typescript", "bin", "tsc"), "--noEmit");
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, "build-"));
  run(process.execPath, join("node_modules", "vite", "bin", "vite.js"), "build", "--outDir", work, "--emptyOutDir");
  renameSync(join(work, "index.html"), kept);
  rmSync(work, { recursive: true });
}
copyFileSync(kept, out);
