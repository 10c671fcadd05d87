// Sends a talk block by block, and says when it is on.

/** The most blocks of one request, which the gateway takes at once. */
const mostBlocks = 5;
const mostFailures = 3;

/** Whether somebody speaks: while it is held, or with the latch from one press to the next. */
export class TalkSwitch {
  constructor(onChange) {
    Object.assign(this, { onChange, isOn: false, isLatched: false });
  }

  press() {
    this.set(this.isLatched ? !this.isOn : true);
  }

  release() {
    if (!this.isLatched) this.set(false);
  }

  latch(isLatched) {
    this.isLatched = isLatched;
    if (!isLatched) this.set(false);
  }

  set(isOn) {
    if (isOn === this.isOn) return;
    this.isOn = isOn;
    this.onChange(isOn);
  }
}

/**
 * One talk: a block at a time is under way, and those that come meanwhile go together, so that a slow network delays the
 * talk and does not let it fall behind for good.
 */
export class Talk {
  /**
   * @param post Sends samples, and returns what the gateway answers.
   * @param end Tells the gateway that the talk is over.
   * @param onState Called with each answer.
   * @param onFailure Called once with the error that ends the talk.
   */
  constructor({ post, end, onState, onFailure }) {
    Object.assign(this, { post, end, onState, onFailure, waiting: [], failures: 0, isSending: false,
      isEnding: false, isOver: false });
  }

  push(block) {
    if (this.isOver || this.isEnding) return;
    this.waiting.push(block);
    if (this.waiting.length > mostBlocks) this.waiting.shift();
    this.send();
  }

  /** Ends the talk when everything has left. */
  finish() {
    this.isEnding = true;
    this.send();
  }

  async send() {
    if (this.isSending || this.isOver) return;
    if (this.waiting.length === 0) {
      if (!this.isEnding) return;
      this.isOver = true;
      // Without it the gateway ends the talk a second later.
      await this.end().catch(() => undefined);
      return;
    }
    this.isSending = true;
    try {
      const state = await this.post(joined(this.waiting.splice(0)));
      this.failures = 0;
      if (!this.isOver) this.onState(state);
    } catch (error) {
      this.failures += 1;
      // A refusal will not change in a tenth of a second, and a lost answer may.
      if (error.status || this.failures >= mostFailures) {
        this.isOver = true;
        this.onFailure(error);
      }
    }
    this.isSending = false;
    this.send();
  }
}

/** Blocks as one. */
function joined(blocks) {
  const all = new Int16Array(blocks.reduce((sum, { length }) => sum + length, 0));
  let place = 0;
  for (const block of blocks) {
    all.set(block, place);
    place += block.length;
  }
  return all;
}
