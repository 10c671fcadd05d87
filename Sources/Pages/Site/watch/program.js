// A room's program for one viewer: waits until there is one, plays it, and comes back when it comes back.

import { isRefusal } from './admission.js';
import { canPlay, MSEPlayer } from './mse-player.js';
import { NativePlayer, prefersNative } from './native-player.js';
import { parseMultivariant } from './playlist.js';
import { Renditions } from './renditions.js';
import { BackOff, HTTPFailure, pause, take } from './transport.js';

export class Program extends EventTarget {
  /**
   * @param address Of the multivariant playlist.
   * @param device The id that the browser keeps; null for none.
   * @param token The viewer's token; null without one.
   * @param admission What admits the viewer to a private room; null where rooms are public.
   */
  constructor(video, address, device = null, token = null, admission = null) {
    super();
    this.video = video;
    this.address = address;
    this.device = device;
    this.token = token;
    this.admission = admission;
    this.state = 'waiting';
    this.player = null;
    this.renditions = null;
    this.sid = admission?.sid ?? null;
    /** Why the viewer is not admitted; null if it is. */
    this.refusal = null;
    this.denial = null;
    this.isClosed = false;
    this.listen();
    this.run();
  }

  get variant() {
    return this.renditions?.current ?? null;
  }

  /** Picks a rendition by its place in the playlist; null for automatic choice. */
  pick(index) {
    if (!this.renditions) return;
    const before = this.variant;
    this.renditions.pick(index === null ? null : this.renditions.all[index]);
    if (this.variant !== before) this.restart();
  }

  restart() {
    this.player?.stop();
    this.finish?.('restarted');
  }

  /** The viewer wants to play. */
  play() {
    if (this.video.paused && this.player) {
      this.player.goLive();
      this.video.play().catch(() => undefined);
    }
  }

  /** Ends playback for good. */
  close() {
    this.isClosed = true;
    clearInterval(this.trials);
    this.player?.stop();
    this.finish?.('closed');
    this.endRefusal?.();
    // A video without a page goes on to be heard as long as it has something to play.
    this.video.pause();
    this.video.removeAttribute('src');
    this.video.load();
  }

  async run() {
    const backOff = new BackOff(0.5, 2);
    while (!this.isClosed) {
      if (this.denial) {
        await this.waitForAdmission(this.denial);
        continue;
      }
      try {
        const reason = await this.playOnce();
        if (reason === 'restarted') continue;
        if (reason !== 'refused') this.become(reason === 'failed' ? 'failed' : 'waiting');
        if (reason !== 'failed') backOff.succeeded();
      } catch (error) {
        if (error instanceof HTTPFailure && isRefusal(error)) {
          await this.waitForAdmission(error);
          continue;
        }
        this.become(stateAfter(error));
      }
      // After a refusal for lack of capacity, waits before the next attempt.
      const seconds = { waiting: 1.5, full: 4 }[this.state];
      await pause(seconds ? seconds + Math.random() : backOff.failed());
    }
  }

  /** The viewer will not be admitted, as is known before the program begins. */
  deny(failure) {
    if (this.state === 'waiting') this.denial = failure;
  }

  /** The viewer was admitted. */
  admit(sid) {
    this.sid = sid;
    this.refusal = null;
    this.denial = null;
    this.endRefusal?.();
  }

  /** Waits until the viewer is admitted; asks again by itself now and then, for a ticket may become valid. */
  async waitForAdmission(failure) {
    this.refusal = failure;
    this.denial = null;
    this.become('denied');
    this.dispatchEvent(new Event('refusal'));
    await Promise.race([pause(20 + 5 * Math.random()), new Promise((resolve) => { this.endRefusal = resolve; })]);
    this.endRefusal = null;
  }

  async playOnce() {
    const { body, url } = await this.takePlaylist();
    if (this.isClosed) return 'closed';
    this.refusal = null;
    const variants = parseMultivariant(body, url).map((variant) => ({ ...variant, url: this.named(variant.url) }));
    if (variants.length === 0) throw new Error('nothing to play');
    this.sid = sessionOf(new URL(variants[0].url));
    const isNative = prefersNative(this.video);
    const playable = isNative ? variants : variants.filter(canPlay);
    if (playable.length === 0) {
      this.become('unplayable');
      await pause(30);
      return 'restarted';
    }
    this.keepChoice(playable, isNative);
    this.become('starting');
    return new Promise((resolve) => {
      let isDone = false;
      this.finish = (reason, error) => {
        if (isDone) return;
        isDone = true;
        if (error) console.warn('playback ended', reason, error);
        if (reason !== 'restarted') this.player?.stop();
        this.player = null;
        resolve(reason);
      };
      const tell = {
        onEnd: (reason, error) => this.finish(reason, error),
        onBlocked: () => this.become('paused'),
      };
      this.player = isNative
        ? new NativePlayer(this.video, this.ownAddress, tell)
        : new MSEPlayer(this.video, this.variant, tell);
    });
  }

  /** By the session that the page has: so a viewer counts once, whatever is begun again. */
  get ownAddress() {
    const query = new URLSearchParams();
    if (this.sid) query.set('sid', this.sid);
    if (this.device) query.set('did', this.device);
    if (this.token) query.set('token', this.token);
    return `${query}` ? `${this.address}?${query}` : this.address;
  }

  /** The URL of a playlist with the device id, for servers that count viewers by these requests. */
  named(url) {
    if (!this.device) return url;
    const address = new URL(url);
    address.searchParams.set('did', this.device);
    return address.href;
  }

  async takePlaylist() {
    try {
      return await take(this.ownAddress, 'text');
    } catch (error) {
      if (!(error instanceof HTTPFailure)) throw error;
      if (isRefusal(error)) {
        // What the page has may still admit it, such as its ticket after its session has ended.
        if (!this.admission?.ticket) throw error;
        this.sid = await this.admission.enter();
        return take(this.ownAddress, 'text');
      }
      // A session that the gateway does not know as its own any more, or a token that has run out: the program may be
      // for everybody.
      if (error.status !== 403 || !(this.sid || this.token)) throw error;
      if (this.sid) this.sid = null;
      else this.token = null;
      return this.takePlaylist();
    }
  }

  /** The renditions of a new playlist, with the choice that was made among those of the last. */
  keepChoice(variants, isNative) {
    const renditions = new Renditions(variants);
    const former = this.renditions;
    if (former?.picked) {
      renditions.pick(variants.find(({ width, codecs }) => width === former.picked.width
        && codecs === former.picked.codecs) ?? null);
    }
    if (former && former.ladder.length === renditions.ladder.length) {
      Object.assign(renditions, { place: former.place, trial: former.trial });
    }
    this.renditions = renditions;
    this.canPick = !isNative && variants.length > 1;
    this.dispatchEvent(new Event('renditions'));
  }

  listen() {
    const { video } = this;
    video.addEventListener('playing', () => this.become('playing'));
    video.addEventListener('pause', () => { if (this.player && !video.ended) this.become('paused'); });
    video.addEventListener('waiting', () => {
      if (this.state !== 'playing' || video.seeking) return;
      this.become('stalled');
      this.player?.stalled();
      if (this.renditions?.stalled(performance.now() / 1000) && this.canPick) this.restart();
    });
    this.trials = setInterval(() => {
      if (this.state !== 'playing' || !this.canPick) return;
      if (this.renditions.calm(performance.now() / 1000, this.player?.throughput ?? null)) this.restart();
    }, 5000);
  }

  become(state) {
    if (state === this.state || this.isClosed) return;
    this.state = state;
    this.dispatchEvent(new Event('state'));
  }
}

/** The gateway's number for having no room. */
const busy = 53006;

/** What it means that there is no playlist: no program yet or not at present, no room for another viewer, or worse. */
function stateAfter(error) {
  const { status, code } = error instanceof HTTPFailure ? error : {};
  if (status === 503) return code === busy ? 'full' : 'waiting';
  return status === 404 ? 'waiting' : 'failed';
}

/** The session that an address names, in its query or in its path. */
function sessionOf({ searchParams, pathname }) {
  return searchParams.get('sid') ?? /^\/live\/[^/]+\/~([^/]+)\//.exec(pathname)?.[1] ?? null;
}
