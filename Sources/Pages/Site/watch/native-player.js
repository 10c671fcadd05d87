// Plays a program by the browser's own HLS player: the better one on Apple's platforms, and the only one on some.

/** Whether the browser's own player is to be taken. */
export function prefersNative(video) {
  if (!video.canPlayType('application/vnd.apple.mpegurl')) return false;
  const hasScripts = Boolean(globalThis.ManagedMediaSource ?? globalThis.MediaSource);
  // Other browsers have begun to play HLS themselves, without its parts; seconds later than we can.
  return !hasScripts || 'webkitShowPlaybackTargetPicker' in video;
}

export class NativePlayer {
  constructor(video, url, { onEnd, onBlocked }) {
    this.video = video;
    this.isLowLatency = null;
    this.target = null;
    this.throughput = null;
    this.listeners = new AbortController();
    const options = { signal: this.listeners.signal };
    video.addEventListener('ended', () => onEnd('ended'), options);
    video.addEventListener('error', () => onEnd('failed', video.error), options);
    video.src = url;
    video.play().catch((error) => { if (error.name === 'NotAllowedError') onBlocked(); });
  }

  stop() {
    this.listeners.abort();
    this.video.removeAttribute('src');
    this.video.load();
  }

  stalled() {}

  goLive() {
    const { seekable } = this.video;
    if (seekable.length > 0) this.video.currentTime = seekable.end(seekable.length - 1);
  }

  get programTime() {
    const start = this.video.getStartDate?.().getTime();
    return Number.isFinite(start) ? start + this.video.currentTime * 1000 : null;
  }

  get buffered() {
    const { buffered, currentTime } = this.video;
    return buffered.length > 0 ? Math.max(0, buffered.end(buffered.length - 1) - currentTime) : 0;
  }
}
