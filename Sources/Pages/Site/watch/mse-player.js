// Plays one rendition of a program by Media Source Extensions, as close to its live edge as the network allows.

import { readStart, readTimescales } from './fragment.js';
import { LiveEdge } from './live-edge.js';
import { MediaQueue, rangesOf } from './media-queue.js';
import { firstUnit, unitsAfter, unitsOf } from './playlist.js';
import { followPlaylist } from './playlist-loop.js';
import { HTTPFailure } from './transport.js';
import { UnitFetcher } from './unit-fetcher.js';

const MediaSourceKind = globalThis.ManagedMediaSource ?? globalThis.MediaSource;
/** Seconds kept behind the playback position. */
const keptBehind = 20;
const controlInterval = 200;
/** Seconds between two pieces of media that a browser plays over. */
const smallestHole = 0.01;
/** Milliseconds after which a beginning is not put off any more. */
const patience = 1500;

/** Whether this browser can play a variant by scripts. */
export function canPlay(variant) {
  return Boolean(MediaSourceKind?.isTypeSupported(typeOf(variant)));
}

function typeOf(variant) {
  const kind = variant.width > 0 || variant.codecs.includes('avc1') ? 'video' : 'audio';
  return `${kind}/mp4; codecs="${variant.codecs}"`;
}

export class MSEPlayer {
  /**
   * @param onEnd Called once with why playback ended by itself.
   * @param onBlocked Called when the browser wants a gesture before it plays.
   */
  constructor(video, variant, { onEnd, onBlocked }) {
    this.video = video;
    this.variant = variant;
    this.onEnd = onEnd;
    this.onBlocked = onBlocked;
    this.abort = new AbortController();
    this.signal = this.abort.signal;
    this.fetcher = new UnitFetcher(this.signal);
    this.waiting = [];
    this.anchors = [];
    this.last = null;
    this.isPlaced = false;
    this.isLowLatency = false;
    this.run().catch((error) => this.end(this.signal.aborted ? 'stopped' : 'failed', error));
  }

  stop() {
    if (this.signal.aborted) return;
    this.abort.abort();
    clearInterval(this.timer);
    this.video.playbackRate = 1;
    URL.revokeObjectURL(this.objectURL);
  }

  end(reason, error) {
    if (this.signal.aborted) return;
    this.stop();
    this.onEnd(reason, error);
  }

  /** The moment of the program at the playback position, in milliseconds since 1970; null while unknown. */
  get programTime() {
    const position = this.video.currentTime;
    const anchor = this.anchors.findLast(({ start }) => start <= position + 0.05);
    return anchor ? anchor.date + (position - anchor.start) * 1000 : null;
  }

  get target() {
    return this.edge?.target ?? null;
  }

  get buffered() {
    const position = this.video.currentTime;
    const here = rangesOf(this.video.buffered).find(([start, end]) => position >= start - 0.1 && position <= end);
    return here ? here[1] - position : 0;
  }

  get throughput() {
    return this.fetcher.throughput;
  }

  /** Goes to the live edge now. */
  goLive() {
    const last = rangesOf(this.video.buffered).at(-1);
    if (last && this.edge) this.video.currentTime = this.edge.place(last);
  }

  /** Playback stands still for want of media. */
  stalled() {
    if (this.isPlaced) this.edge?.stalled(performance.now() / 1000);
  }

  async run() {
    const source = new MediaSourceKind();
    this.video.disableRemotePlayback = true;
    this.objectURL = URL.createObjectURL(source);
    const opened = new Promise((resolve) => source.addEventListener('sourceopen', resolve, { once: true }));
    this.video.src = this.objectURL;
    await opened;
    source.duration = Infinity;
    this.queue = new MediaQueue(source, typeOf(this.variant));
    this.timer = setInterval(() => this.control(), controlInterval);
    const reason = await followPlaylist(this.variant.url, this.signal, (playlist) => this.take(playlist));
    await this.draining;
    this.end(reason);
  }

  take(playlist) {
    this.isLowLatency = playlist.partTarget !== null;
    if (!this.edge) {
      const usual = this.isLowLatency
        ? playlist.partHoldBack ?? playlist.partTarget * 3
        : playlist.targetDuration + Math.max(playlist.targetDuration * 1.5, 2);
      this.edge = new LiveEdge(usual, this.isLowLatency ? playlist.partTarget : playlist.targetDuration);
    }
    const units = unitsOf(playlist);
    let fresh;
    if (this.last) {
      fresh = unitsAfter(units, this.last);
      // The list has moved on without us: what is missing is gone, and playing on would be far behind.
      const isBehind = fresh.length > 0 && fresh[0].sequence > this.last.sequence + 1;
      const isAnew = units.length > 0 && units.at(-1).sequence < this.last.sequence;
      if (isBehind || isAnew) fresh = units.slice(firstUnit(units, this.edge.base));
    } else {
      fresh = units.slice(firstUnit(units, this.edge.base));
    }
    if (fresh.length > 0) this.last = fresh.at(-1);
    for (const unit of fresh) {
      if (unit.isGap) continue;
      const data = this.fetcher.unit(unit.url);
      data.catch(() => undefined);
      this.waiting.push({ unit, data });
    }
    this.fetcher.hint(playlist.hint);
    this.draining ??= this.drain().finally(() => { this.draining = null; });
  }

  /** Appends what waits, in order. */
  async drain() {
    while (this.waiting.length > 0 && !this.signal.aborted) {
      const { unit, data } = this.waiting.shift();
      try {
        await this.append(unit, await data);
      } catch (error) {
        if (this.signal.aborted) return;
        // One that is gone leaves a hole, which playback jumps over; anything else ends this player.
        if (!(error instanceof HTTPFailure) && error.name !== 'TimeoutError' && error.name !== 'TypeError') {
          this.end('failed', error);
          return;
        }
      }
      this.place();
    }
  }

  async append(unit, data) {
    if (unit.map !== this.map || unit.discontinuity !== this.discontinuity) {
      const initialization = await this.fetcher.initialization(unit.map);
      this.timescales = readTimescales(initialization);
      await this.queue.append(initialization);
      this.map = unit.map;
      this.isNewBeginning = unit.discontinuity !== this.discontinuity;
      this.discontinuity = unit.discontinuity;
    }
    const decoded = readStart(data, this.timescales);
    if (this.isNewBeginning && decoded !== null) await this.join(decoded);
    this.isNewBeginning = false;
    if (decoded !== null && unit.date !== null) {
      this.anchors.push({ start: decoded + this.queue.buffer.timestampOffset, date: unit.date });
      if (this.anchors.length > 200) this.anchors.splice(0, 100);
    }
    await this.queue.append(data);
    const now = performance.now();
    if (now - (this.tidiedAt ?? 0) > 5000) {
      this.tidiedAt = now;
      await this.queue.forget(this.video.currentTime - keptBehind);
    }
  }

  /**
   * Puts media of another encoder, or of another clock, where the media before it ends: playback goes on over the seam
   * without a hole, in which it would stand still.
   */
  async join(decoded) {
    const end = this.queue.ranges.at(-1)?.[1];
    if (end === undefined) return;
    const natural = decoded + this.queue.buffer.timestampOffset;
    if (Math.abs(natural - end) > smallestHole) await this.queue.shift(end - decoded);
  }

  /** Begins to play where the live edge is far enough away, once all is there that was when the viewer came. */
  place() {
    if (this.isPlaced) return;
    const last = this.queue.ranges.at(-1);
    if (!last) return;
    this.beganAt ??= performance.now();
    // On a slow line what is there is played; the edge is caught up with later.
    const isSlow = performance.now() - this.beganAt > patience && last[1] - last[0] >= this.edge.target;
    if (this.waiting.length > 0 && !isSlow) return;
    this.isPlaced = true;
    this.video.currentTime = this.edge.place(last);
    this.play();
  }

  play() {
    this.video.play().catch((error) => { if (error.name === 'NotAllowedError') this.onBlocked(); });
  }

  control() {
    if (!this.isPlaced || this.video.paused || this.video.seeking) return;
    const { rate, seek } = this.edge.step({
      now: performance.now() / 1000,
      position: this.video.currentTime,
      ranges: rangesOf(this.video.buffered),
      isStarved: this.video.readyState < HTMLMediaElement.HAVE_FUTURE_DATA,
    });
    if (seek !== null) this.video.currentTime = seek;
    if (Math.abs(this.video.playbackRate - rate) > 0.005) this.video.playbackRate = rate;
  }
}
