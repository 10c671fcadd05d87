// What the figures of an episode say. Pure functions: the same answers of the gateway make the same words.

import { average, clock, count, decimal, duration, percent } from '../shared/format.js';
import { language } from '../shared/texts.js';
import { t, wordOf } from '../texts/dashboard-texts.js';
import { protocols } from './protocols.js';

const minute = 60_000;
/** Seconds after which a table of retention has a line. */
const milestones = [30, ...[1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 360, 480, 720].map((minutes) => minutes * 60)];
/** Milliseconds before it went live from which the chart of an episode begins at most. */
const lead = 10 * minute;

/** The name of an episode. */
export const nameOf = ({ title, number }) => title || t('episodes.numbered', { number });

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
  const all = moments.map(({ at, kind, name }) => ({ at: Date.parse(at), text: wordOf('report.happenings', kind, '', {
    name: kind === 'layout_changed' ? wordOf('report.layouts', name, name.toLowerCase()) : name,
  }) }));
  // A gateway that has recorded no moments knows these two.
  if (episode.went_live_at && !moments.some(({ kind }) => kind === 'went_live')) {
    all.push({ at: Date.parse(episode.went_live_at), text: t('report.happenings.went_live') });
  }
  if (episode.ended_at) all.push({ at: Date.parse(episode.ended_at), text: t('report.happenings.ended') });
  if (summary?.peak_at && summary.peak_viewers > 0) {
    all.push({ at: Date.parse(summary.peak_at), text: t('report.happenings.peak', { number: count(summary.peak_viewers) }) });
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
  { title: t('report.groupings.protocol'), hint: t('report.groupings.protocolHint'), of: (summary) => summary.by_protocol,
    nameOf: (key) => protocols.find((one) => one.key === key)?.name ?? key },
  { title: t('report.groupings.region'), hint: t('report.groupings.regionHint'), of: (summary) => summary.by_region,
    nameOf: regionName },
  { title: t('report.groupings.rendition'), hint: t('report.groupings.renditionHint'), of: (summary) => summary.by_rendition,
    nameOf: (key) => key || t('report.fullSize') },
  { title: t('report.groupings.client'), hint: t('report.groupings.clientHint'), of: (summary) => summary.by_client,
    nameOf: (key) => wordOf('report.clients', key) },
];

function regionName(code) {
  if (!code) return t('report.clients.unknown');
  try {
    return new Intl.DisplayNames([language], { type: 'region' }).of(code.slice(0, 2)) + code.slice(2);
  } catch {
    return code;
  }
}

function secondsOf(startup) {
  if (typeof startup !== 'number') return t('figures.unknown');
  const least = 0.1;
  return startup < least ? t('figures.under', { time: `${decimal(least, 1)} s` }) : `${decimal(startup, 1)} s`;
}

/** The figures of a summary: a name, its value, a note beside it, and what it means. */
export function figuresOf(summary) {
  const { uniques, peak_at: peakAt, average_startup_seconds: startup } = summary;
  return [
    { name: t('figures.names.joins'), value: count(summary.joins), hint: t('figures.hints.joins') },
    { name: t('figures.names.uniques'), value: aboutOr(uniques.approximate, count(uniques.devices)), hint: t('figures.hints.uniques') },
    { name: t('figures.names.peak'), value: count(summary.peak_viewers),
      note: peakAt ? t('common.at', { time: clock(Date.parse(peakAt)) }) : '', hint: t('figures.hints.peak') },
    { name: t('figures.names.average'), value: average(summary.average_viewers), hint: t('figures.hints.average') },
    { name: t('report.watchedInTotal'), value: duration(summary.watch_hours * 3600), hint: t('figures.hints.watched') },
    { name: t('figures.names.perJoin'), value: duration(summary.average_watch_seconds), hint: t('figures.hints.perJoin') },
    { name: t('figures.names.startup'), value: secondsOf(startup), hint: t('figures.hints.startup') },
    { name: t('figures.names.interrupted'), value: summary.watch_hours > 0 ? percent(summary.rebuffer_ratio) : '–',
      hint: t('figures.hints.interrupted') },
  ];
}

/** A number, which may be approximate. */
export const aboutOr = (isApproximate, number) => (isApproximate ? t('common.about', { number }) : number);

/** Whether figures are final, as a tone, a word and a sentence that says why. */
export function trustOf(summary, isOver) {
  if (!summary) return ['', t('figures.trust.none'), t('report.none')];
  if (!summary.settled) {
    return ['warn', t('figures.trust.provisional'), t(isOver ? 'report.provisionalOver' : 'report.provisional')];
  }
  return ['good', t('figures.trust.final'), t('report.final')];
}

/** Figures that only those who run the gateway need, each with what it means. */
export function detailsOf(summary) {
  const { uniques, coverage, excluded } = summary;
  const left = Object.entries(excluded).filter(([, number]) => number > 0)
    .map(([reason, number]) => `${wordOf('report.exclusions', reason, reason.replaceAll('_', ' '))} ${count(number)}`);
  return [
    [t('report.minuteAudience'), average(summary.average_minute_audience), t('report.minuteAudienceHint')],
    [t('report.onAir'), duration(summary.on_air_seconds), t('report.onAirHint')],
    [t('report.livePeak'), count(summary.live_peak_viewers), t('report.livePeakHint')],
    [t('report.peakKind'), wordOf('report.peakKinds', summary.peak_kind), summary.peak_note ?? t('report.peakKindHint')],
    [t('report.leaves'), count(summary.leaves), t('report.leavesHint')],
    [t('report.switches'), count(summary.switches), t('report.switchesHint')],
    [t('report.users'), count(uniques.users), t('report.usersHint')],
    [t('report.estimated'), aboutOr(true, count(uniques.estimated)), t('report.estimatedHint')],
    [t('report.coverage'), typeof coverage === 'number' ? percent(coverage) : t('report.noCoverage'), t('report.coverageHint')],
    [t('report.stalled'), duration(summary.stalled_seconds), t('report.stalledHint')],
    [t('report.excluded'), left.join(', ') || t('report.nothing'), t('report.excludedHint')],
  ];
}
