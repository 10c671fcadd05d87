// Tells the gateway how playback is going: CMCD version 2, event mode (CTA-5004-B).

const interval = 20;

export class Beacon {
  /** @param read Gives the figures of the moment: `sid`, `bitrate`, `buffer`, `latency`, `isLowLatency`. */
  constructor(address, room, read) {
    this.address = address;
    this.room = room;
    this.read = read;
    this.state = 's';
    this.starved = 0;
    this.starvedSince = null;
    this.isWanted = true;
    this.begunAt = Date.now();
    this.schedule();
  }

  /** A new state of the player: `s` starting, `p` playing, `a` paused, `r` rebuffering, `e` ended, `f` failed. */
  changed(state) {
    if (state === this.state) return;
    const now = Date.now();
    if (state === 'r') this.starvedSince = now;
    if (this.state === 'r' && this.starvedSince !== null) this.starved += now - this.starvedSince;
    if (state === 'p' && this.startup === undefined) this.startup = now - this.begunAt;
    this.state = state;
    this.send('ps');
  }

  /** The viewer leaves. */
  leave() {
    this.state = 'q';
    const line = this.line('ps');
    if (this.isWanted && line) navigator.sendBeacon(this.address, new Blob([line], { type: 'application/cmcd' }));
  }

  schedule() {
    const seconds = interval * (0.8 + Math.random() * 0.4);
    setTimeout(() => {
      if (this.state !== 'q') this.send('t');
      if (this.isWanted) this.schedule();
    }, seconds * 1000);
  }

  async send(event) {
    const line = this.line(event);
    if (!this.isWanted || !line) return;
    try {
      const answer = await fetch(this.address, {
        method: 'POST', body: line, keepalive: true, headers: { 'Content-Type': 'application/cmcd' },
        signal: AbortSignal.timeout(5000),
      });
      // Stops reporting if the gateway does not accept reports.
      if ([404, 405, 501].includes(answer.status)) this.isWanted = false;
    } catch {
      // Figures that are lost are lost; the show goes on.
    }
  }

  line(event) {
    const { sid, bitrate, buffer, latency, isLowLatency } = this.read();
    if (!sid) return null;
    const pairs = { bl: `(${Math.round(buffer * 100) * 10})`, cid: text(this.room), e: event };
    if (bitrate) pairs.br = `(${Math.round(bitrate / 1000)})`;
    if (this.state === 'r') pairs.bs = true;
    if (this.starved > 0) pairs.bsd = `(${this.starved})`;
    if (latency !== null) pairs.ltc = Math.round(latency);
    if (this.startup !== undefined && !this.hasToldStartup) pairs.msd = this.startup;
    Object.assign(pairs, { sf: 'h', sid: text(sid), st: isLowLatency ? 'll' : 'l', sta: this.state, ts: Date.now(), v: 2 });
    this.starved = 0;
    this.hasToldStartup = this.startup !== undefined;
    return `${Object.keys(pairs).sort()
      .map((key) => (pairs[key] === true ? key : `${key}=${pairs[key]}`)).join(',')}\n`;
  }
}

const text = (value) => `"${value.replace(/[\\"]/g, '\\$&')}"`;
