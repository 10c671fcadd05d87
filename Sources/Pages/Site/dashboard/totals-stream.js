// The figures of all rooms as they change, by server-sent events.

const again = 30_000;

/** Calls `onTotals` with each version of the figures; `close` ends it. */
export class TotalsStream {
  constructor(onTotals) {
    this.onTotals = onTotals;
    this.heardAt = 0;
    this.open();
  }

  /** Whether figures have come lately; if not, they are to be asked for. */
  get isFresh() {
    return Date.now() - this.heardAt < 4000;
  }

  open() {
    this.source = new EventSource('/v1/viewership/events');
    this.source.addEventListener('viewership', ({ data }) => {
      this.heardAt = Date.now();
      this.onTotals(JSON.parse(data));
    });
    this.source.onerror = () => {
      // A gateway that refuses is asked again after a while; a broken connection the browser takes up by itself.
      if (this.source.readyState === EventSource.CLOSED) this.timer = setTimeout(() => this.open(), again);
    };
  }

  close() {
    clearTimeout(this.timer);
    this.source.close();
  }
}
