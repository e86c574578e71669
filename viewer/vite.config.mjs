// One HTML file: script and style inside, and a security policy that allows this script and nothing else, no request
// to another host among it.
import { createHash } from "node:crypto";
import { defineConfig } from "vite";

const inline = {
  name: "inline",
  enforce: "post",
  generateBundle(_, bundle) {
    const page = Object.values(bundle).find((file) => file.fileName.endsWith(".html"));
    let html = page.source;
    for (const [name, file] of Object.entries(bundle)) {
      if (file === page) continue;
      if (file.type === "chunk") {
        const code = file.code.replace(/<\/script/g, "<\\/script").replace(/<!--/g, "<\\!--");
        const hash = createHash("sha256").update(code).digest("base64");
        const policy =
          `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; connect-src 'self'; ` +
          `img-src 'self' data: blob:; base-uri 'none'; form-action 'none'`;
        html = html.replace(/<script[^>]*src="[^"]*"[^>]*><\/script>/, "");
        html = html.replace("<!--abut-policy-->", () => `<meta http-equiv="Content-Security-Policy" content="${policy}">`);
        html = html.replace("<!--abut-script-->", () => `<script type="module">${code}</script>`);
      } else {
        html = html.replace(/<link[^>]*rel="stylesheet"[^>]*>/, () => `<style>${file.source}</style>`);
      }
      delete bundle[name];
    }
    page.source = html;
  },
};

export default defineConfig({
  base: "./",
  logLevel: "warn",
  build: {
    target: "es2020",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 1 << 20,
    chunkSizeWarningLimit: 4096,
    rollupOptions: { output: { inlineDynamicImports: true } },
  },
  plugins: [inline],
});
