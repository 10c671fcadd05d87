// One SourceBuffer, used one step at a time.

export class MediaQueue {
  constructor(mediaSource, type) {
    this.buffer = mediaSource.addSourceBuffer(type);
    this.buffer.mode = 'segments';
    this.tail = Promise.resolve();
  }

  get ranges() {
    return rangesOf(this.buffer.buffered);
  }

  append(data) {
    return this.step(async () => {
      try {
        await this.perform(() => this.buffer.appendBuffer(data));
      } catch (error) {
        if (error.name !== 'QuotaExceededError') throw error;
        const [first] = this.ranges;
        if (!first) throw error;
        await this.perform(() => this.buffer.remove(0, (first[0] + first[1]) / 2));
        await this.perform(() => this.buffer.appendBuffer(data));
      }
    });
  }

  /** Forgets what lies before a moment. */
  forget(before) {
    const [first] = this.ranges;
    if (!first || first[0] >= before) return Promise.resolve();
    return this.step(() => this.perform(() => this.buffer.remove(0, before)));
  }

  /** Moves what is appended from now on by so many seconds. */
  shift(offset) {
    return this.step(async () => {
      if (Math.abs(this.buffer.timestampOffset - offset) > 1e-6) this.buffer.timestampOffset = offset;
    });
  }

  step(work) {
    const result = this.tail.then(work);
    // One failure is the caller's to handle; the steps behind it are tried all the same.
    this.tail = result.catch(() => undefined);
    return result;
  }

  perform(start) {
    return new Promise((resolve, reject) => {
      const done = () => { detach(); resolve(); };
      const failed = () => { detach(); reject(new Error('the browser refused the media')); };
      const detach = () => {
        this.buffer.removeEventListener('updateend', done);
        this.buffer.removeEventListener('error', failed);
      };
      this.buffer.addEventListener('updateend', done);
      this.buffer.addEventListener('error', failed);
      try {
        start();
      } catch (error) {
        detach();
        reject(error);
      }
    });
  }
}

/** TimeRanges as pairs of seconds. */
export function rangesOf(timeRanges) {
  return Array.from({ length: timeRanges.length }, (_, index) => [timeRanges.start(index), timeRanges.end(index)]);
}
