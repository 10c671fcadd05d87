// What the server's clock says, by answers that carried its time: a viewer's own clock may be minutes off.

export class ServerClock {
  constructor() {
    this.offset = 0;
    this.shortest = Infinity;
  }

  /** Takes an answer: sent and received by our clock, `serverTime` by the server's, all in milliseconds. */
  note(sent, received, serverTime) {
    const trip = received - sent;
    // The quickest answer tells it best; an old one is believed less and less, for clocks drift.
    if (trip > this.shortest * 1.1 + 5) {
      this.shortest *= 1.2;
      return;
    }
    this.shortest = trip;
    this.offset = serverTime - (sent + trip / 2);
  }

  get now() {
    return Date.now() + this.offset;
  }
}
