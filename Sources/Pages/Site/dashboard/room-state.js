// What a room is, from its events. A pure function: the same events make the same state.

/** Nothing known yet. */
export const unknownRoom = {
  room: null, participants: [], layout: null, livestream: null, hls: null, viewership: null, warnings: [],
  revision: -1, isEnded: false,
};

const warningsKept = 5;

/** The state after one more event. */
export function afterEvent(state, event) {
  if (event.type === 'heartbeat') return state;
  // A stream that came back may tell again what is known.
  if (event.type !== 'room.snapshot' && event.rev <= state.revision) return state;
  const next = { ...state, revision: event.rev };
  if (event.room) {
    next.room = event.room;
    next.livestream = event.room.egress?.livestream ?? next.livestream;
    next.hls = event.room.egress?.hls ?? next.hls;
  }
  if (event.type === 'room.snapshot') {
    next.participants = event.participants ?? [];
    next.isEnded = event.room?.status === 'completed';
  }
  if (event.participant) {
    next.participants = event.type === 'participant.left'
      ? state.participants.filter(({ sid }) => sid !== event.participant.sid)
      : upsert(state.participants, event.participant);
  }
  if (event.layout) next.layout = event.layout;
  if (event.livestream) next.livestream = event.livestream;
  if (event.output && next.livestream) {
    next.livestream = { ...next.livestream, outputs: upsert(next.livestream.outputs, event.output, 'name') };
  }
  if (event.hls) next.hls = event.hls;
  if (event.viewership) next.viewership = event.viewership;
  if (event.warning) next.warnings = [{ ...event.warning, ts: event.ts }, ...state.warnings].slice(0, warningsKept);
  if (event.type === 'livestream.error' && event.error) {
    next.warnings = [{ message: event.error.message, code: event.error.code, ts: event.ts, isError: true }, ...state.warnings]
      .slice(0, warningsKept);
  }
  if (event.type === 'dominant_speaker.changed') {
    next.participants = next.participants
      .map((one) => ({ ...one, is_dominant_speaker: one.sid === event.sid }));
  }
  if (event.type === 'pin.changed') {
    next.participants = next.participants
      .map((one) => (one.sid === event.participant_sid ? { ...one, pin: event.pin } : one));
  }
  if (event.type === 'room.ended') next.isEnded = true;
  return next;
}

/** The state with what only a question tells: levels and sync of the participants. */
export function withParticipants(state, participants) {
  return { ...state, participants };
}

function upsert(list, item, key = 'sid') {
  const place = list.findIndex((one) => one[key] === item[key]);
  return place < 0 ? [...list, item] : list.with(place, item);
}
