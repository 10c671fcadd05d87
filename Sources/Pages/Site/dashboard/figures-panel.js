// How many watch a room: now, at most, on average, and how final that is.

import { h, setText, show } from '../shared/element.js';
import { average, clock, count, duration, percent } from '../shared/format.js';
import { t } from '../texts/dashboard-texts.js';
import { askIfThere, roomPath } from './api.js';
import { aboutOr } from './episode-figures.js';
import { poll } from './poll.js';
import { protocolBar } from './protocol-bar.js';

function figure(name) {
  const [label, hint] = [t(`figures.names.${name}`), t(`figures.hints.${name}`)];
  const value = h('dd', {}, '–');
  const note = h('dd', { class: 'soft note' });
  return { label, hint, value, note, element: h('div', { class: 'figure', title: hint }, h('dt', {}, label), value, note) };
}

/** A panel for a room. */
export function figuresPanel(room) {
  const now = h('strong', { class: 'now' }, '–');
  const badge = h('span', { class: 'badge' });
  const stale = h('span', { class: 'badge warn', hidden: true });
  const coverage = h('p', { class: 'soft', hidden: true });
  const bar = protocolBar();
  const sentence = h('p', { class: 'soft hint' });
  const all = ['peak', 'average', 'joins', 'uniques', 'watched'].map(figure);
  const [peak, ama, joins, uniques, watched] = all;
  const element = h('section', { class: 'card figures', 'aria-labelledby': 'figures-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'figures-title' }, t('overview.watchingNow')), h('span', { class: 'spacer' }),
      stale, badge),
    now, bar.element,
    h('dl', {}, ...all.map((one) => one.element)), sentence,
    h('details', { class: 'more' }, h('summary', {}, t('figures.meanings')),
      h('ul', { class: 'meanings' }, ...all.map(({ label, hint }) => h('li', {}, h('b', {}, label), ` – ${hint}`))), coverage));

  let summary = null;
  let beganAt = null;
  const stop = poll(15, async () => {
    summary = await askIfThere(roomPath(room, '/viewership/summary'));
  });
  return {
    element,
    /** Since when the program has been on air, in milliseconds since 1970; null while it is not. */
    setBegin(at) {
      beganAt = at;
    },
    update(viewership) {
      setText(now, count(viewership.concurrent_viewers));
      bar.update(viewership.by.protocol);
      showPeak(peak, viewership, summary);
      setText(joins.value, count(viewership.joins));
      setText(joins.note, t('figures.devices', { count: viewership.devices }));
      showUniques(uniques, viewership.uniques);
      showCoverage(coverage, summary?.coverage);
      setText(watched.value, duration(viewership.watch_time_seconds));
      showAverage(ama, viewership, summary, beganAt);
      showTrust(badge, viewership, summary);
      // What stands behind the badge is not for a pointer alone.
      setText(sentence, `${badge.title}.`);
      show(stale, viewership.stale_ms > 3000);
      setText(stale, t('figures.old', { seconds: Math.round(viewership.stale_ms / 1000) }));
    },
    close: stop,
  };
}

/** The salt of the estimate changes daily to prevent tracking, so sums over days count some viewers twice. */
function showUniques(uniques, { devices, estimated, approximate } = { devices: 0, estimated: 0 }) {
  setText(uniques.value, aboutOr(approximate, count(devices)));
  setText(uniques.note, t('figures.byAddress', { number: count(estimated) }));
  uniques.note.title = t('figures.byAddressHint');
}

/** Of whose playback its own player tells; the others are known by what they ask for alone. */
function showCoverage(line, coverage) {
  const isKnown = typeof coverage === 'number';
  show(line, isKnown);
  if (!isKnown) return;
  setText(line, t('figures.coverage', { part: percent(Math.floor(coverage * 100) / 100) }));
}

/** A broadcast that is over has a settled peak; until then the live one counts. */
function showPeak(peak, viewership, summary) {
  const isSettled = summary?.settled === true;
  const at = isSettled ? summary.peak_at : viewership.peak_at;
  setText(peak.value, count(isSettled ? summary.peak_viewers : viewership.peak_concurrent_viewers));
  setText(peak.note, at ? t('common.at', { time: clock(Date.parse(at)) }) : '');
}

function showAverage(ama, viewership, summary, beganAt) {
  const settled = summary?.average_minute_audience;
  if (typeof settled === 'number') {
    setText(ama.value, average(settled));
    setText(ama.note, '');
    return;
  }
  // Of a gateway that does not settle its figures: watched time over the time that was seen.
  const seconds = beganAt === null ? 0 : (Date.parse(viewership.as_of) - beganAt) / 1000;
  const sofar = seconds > 60 ? viewership.watch_time_seconds / seconds : null;
  setText(ama.value, sofar === null ? '–' : average(sofar));
  setText(ama.note, sofar === null ? '' : t('figures.soFar'));
}

/** Live figures hold players that are gone and not yet timed out; settled ones do not. */
export function showTrust(badge, viewership, summary) {
  const state = viewership.recovering ? 'recovering' : summary?.settled === true ? 'final' : 'provisional';
  setText(badge, t(`figures.trust.${state}`));
  badge.className = `badge ${{ recovering: 'warn', final: 'good', provisional: '' }[state]}`;
  badge.title = t(`figures.trustHint.${state}`);
}
