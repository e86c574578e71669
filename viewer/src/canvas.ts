// A canvas to draw on, and whether the processor draws: then edges are not smoothed by the driver, which would cost four times the
// work, but what rests is drawn with twice the pixels.
export function makeCanvas(): { canvas: HTMLCanvasElement; gl: WebGL2RenderingContext; software: boolean } {
  const open = (on: HTMLCanvasElement, antialias: boolean) =>
    on.getContext("webgl2", { antialias, alpha: false, powerPreference: "high-performance" }) as WebGL2RenderingContext | null;
  const canvas = document.createElement("canvas"), gl = open(canvas, false);
  if (!gl) throw new Error("this browser has no WebGL 2; without it there is no picture");
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  if (/swiftshader|llvmpipe|softpipe|software/i.test(name)) return { canvas, gl, software: true };
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  const better = document.createElement("canvas"), context = open(better, true);
  if (!context) throw new Error("this browser has no WebGL 2; without it there is no picture");
  return { canvas: better, gl: context, software: false };
}
