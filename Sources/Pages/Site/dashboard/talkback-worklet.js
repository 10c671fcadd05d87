// Runs beside the page, where the microphone's samples come: sends them to the page in blocks while somebody speaks.

import { BlockMaker } from './talkback-blocks.js';

class TalkbackProcessor extends AudioWorkletProcessor {
  constructor() {
    super();
    this.maker = null;
    // The page says whether somebody speaks.
    this.port.onmessage = ({ data: isOn }) => {
      if (isOn) {
        this.maker = new BlockMaker(sampleRate);
        return;
      }
      const rest = this.maker?.rest();
      this.maker = null;
      if (rest) this.port.postMessage(rest, [rest.buffer]);
      this.port.postMessage(null);
    };
  }

  process([[samples]]) {
    if (!samples || !this.maker) return true;
    for (const block of this.maker.push(samples)) this.port.postMessage(block, [block.buffer]);
    return true;
  }
}

registerProcessor('footlight-talkback', TalkbackProcessor);
