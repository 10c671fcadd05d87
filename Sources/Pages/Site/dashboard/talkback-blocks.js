// Makes blocks of 48 kHz, one channel and 16 bits of what a microphone delivers.

export const blockRate = 48_000;
/** The samples of a block: a tenth of a second. */
export const blockSamples = 4800;

export class BlockMaker {
  /** @param rate The samples per second that come. */
  constructor(rate) {
    this.step = rate / blockRate;
    /** Where the next sample lies, from the last sample of what came before. */
    this.position = 0;
    this.last = 0;
    this.begin();
  }

  begin() {
    this.block = new Int16Array(blockSamples);
    this.count = 0;
  }

  /** Takes samples from -1 to 1, and returns the blocks that they complete. */
  push(samples) {
    const blocks = [];
    for (; this.position < samples.length; this.position += this.step) {
      const place = Math.floor(this.position);
      const before = place === 0 ? this.last : samples[place - 1];
      const value = before + (samples[place] - before) * (this.position - place);
      this.block[this.count] = Math.round(Math.max(-1, Math.min(value, 1)) * 32_767);
      this.count += 1;
      if (this.count < blockSamples) continue;
      blocks.push(this.block);
      this.begin();
    }
    this.position -= samples.length;
    if (samples.length > 0) this.last = samples[samples.length - 1];
    return blocks;
  }

  /** What is not a whole block yet; null for nothing. */
  rest() {
    const block = this.count > 0 ? this.block.slice(0, this.count) : null;
    this.begin();
    return block;
  }
}
