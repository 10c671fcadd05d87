// A room's events as they happen, by server-sent events.

import { roomPath } from './api.js';
import { afterEvent, unknownRoom } from './room-state.js';

const eventNames = [
  'room.snapshot', 'room.created', 'room.updated', 'room.ended', 'participant.joined', 'participant.updated',
  'participant.left', 'participant.mode_changed', 'participant.reconnecting', 'participant.reconnected',
  'participant.media_failed', 'track.published', 'track.unpublished', 'track.enabled', 'track.disabled',
  'track.subscribed', 'track.unsubscribed', 'dominant_speaker.changed', 'pin.changed', 'layout.changed',
  'livestream.state_changed', 'livestream.output_updated', 'livestream.warning', 'livestream.error',
  'hls.state_changed', 'viewership.updated', 'heartbeat',
];
/** Milliseconds without any event, heartbeats included, after which a stream counts as dead. */
const silence = 15_000;

export class RoomStream {
  constructor(room, { onState, onHealth }) {
    this.room = room;
    this.onState = onState;
    this.onHealth = onHealth;
    this.state = unknownRoom;
    this.open();
    this.watch = setInterval(() => this.check(), 3000);
  }

  close() {
    clearInterval(this.watch);
    clearTimeout(this.again);
    this.source?.close();
    this.source = null;
  }

  /** Changes the state by something other than an event. */
  update(change) {
    this.state = change(this.state);
    this.onState(this.state);
  }

  open() {
    this.heardAt = Date.now();
    const source = new EventSource(roomPath(this.room, '/events'));
    this.source = source;
    const take = (message) => {
      this.heardAt = Date.now();
      this.onHealth(true);
      const event = JSON.parse(message.data);
      const next = afterEvent(this.state, event);
      if (next === this.state) return;
      this.state = next;
      this.onState(next);
      if (next.isEnded) this.close();
    };
    for (const name of eventNames) source.addEventListener(name, take);
    source.onerror = () => {
      this.onHealth(false);
      // A refusal closes the source for good; a broken connection is taken up again by the browser.
      if (source.readyState === EventSource.CLOSED) this.reopen();
    };
  }

  reopen() {
    if (!this.source) return;
    this.source.close();
    clearTimeout(this.again);
    this.again = setTimeout(() => this.open(), 2000 + Math.random() * 2000);
  }

  check() {
    if (Date.now() - this.heardAt < silence) return;
    this.onHealth(false);
    this.heardAt = Date.now();
    this.reopen();
  }
}
