// How finely is drawn. What rests gets everything; what moves gets as much as fits into a thirtieth of a second, found out by
// looking at the time between pictures: first the shadows go, then edges and fine meshes, then pixels; pixels come back.
const LONGEST_MS = 36; // a thirtieth of a second and some jitter of the timer
const SHORT_MS = 24; // leaves room for a third more work
const RESTS_AFTER_MS = 450;
const LOOKED_AT = 6; // pictures that are averaged before something changes

export class Quality {
  level = 0; // of what moves: 0 all, 1 no shadows, 2 plain
  pixels = 1; // of the picture's ratio, while plain
  moving = false;
  private levelMost = 2;
  private pixelsLeast = 0.4;
  private held = new Set<string>(); // what moves until it is let go: the scrubber, the camera, the run
  private movedAt = -1e9;
  private sum = 0;
  private count = 0;
  private good = 0; // times in a row that pictures came quickly

  // Where the processor draws, what moves begins without shadows, and some bodies plainly.  Few bodies keep their edges and most pixels: what is slow with them is something else.
  reset(software: boolean, some: boolean, many: boolean) {
    this.levelMost = some ? 2 : 1;
    this.pixelsLeast = some ? 0.4 : 0.7;
    this.level = software ? (some ? 2 : 1) : 0;
    this.pixels = software && many ? 0.6 : 1;
    this.sum = this.count = 0;
  }
  // The scrubber is dragged, the camera turned, the run played: that is motion, however slowly the pictures come. True: the looks change.
  hold(what: string, on: boolean, now: number): boolean {
    if (on === this.held.has(what)) return false;
    if (on) this.held.add(what);
    else this.held.delete(what);
    const before = this.moving;
    this.movedAt = now;
    if (on) this.moving = true;
    return this.moving !== before;
  }
  // Something has moved. A single change, as a click makes, does not count as motion. True: the looks change.
  moved(now: number): boolean {
    const follows = now - this.movedAt < 250, before = this.moving;
    this.movedAt = now;
    if (follows) this.moving = true;
    return this.moving !== before;
  }
  // Once a tick, with the time since the one before. True: the looks change.
  tick(now: number, passed: number): boolean {
    if (!this.moving) return false;
    if (!this.held.size && now - this.movedAt > RESTS_AFTER_MS) {
      this.moving = false;
      this.sum = this.count = 0;
      return true;
    }
    if (passed > 1000) return false; // the tab was hidden
    this.sum += passed;
    if (++this.count < LOOKED_AT) return false;
    const mean = this.sum / this.count;
    this.sum = this.count = 0;
    if (mean <= LONGEST_MS) return this.better(mean);
    this.good = 0;
    if (this.level < this.levelMost) this.level++;
    else if (this.pixels > this.pixelsLeast) this.pixels = Math.max(this.pixelsLeast, 0.8 * this.pixels);
    else return false;
    return true;
  }
  // Drawing was quick for a while: more pixels, up to all of them.
  private better(mean: number): boolean {
    this.good = mean < SHORT_MS ? this.good + 1 : 0;
    if (this.good < 4 || this.pixels >= 1) return false;
    this.good = 0;
    this.pixels = Math.min(1, 1.15 * this.pixels);
    return true;
  }
  get now(): number {
    return this.moving ? this.level : 0;
  }
}
