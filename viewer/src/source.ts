// Where blocks come from: the server, or the page itself.
import type { Head } from "./data";

export interface Slice {
  parts: { kind: string; points: number[] }[];
  border: number[][];
  nodes: number;
  height: number;
  cells: number;
}

export interface Source {
  readonly embedded: boolean;
  bytes(name: string, query?: string, signal?: AbortSignal): Promise<ArrayBuffer | null>;
  json<T>(name: string, query?: string): Promise<T | null>;
}

class ServerSource implements Source {
  readonly embedded = false;

  private async fetch(name: string, query?: string, signal?: AbortSignal): Promise<Response | null> {
    const answer = await fetch(`data/${name}${query ? `?${query}` : ""}`, { signal });
    if (answer.ok) return answer;
    if (answer.status === 404) return null;
    throw new Error((await answer.text()) || `${name}: the server says ${answer.status}`);
  }
  async bytes(name: string, query?: string, signal?: AbortSignal) {
    return (await this.fetch(name, query, signal))?.arrayBuffer() ?? null;
  }
  async json<T>(name: string, query?: string) {
    return ((await this.fetch(name, query))?.json() as Promise<T>) ?? null;
  }
}

// Elements <script type="application/x-abut" data-name=... data-encoding=base64|gzip> in the page.
class EmbeddedSource implements Source {
  readonly embedded = true;
  private kept = new Map<string, Promise<ArrayBuffer>>();

  private static element(name: string): HTMLScriptElement | null {
    return document.querySelector<HTMLScriptElement>(`script[type="application/x-abut"][data-name="${name}"]`);
  }
  static exists(): boolean {
    return EmbeddedSource.element("head.json") !== null;
  }
  private static async decode(element: HTMLScriptElement): Promise<ArrayBuffer> {
    const text = atob((element.textContent ?? "").replace(/\s+/g, ""));
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    if (element.dataset.encoding !== "gzip") return bytes.buffer;
    if (!("DecompressionStream" in window))
      throw new Error("this browser cannot unpack the recording in this page; one of 2023 or later can, and so can `abut view` with the recording itself");
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return EmbeddedSource.unmix(await new Response(stream).arrayBuffer(), Number(element.dataset.row ?? 0));
  }
  // Rows are written xor the row before: see cli/export_html.c.
  private static unmix(buffer: ArrayBuffer, row: number): ArrayBuffer {
    if (!row) return buffer;
    const words = new Uint32Array(buffer, 0, buffer.byteLength >> 2), width = row >> 2; // rows are of numbers of 4 or 8 bytes
    for (let i = width; i < words.length; i++) words[i] ^= words[i - width];
    return buffer;
  }
  async bytes(name: string) {
    const element = EmbeddedSource.element(name);
    if (!element) return null;
    if (!this.kept.has(name)) this.kept.set(name, EmbeddedSource.decode(element));
    return this.kept.get(name)!;
  }
  async json<T>(name: string) {
    const bytes = await this.bytes(name);
    return bytes && (JSON.parse(new TextDecoder().decode(bytes)) as T);
  }
}

export function findSource(): Source {
  return EmbeddedSource.exists() ? new EmbeddedSource() : new ServerSource();
}

export async function loadHead(source: Source): Promise<Head> {
  const head = await source.json<Head>("head.json");
  if (!head) throw new Error("there is nothing to show here");
  return head;
}
