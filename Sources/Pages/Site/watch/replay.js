// Plays the recordings of the last episode, one after the other, while nothing is live.

import { setText, show } from '../shared/element.js';
import { t } from '../texts/watch-texts.js';

export class Replay {
  /** @param element The section with a heading and a `video`. */
  constructor(element) {
    this.element = element;
    this.video = element.querySelector('video');
    this.urls = [];
    this.place = 0;
    this.video.addEventListener('ended', () => {
      if (this.place + 1 >= this.urls.length) return;
      this.place += 1;
      this.load();
      this.video.play();
    });
  }

  /** Shows what may be watched: `replays` of the show's status, none while it is live. */
  update({ state, replays = [] }) {
    // Addresses of the page's own server, whatever name it has for itself.
    const urls = state === 'live' ? [] : replays.map(({ url }) => new URL(url).pathname);
    if (urls.join() !== this.urls.join()) {
      this.urls = urls;
      this.place = 0;
      this.load();
    }
    setText(this.element.querySelector('h2'), t(state === 'ended' ? 'watch.replay' : 'watch.lastReplay'));
    show(this.element, urls.length > 0);
  }

  load() {
    const url = this.urls[this.place];
    if (url) {
      this.video.src = url;
    } else {
      this.video.removeAttribute('src');
      this.video.load();
    }
  }
}
