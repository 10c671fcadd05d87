// Keeps playback close to the live edge without falling off it. No I/O, no clock of its own.

const fastest = 1.1;
const slowest = 0.94;
/** Seconds of distance too much or too little that are left alone. */
const tolerance = 0.12;
/** Seconds behind the target from which time is not made up but jumped over. */
const jumpBehind = 3;
const largestGap = 8;
/** Seconds added to the target by each stall, and taken back by a minute without one. */
const stallCost = 0.25;
const mostCaution = 3;

export class LiveEdge {
  /**
   * @param target Seconds to the end of what is buffered that are aimed at, just after something was added to it.
   * @param grain Seconds by which that end moves at a time; so much less are left just before the next is added.
   */
  constructor(target, grain = 0) {
    this.base = target;
    this.grain = grain;
    this.caution = 0;
    this.calmSince = 0;
  }

  get target() {
    return this.base + this.caution;
  }

  /** Playback stood still for want of media. */
  stalled(now) {
    this.caution = Math.min(mostCaution, this.caution + stallCost);
    this.calmSince = now;
  }

  /**
   * What to do at this moment.
   *
   * `ranges` are the buffered ones as pairs of seconds; `now` is in seconds; `isStarved` is whether the browser has nothing
   * to play on with, whatever the ranges say. The answer has the rate to play at, and `seek` where to go on, null to stay.
   */
  step({ now, position, ranges, isStarved = false }) {
    if (this.caution > 0 && now - this.calmSince > 60) {
      this.caution = Math.max(0, this.caution - stallCost);
      this.calmSince = now;
    }
    const last = ranges.at(-1);
    if (!last) return { rate: 1, seek: null };
    const here = ranges.find(([start, end]) => position >= start - 0.05 && position < end);
    const edge = last[1];
    if (!here) {
      const next = ranges.find(([start]) => start > position);
      // A hole is jumped over; from behind or far before everything the edge is taken.
      if (next && next[0] - position < largestGap && edge - next[0] < this.target + jumpBehind) {
        return { rate: 1, seek: next[0] + 0.02 };
      }
      if (position < last[0] || position > edge + 1) return { rate: 1, seek: this.place(last) };
      return { rate: 1, seek: null };
    }
    const excess = edge - position - this.target;
    if (excess > jumpBehind) return { rate: 1, seek: this.place(last) };
    // Just before the end of a range, with more behind it: step over the seam. A browser may stall some frames
    // earlier, where one of the tracks ends.
    const following = ranges[ranges.indexOf(here) + 1];
    if (following && here[1] - position < (isStarved ? 0.5 : 0.05)) return { rate: 1, seek: following[0] + 0.02 };
    const missing = excess + this.grain;
    if (missing >= -tolerance && excess <= tolerance) return { rate: 1, seek: null };
    const rate = 1 + (excess > tolerance ? excess : missing) * 0.1;
    return { rate: Math.min(fastest, Math.max(slowest, rate)), seek: null };
  }

  /** Where to play in a range that ends at the edge. */
  place([start, end]) {
    return Math.max(start + 0.01, end - this.target);
  }
}
