// The microphone of the browser, in blocks.

/** Seconds for which an idle microphone stays open, so that the next words are not cut off at their beginning. */
const idleSeconds = 20;

export class Microphone {
  /**
   * @param onBlock Called with each block while somebody speaks.
   * @param onEnd Called when the last block of a talk has come.
   * @param onLost Called when the microphone is gone, such as one that was unplugged.
   */
  constructor({ onBlock, onEnd, onLost }) {
    Object.assign(this, { onBlock, onEnd, onLost, opening: null, context: null, stream: null, node: null, timer: null });
  }

  /**
   * Opens the microphone, which the browser may ask about; open, it stays so.
   *
   * @throws A DOMException that names why there is none.
   */
  open() {
    clearTimeout(this.timer);
    this.opening ??= this.start().catch((error) => {
      this.close();
      throw error;
    });
    return this.opening;
  }

  async start() {
    // A page that came in clear from another machine has none.
    if (!navigator.mediaDevices?.getUserMedia) throw new DOMException('', 'SecurityError');
    this.context = new AudioContext();
    const { context } = this;
    const stream = await navigator.mediaDevices.getUserMedia({
      audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true },
    });
    for (const track of stream.getTracks()) {
      if (this.context !== context) track.stop();
      track.addEventListener('ended', () => this.onLost());
    }
    this.stream = stream;
    await context.audioWorklet.addModule(new URL('./talkback-worklet.js', import.meta.url).pathname);
    await context.resume();
    this.node = new AudioWorkletNode(context, 'footlight-talkback', {
      numberOfOutputs: 0, channelCount: 1, channelCountMode: 'explicit',
    });
    this.node.port.onmessage = ({ data: block }) => (block ? this.onBlock(block) : this.onEnd());
    context.createMediaStreamSource(this.stream).connect(this.node);
  }

  begin() {
    this.node?.port.postMessage(true);
  }

  end() {
    this.node?.port.postMessage(false);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.close(), idleSeconds * 1000);
  }

  close() {
    clearTimeout(this.timer);
    for (const track of this.stream?.getTracks() ?? []) track.stop();
    this.context?.close();
    Object.assign(this, { opening: null, context: null, stream: null, node: null });
  }
}
