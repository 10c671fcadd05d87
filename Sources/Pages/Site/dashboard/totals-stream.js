// The figures of all rooms as they change, by server-sent events.

const again = 30_000;
/** Milliseconds without an event after which a stream counts as dead; where nothing changes one comes every 15 seconds. */
const silence = 20_000;

/** Calls `onTotals` with each version of the figures; `close` ends it. */
export class TotalsStream {
  constructor(onTotals) {
    this.onTotals = onTotals;
    this.heardAt = 0;
    this.open();
  }

  /** Whether figures have come lately; if not, they are to be asked for. */
  get isFresh() {
    return Date.now() - this.heardAt < silence;
  }

  open() {
    this.source = new EventSource('/v1/viewership/events');
    this.source.addEventListener('viewership', ({ data }) => {
      this.heardAt = Date.now();
      this.onTotals(JSON.parse(data));
    });
    this.source.onerror = () => {
      this.heardAt = 0;
      // A gateway that refuses is asked again after a while; a broken connection the browser takes up by itself.
      if (this.source.readyState === EventSource.CLOSED) this.timer = setTimeout(() => this.open(), again);
    };
  }

  close() {
    clearTimeout(this.timer);
    this.source.close();
  }
}
