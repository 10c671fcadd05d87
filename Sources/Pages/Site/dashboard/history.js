// How many watched, over the last hours: what the gateway has written down, and what was seen since.

import { askIfThere, roomPath } from './api.js';
import { protocols } from './protocols.js';

/** Milliseconds shown. */
export const span = 3 * 3600 * 1000;
/** Seconds of a step of what was written down. */
const step = 60;
/** Milliseconds between two points of what was seen here. */
const grain = 5000;

export class History {
  /** @param room By its name; null for all rooms together. */
  constructor(room) {
    this.base = room === null ? '/v1' : roomPath(room);
    this.written = [];
    this.seen = [];
    this.hasSeries = null;
  }

  /** Takes a figure of this moment. */
  note(byProtocol, at) {
    const last = this.seen.at(-1);
    const point = { at, values: pick(byProtocol) };
    if (last && at - last.at < grain) this.seen[this.seen.length - 1] = { ...point, at: last.at };
    else this.seen.push(point);
    if (this.seen[0].at < at - span) this.seen.splice(0, 100);
  }

  /** Asks the gateway for its minutes; one that keeps none is not asked again. */
  async load() {
    if (this.hasSeries === false) return;
    const to = Date.now();
    const query = new URLSearchParams({
      from: new Date(to - span).toISOString(), to: new Date(to).toISOString(), step: String(step), group_by: 'protocol',
    });
    const answer = await askIfThere(`${this.base}/viewership/timeseries?${query}`);
    this.hasSeries = answer !== null;
    if (answer) this.written = readSeries(answer);
  }

  /** All points in order; a minute that is under way is known best from what was seen. */
  get points() {
    const first = this.seen[0]?.at ?? Infinity;
    return [...this.written.filter(({ at }) => at < first), ...this.seen];
  }
}

/** The points of the gateway's answer: one for each step, at its middle; steps it leaves out had no viewers. */
export function readSeries({ step, points }) {
  const length = step * 1000;
  const steps = new Map();
  for (const { at, group, average_viewers: viewers } of points) {
    const begin = Date.parse(at);
    if (!steps.has(begin)) steps.set(begin, {});
    if (group !== null) steps.get(begin)[group] = viewers;
  }
  const begins = [...steps.keys()].sort((a, b) => a - b);
  const filled = [];
  for (let begin = begins[0]; begin <= begins.at(-1); begin += length) {
    filled.push({ at: begin + length / 2, values: pick(steps.get(begin) ?? {}) });
  }
  return filled;
}

function pick(values) {
  return Object.fromEntries(protocols.map(({ key }) => [key, values[key] ?? 0]));
}
