// Which rendition to play: the one the viewer picked, otherwise the best that does not stall.

import { t } from '../texts/watch-texts.js';

const stallsToGiveUp = 2;
const stallWindow = 20;
const firstTrial = 60;

export class Renditions {
  constructor(variants) {
    // The audio-only rendition is used only if selected.
    const pictures = variants.filter(({ width }) => width > 0);
    this.all = variants;
    this.ladder = (pictures.length > 0 ? pictures : variants).toSorted((a, b) => b.bandwidth - a.bandwidth);
    this.place = 0;
    this.picked = null;
    this.stalls = [];
    this.trial = firstTrial;
    this.steadySince = null;
  }

  get current() {
    return this.picked ?? this.ladder[this.place];
  }

  get isAutomatic() {
    return this.picked === null;
  }

  /** Picks one by hand; null for automatic choice. */
  pick(variant) {
    this.picked = variant;
  }

  /** Playback stood still; whether another rendition is to be played now. `now` is in seconds. */
  stalled(now) {
    this.steadySince = now;
    this.stalls = this.stalls.filter((at) => now - at < stallWindow);
    this.stalls.push(now);
    if (!this.isAutomatic || this.stalls.length < stallsToGiveUp || this.place >= this.ladder.length - 1) return false;
    this.stalls = [];
    this.place += 1;
    // Each time it goes wrong, the next trial waits longer.
    this.trial = Math.min(this.trial * 2, 900);
    return true;
  }

  /** Time went by without a stall; whether a better rendition is to be tried now. */
  calm(now, throughput) {
    this.steadySince ??= now;
    if (!this.isAutomatic || this.place === 0 || now - this.steadySince < this.trial) return false;
    if (throughput !== null && throughput < this.ladder[this.place - 1].bandwidth * 1.5) return false;
    this.place -= 1;
    this.steadySince = now;
    return true;
  }
}

/** A rendition in words. */
export function nameOf(variant) {
  if (!variant) return '';
  if (!variant.width) return t('player.audioOnly');
  const pictures = variant.frameRate ? ` · ${Math.round(variant.frameRate)} fps` : '';
  return `${Math.min(variant.width, variant.height)}p${pictures}`;
}
