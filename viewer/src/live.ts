// A run on the server, seen through a WebSocket: what it sends is kept, so that one can go back.
import { readContacts, SERIES, type AbutEvent, type Contact, type Head, type Numbers } from "./data";
import { Events } from "./events";
import { CONTACTS_ALONG, type Motion } from "./motion";

const FRAMES_BYTES_MOST = 400e6;
const NONE = new Float64Array(0);

export class LiveMotion implements Motion {
  readonly along: boolean;
  frames = 0;
  readonly events: Events;
  times: number[] = []; // wall milliseconds a frame
  private rows = new Float64Array(SERIES * 1024);
  private kept: (Float64Array | null)[] = [];
  private touching: Float64Array[] = []; // as it was sent: of most frames nobody asks for the contacts
  private read: { k: number; contacts: Contact[] } | null = null; // those asked for last

  constructor(readonly head: Head) {
    this.events = new Events(head);
    this.along = head.bodies.length <= CONTACTS_ALONG;
  }

  get series(): Float64Array {
    return this.rows.subarray(0, this.frames * SERIES);
  }
  add(row: Float64Array, motions: Float64Array, contacts: Float64Array, milliseconds: number) {
    if ((this.frames + 1) * SERIES > this.rows.length) {
      const grown = new Float64Array(this.rows.length * 2);
      grown.set(this.rows);
      this.rows = grown;
    }
    this.rows.set(row, this.frames * SERIES);
    this.kept.push(motions);
    this.touching.push(contacts);
    this.times.push(milliseconds);
    this.frames++;
    const drop = this.frames - Math.floor(FRAMES_BYTES_MOST / Math.max(1, motions.byteLength));
    if (drop > 0) (this.kept[drop - 1] = null), (this.touching[drop - 1] = NONE);
    this.head.frames = this.frames;
    this.head.end = row[0];
  }
  timeOf(k: number) {
    return k * SERIES < this.series.length ? this.rows[k * SERIES] : this.head.end;
  }
  frame(k: number) {
    return this.kept[k] ?? null;
  }
  contacts(k: number) {
    if (this.along) void this.wantContacts(k);
    return this.read?.k === k ? this.read.contacts : null;
  }
  near(k: number) {
    return k;
  }
  async want() {}
  async glance() {}
  async wantContacts(k: number) {
    if (this.read?.k !== k && this.touching[k]) this.read = { k, contacts: readContacts(this.head, this.touching[k]) };
  }
  async state(): Promise<Numbers | null> {
    return null;
  }
  async moment() {
    return null;
  }
  async touch(_: AbutEvent): Promise<Contact[]> {
    return [];
  }
  async track(body: number) {
    const n = this.head.numbers, t = new Float64Array(this.frames), rows = new Float64Array(this.frames * n);
    for (let k = 0; k < this.frames; k++) {
      t[k] = this.timeOf(k);
      const frame = this.kept[k];
      if (frame) rows.set(frame.subarray(body * n, (body + 1) * n), k * n);
    }
    return { t, rows, numbers: n };
  }
}

export interface LiveListener {
  begun(motion: LiveMotion, geometry: ArrayBuffer): void;
  moved(motion: LiveMotion): void;
  state(state: string, message: string): void;
}

export class LiveLink {
  private socket: WebSocket;
  private head: Head | null = null;
  private motion: LiveMotion | null = null;
  private contacts = NONE;

  constructor(private listener: LiveListener) {
    const url = new URL("live", location.href);
    url.protocol = "ws:";
    this.socket = new WebSocket(url);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = (m) => (typeof m.data === "string" ? this.text(m.data) : this.bytes(m.data as ArrayBuffer));
    this.socket.onclose = () => listener.state("closed", "the connection to abut has ended; start `abut view` again and reload");
  }
  send(message: Record<string, unknown>) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }
  private text(text: string) {
    const message = JSON.parse(text);
    if (message.head) this.head = message.head as Head;
    if (message.state) this.listener.state(message.state, message.message);
  }
  private bytes(data: ArrayBuffer) {
    const [kind, count] = new Uint32Array(data, 0, 2);
    if (kind === 1 && this.head) {
      this.motion = new LiveMotion(this.head);
      this.listener.begun(this.motion, data.slice(8));
    }
    const motion = this.motion;
    if (!motion) return;
    if (kind === 3) this.contacts = new Float64Array(data, 8);
    if (kind === 4) motion.events.addRows(new Float64Array(data, 8), count);
    if (kind === 2) {
      const n = new Float64Array(data, 8);
      motion.add(n.subarray(4, 4 + SERIES), n.subarray(4 + SERIES), this.contacts, n[1]);
      this.contacts = NONE;
      this.listener.moved(motion);
      this.send({ do: "seen", frame: n[0] });
    }
  }
}
