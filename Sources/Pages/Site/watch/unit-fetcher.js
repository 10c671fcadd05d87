// Fetches parts and segments in order, and the next part before it is there.

import { BackOff, HTTPFailure, pause, take } from './transport.js';

export class UnitFetcher {
  constructor(signal) {
    this.signal = signal;
    this.underWay = new Map();
    this.initializations = new Map();
    this.bytes = 0;
    this.seconds = 0;
  }

  /** Begins to fetch a hinted part; the server answers when the part is there. */
  hint(url) {
    if (!url || this.underWay.has(url)) return;
    const promise = take(url, 'arrayBuffer', { signal: this.signal, seconds: 8 }).then(({ body }) => body);
    // The unit is not needed unless the playlist lists it later.
    promise.catch(() => undefined);
    this.underWay.set(url, promise);
    while (this.underWay.size > 16) this.underWay.delete(this.underWay.keys().next().value);
  }

  /** The bytes of a part or segment; tries a few times. */
  async unit(url) {
    const hinted = this.underWay.get(url);
    if (hinted) {
      this.underWay.delete(url);
      try {
        return await hinted;
      } catch {
        // The hint came too early or was lost on the way; the playlist lists the part, so it is there now.
      }
    }
    const backOff = new BackOff(0.2, 1);
    for (let attempt = 0; ; attempt += 1) {
      try {
        const begun = performance.now();
        const { body } = await take(url, 'arrayBuffer', { signal: this.signal, seconds: 8 });
        this.measure(body.byteLength, (performance.now() - begun) / 1000);
        return body;
      } catch (error) {
        const isGone = error instanceof HTTPFailure && error.status < 500 && error.status !== 429;
        if (this.signal.aborted || isGone || attempt >= 3) throw error;
        await pause(backOff.failed(), this.signal);
      }
    }
  }

  /** The bytes of an initialization, fetched once. */
  initialization(url) {
    if (!this.initializations.has(url)) {
      const promise = take(url, 'arrayBuffer', { signal: this.signal }).then(({ body }) => body);
      promise.catch(() => this.initializations.delete(url));
      this.initializations.set(url, promise);
    }
    return this.initializations.get(url);
  }

  /** Bits per second at which media that waited for us came; null before any did. */
  get throughput() {
    return this.seconds > 0 ? (this.bytes * 8) / this.seconds : null;
  }

  measure(bytes, seconds) {
    this.bytes = this.bytes * 0.8 + bytes;
    this.seconds = this.seconds * 0.8 + Math.max(seconds, 0.001);
  }
}
