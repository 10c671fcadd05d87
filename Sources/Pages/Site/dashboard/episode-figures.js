// What the figures of an episode say. Pure functions: the same answers of the gateway make the same words.

import { average, clock, count, duration, percent } from '../shared/format.js';
import { protocols } from './protocols.js';

const minute = 60_000;
/** Seconds after which a table of retention has a line. */
const milestones = [30, ...[1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 360, 480, 720].map((minutes) => minutes * 60)];
/** Milliseconds before it went live from which the chart of an episode begins at most. */
const lead = 10 * minute;

const layouts = { GRID: 'grid', SPOTLIGHT: 'spotlight', SIDEBAR: 'sidebar' };
const happenings = {
  went_live: () => 'Went live', went_backstage: () => 'Went back to the slate', host_joined: (name) => `${name} came`,
  host_left: (name) => `${name} went`, scene_taken: (name) => `Scene: ${name}`, layout_changed: (name) => `Layout: ${layouts[name] ?? name.toLowerCase()}`,
};
const clients = {
  web: 'Browser', ios: 'iPhone or iPad', android: 'Android', tv: 'TV', tool: 'Other player', unknown: 'Unknown',
};

/** The name of an episode. */
export const nameOf = ({ title, number }) => title || `Episode ${number}`;

/** The moments between which an episode is shown, in milliseconds since 1970. */
export function rangeOf({ opened_at: opened, went_live_at: live, ended_at: ended }, summary, now) {
  const from = Date.parse(opened ?? summary.began_at);
  const end = ended ?? summary.ended_at;
  return {
    begin: live ? Math.max(from, Date.parse(live) - lead) : from,
    end: end ? Date.parse(end) : now,
    live: Date.parse(live ?? summary.began_at),
  };
}

/** Seconds of a step with which a time has some hundred points: whole minutes. */
export const stepOf = ({ begin, end }) => 60 * Math.max(1, Math.ceil((end - begin) / minute / 360));

/** The same for retention, which is known to the second. */
export const retentionStepOf = (range) => (range.end - range.begin <= 30 * minute ? 10 : stepOf(range));

/** What happened while an episode was shown, numbered, in order; the peak of its audience too. */
export function marksOf(episode, moments, summary, { begin, end }) {
  const all = moments.map(({ at, kind, name }) => ({ at: Date.parse(at), text: happenings[kind]?.(name) }));
  // A gateway that has recorded no moments knows these two.
  if (episode.went_live_at && !moments.some(({ kind }) => kind === 'went_live')) {
    all.push({ at: Date.parse(episode.went_live_at), text: 'Went live' });
  }
  if (episode.ended_at) all.push({ at: Date.parse(episode.ended_at), text: 'Ended' });
  if (summary?.peak_at && summary.peak_viewers > 0) {
    all.push({ at: Date.parse(summary.peak_at), text: `Most viewers: ${count(summary.peak_viewers)}` });
  }
  return all.filter(({ at, text }) => text && at >= begin && at <= end).sort((a, b) => a.at - b.at)
    .map((one, index) => ({ ...one, number: index + 1 }));
}

/** The points of an episode from the beginning of the first step to the end of the last one, within the time shown. */
export function withEdges(points, { begin, end }, step) {
  if (points.length === 0) return [];
  const [first, last] = [points[0], points.at(-1)];
  return [
    { ...first, at: Math.max(begin, first.at - step * 500) }, ...points, { ...last, at: Math.min(end, last.at + step * 500) },
  ];
}

/** All viewers over the milliseconds since an episode went live, to lay one over another. */
export function sinceLive(points, live) {
  return points.map(({ at, values }) => ({ x: at - live, y: protocols.reduce((sum, { key }) => sum + values[key], 0) }))
    .filter(({ x }) => x >= 0);
}

/** Retention as a curve, up to the last time that anybody could have watched. */
export function retentionCurve(points) {
  return points.filter(({ joins }) => joins > 0).map(({ after_seconds: after, share }) => ({ x: after * 1000, y: share * 100 }));
}

/** Retention as a table: a handful of times, as far as it goes. */
export function retentionRows(points) {
  return points.filter(({ after_seconds: after, joins }) => joins > 0 && milestones.includes(after));
}

/** The groups of a summary in order of their watch time, each with its part of it. */
export function groupsOf(groups, nameOfGroup) {
  const all = Object.entries(groups).map(([key, slice]) => ({ key, name: nameOfGroup(key), slice }));
  const total = all.reduce((sum, { slice }) => sum + slice.watch_time_seconds, 0);
  return all.sort((a, b) => b.slice.watch_time_seconds - a.slice.watch_time_seconds || a.name.localeCompare(b.name))
    .map((one) => ({ ...one, part: total > 0 ? one.slice.watch_time_seconds / total : 0 }));
}

/** How a summary groups viewers: a title, what it means, the groups, and their names. */
export const groupings = [
  { title: 'By protocol', hint: 'How the program came to the viewer.', of: (summary) => summary.by_protocol,
    nameOf: (key) => protocols.find((one) => one.key === key)?.name ?? key },
  { title: 'By region', hint: 'Where viewers were, by their address.', of: (summary) => summary.by_region, nameOf: regionName },
  { title: 'By rendition', hint: 'The size of the video; a player that changes it counts where it watched.',
    of: (summary) => summary.by_rendition, nameOf: (key) => key || 'Full size' },
  { title: 'By player', hint: 'What viewers watched with.', of: (summary) => summary.by_client,
    nameOf: (key) => clients[key] ?? key },
];

function regionName(code) {
  if (!code) return 'Unknown';
  try {
    return new Intl.DisplayNames(['en'], { type: 'region' }).of(code.slice(0, 2)) + code.slice(2);
  } catch {
    return code;
  }
}

function secondsOf(startup) {
  if (typeof startup !== 'number') return 'not known';
  return startup < 0.1 ? 'under 0.1 s' : `${startup.toFixed(1)} s`;
}

/** The figures of a summary: a name, its value, a note beside it, and what it means. */
export function figuresOf(summary) {
  const { uniques, peak_at: peakAt, average_startup_seconds: startup } = summary;
  return [
    { name: 'Joins', value: count(summary.joins),
      hint: 'How often somebody began to watch. Who comes back within half a minute is not counted again.' },
    { name: 'Different viewers', value: `${uniques.approximate ? 'about ' : ''}${count(uniques.devices)}`,
      hint: 'Each person or device once, as far as the gateway can tell them apart: there may have been fewer.' },
    { name: 'Most at once', value: count(summary.peak_viewers), note: peakAt ? `at ${clock(Date.parse(peakAt))}` : '',
      hint: 'The most viewers at the same moment.' },
    { name: 'On average', value: average(summary.average_viewers),
      hint: 'Viewers at any one moment while the program was on the air.' },
    { name: 'Watched in total', value: duration(summary.watch_hours * 3600), hint: 'The time that all viewers watched, added up.' },
    { name: 'Watched per join', value: duration(summary.average_watch_seconds), hint: 'How long one viewer stayed on average.' },
    { name: 'Time to start', value: secondsOf(startup),
      hint: 'From the request of a player to its first video, on average.' },
    { name: 'Interrupted', value: summary.watch_hours > 0 ? percent(summary.rebuffer_ratio) : '–',
      hint: 'Part of the time in which players stood still and waited for video, as far as players report it.' },
  ];
}

/** Whether figures are final, as a tone, a word and a sentence that says why. */
export function trustOf(summary, isOver) {
  if (!summary) return ['', 'none', 'No figures are stored of this episode.'];
  if (!summary.settled) {
    return ['warn', 'provisional', isOver
      ? 'Provisional: the room of this episode is not closed yet, so that late viewers may still be added.'
      : 'Provisional: the episode goes on, and a viewer who has just left still counts for up to half a minute.'];
  }
  return ['good', 'final', 'Final: the episode is over, and these figures do not change any more.'];
}

/** Figures that only those who run the gateway need, each with what it means. */
export function detailsOf(summary) {
  const { uniques, coverage, excluded } = summary;
  const left = Object.entries(excluded).filter(([, number]) => number > 0)
    .map(([reason, number]) => `${reason.replaceAll('_', ' ')} ${count(number)}`);
  return [
    ['Average minute audience', average(summary.average_minute_audience),
      'The average of all minutes on the air, each by the part of it that was: what television calls AMA.'],
    ['Time on the air', duration(summary.on_air_seconds), 'The time over which the averages are taken.'],
    ['Most at once as seen live', count(summary.live_peak_viewers),
      'Counted while it happened, with viewers who had left and were not yet noticed.'],
    ['How the peak was found', summary.peak_kind, summary.peak_note
      ?? 'settled is computed from the beginning and the end of every playback, live was counted at the time.'],
    ['Leaves', count(summary.leaves), 'How often watching ended for good.'],
    ['Changes of size or protocol', count(summary.switches), 'How often players changed to another rendition or protocol.'],
    ['Viewers with a token', count(uniques.users), 'Those of the different viewers who are known by an access token.'],
    ['Viewers by address', `about ${count(uniques.estimated)}`,
      'Estimated by address and player; a viewer who returns on another day counts again.'],
    ['Players that report', typeof coverage === 'number' ? percent(coverage) : 'none by HLS',
      'Part of the HLS viewers whose players send reports (CMCD): interruptions and the time to start are known of these.'],
    ['Waited in total', duration(summary.stalled_seconds), 'The time that players waited for video, added up.'],
    ['Not counted', left.join(', ') || 'nothing', 'Requests and sessions that are no viewers, such as crawlers, by reason.'],
  ];
}
