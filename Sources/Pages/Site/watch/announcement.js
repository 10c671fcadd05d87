// Tells an early viewer when the show starts, a late one that it has ended, and everyone its title.

import { setText, show } from '../shared/element.js';
import { dateTime, elapsed } from '../shared/format.js';
import { t } from '../texts/watch-texts.js';

/** Seconds between two questions; a countdown goes on in between. */
const interval = 20;

export class Announcement extends EventTarget {
  /** @param elements `title`, `description`, `starts` and `poster`. */
  constructor(name, elements) {
    super();
    Object.assign(this, { name, elements });
    /** What the gateway says of the show; null before its first answer. */
    this.status = null;
    this.isMissing = false;
    /** Milliseconds by which the gateway's clock is ahead of the browser's. */
    this.offset = 0;
    setInterval(() => this.render(), 500);
    this.follow();
  }

  /** What to say while there is no program to play. */
  get message() {
    if (this.isMissing) return `${t('watch.none')} ${t('watch.noneHint')}`;
    if (this.status?.state === 'ended') {
      const { ended_at: end } = this.status;
      return end ? `${t('watch.ended')} ${t('watch.endedAt', { time: dateTime(Date.parse(end)) })}` : t('watch.ended');
    }
    // Without the countdown, which would be read aloud each second; it stands below.
    if (this.start === null) return t('watch.waiting');
    return this.start > Date.now() + this.offset ? t('watch.startsAt', { time: dateTime(this.start) }) : t('watch.startsNow');
  }

  /** The planned start in milliseconds since 1970; null if there is none to wait for. */
  get start() {
    const { state, starts_at: start } = this.status ?? {};
    return state === 'upcoming' && start ? Date.parse(start) : null;
  }

  get startText() {
    const left = this.start - (Date.now() + this.offset);
    if (left <= 0) return t('watch.startsNow');
    const text = t('watch.startsAt', { time: dateTime(this.start) });
    return left < 86_400_000 * 2 ? `${text} · ${t('watch.startsIn', { time: elapsed(Math.ceil(left / 1000)) })}` : text;
  }

  /** Asks now, such as when the program has stopped coming. */
  async ask() {
    try {
      const answer = await fetch(`/v1/shows/${encodeURIComponent(this.name)}/status`, {
        signal: AbortSignal.timeout(5000),
      });
      this.isMissing = answer.status === 404;
      if (answer.ok) {
        this.status = await answer.json();
        this.offset = Date.parse(this.status.now) - Date.now();
      }
      this.render();
      this.dispatchEvent(new Event('change'));
    } catch {
      // The next answer tells more.
    }
  }

  async follow() {
    for (;;) {
      await this.ask();
      const seconds = (document.hidden ? 3 : 1) * interval;
      await new Promise((done) => setTimeout(done, (seconds + Math.random() * 5) * 1000));
    }
  }

  render() {
    const { title, description, starts, poster } = this.elements;
    const status = this.status ?? {};
    const name = status.title || this.name;
    setText(title, status.episode_title ? `${name}: ${status.episode_title}` : name);
    document.title = t('watch.title', { title: name });
    setText(description, status.description ?? '');
    show(description, Boolean(status.description));
    setText(starts, this.start === null ? '' : this.startText);
    show(starts, this.start !== null);
    if (status.poster_url && poster.dataset.of !== status.poster_url) {
      poster.dataset.of = status.poster_url;
      poster.src = `/v1/shows/${encodeURIComponent(this.name)}/poster`;
    }
    show(poster, Boolean(status.poster_url));
  }
}
