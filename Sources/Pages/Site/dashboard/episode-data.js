// The stored figures of one episode, as the gateway answers them.

import { ask, askIfThere, roomPath } from './api.js';
import { rangeOf, retentionStepOf, stepOf } from './episode-figures.js';
import { readSeries } from './history.js';

/** The episode with its summary, its minutes, its retention and its moments; null for what is not stored. */
export async function loadEpisode(base, id) {
  const path = `${base}/episodes/${encodeURIComponent(id)}`;
  const [episode, moments] = await Promise.all([ask('GET', path), askIfThere(`${path}/moments`)]);
  const loaded = { episode, moments: moments?.moments ?? [], summary: null, range: null, points: [], retention: null };
  if (!episode.room_sid) return loaded;
  const summary = await askIfThere(roomPath(episode.room_sid, '/viewership/summary'));
  if (!summary) return loaded;
  const range = rangeOf(episode, summary, Date.now());
  // The minutes are stored by the room's name, which all episodes have; so they are asked for by their time.
  const series = new URLSearchParams({
    from: new Date(range.begin).toISOString(), to: new Date(range.end).toISOString(), step: String(stepOf(range)),
    group_by: 'protocol',
  });
  const [written, retention] = await Promise.all([
    askIfThere(roomPath(episode.room_sid, `/viewership/timeseries?${series}`)),
    askIfThere(roomPath(episode.room_sid, `/viewership/retention?step=${retentionStepOf(range)}`)),
  ]);
  // The first and the last minute may be those of the episodes before and after.
  const points = (written ? readSeries(written) : []).filter(({ at }) => at >= range.begin && at <= range.end);
  return { ...loaded, summary, range, points, retention: retention?.points ?? null };
}
