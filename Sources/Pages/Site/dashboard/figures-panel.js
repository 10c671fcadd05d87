// How many watch a room: now, at most, on average, and how final that is.

import { h, setText, show } from '../shared/element.js';
import { clock, count, duration } from '../shared/format.js';
import { askIfThere, roomPath } from './api.js';
import { poll } from './poll.js';
import { protocolBar } from './protocol-bar.js';

function figure(label, hint) {
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
  const peak = figure('Most at once', 'The most viewers at the same moment since the program began.');
  const ama = figure('On average', 'Viewers at any one moment: the time watched, divided by the time on the air.');
  const joins = figure('Joins', 'How often somebody began to watch. Who comes back within half a minute is not counted again.');
  const uniques = figure('Different viewers',
    'Each person or device once, as far as the gateway can tell them apart: there may have been fewer.');
  const watched = figure('Watched', 'The time that all viewers watched, added up.');
  const all = [peak, ama, joins, uniques, watched];
  const element = h('section', { class: 'card figures', 'aria-labelledby': 'figures-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'figures-title' }, 'Watching now'), h('span', { class: 'spacer' }),
      stale, badge),
    now, bar.element,
    h('dl', {}, ...all.map((one) => one.element)), sentence,
    h('details', { class: 'more' }, h('summary', {}, 'What these figures mean'),
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
      setText(joins.note, `${count(viewership.devices)} ${viewership.devices === 1 ? 'device' : 'devices'} now`);
      showUniques(uniques, viewership.uniques);
      showCoverage(coverage, summary?.coverage);
      setText(watched.value, duration(viewership.watch_time_seconds));
      showAverage(ama, viewership, summary, beganAt);
      showTrust(badge, viewership, summary);
      // What stands behind the badge is not for a pointer alone.
      setText(sentence, `${badge.title}.`);
      show(stale, viewership.stale_ms > 3000);
      setText(stale, `${Math.round(viewership.stale_ms / 1000)} s old`);
    },
    close: stop,
  };
}

/** The salt of the estimate changes daily to prevent tracking, so sums over days count some viewers twice. */
function showUniques(uniques, { devices, estimated, approximate } = { devices: 0, estimated: 0 }) {
  setText(uniques.value, `${approximate ? 'about ' : ''}${count(devices)}`);
  setText(uniques.note, `${count(estimated)} by address`);
  uniques.note.title = 'An estimate by address and player; a viewer who returns on another day counts again';
}

/** Of whose playback its own player tells; the others are known by what they ask for alone. */
function showCoverage(line, coverage) {
  const isKnown = typeof coverage === 'number';
  show(line, isKnown);
  if (!isKnown) return;
  setText(line, `${Math.floor(coverage * 100)} % of the HLS viewers have players that send reports (CMCD): interruptions, pauses and `
    + 'the time to start are known of these alone.');
}

/** A broadcast that is over has a settled peak; until then the live one counts. */
function showPeak(peak, viewership, summary) {
  const isSettled = summary?.settled === true;
  const at = isSettled ? summary.peak_at : viewership.peak_at;
  setText(peak.value, count(isSettled ? summary.peak_viewers : viewership.peak_concurrent_viewers));
  setText(peak.note, at ? `at ${clock(Date.parse(at))}` : '');
}

function showAverage(ama, viewership, summary, beganAt) {
  const settled = summary?.average_minute_audience;
  if (typeof settled === 'number') {
    setText(ama.value, settled < 100 ? settled.toFixed(1) : count(settled));
    setText(ama.note, '');
    return;
  }
  // Of a gateway that does not settle its figures: watched time over the time that was seen.
  const seconds = beganAt === null ? 0 : (Date.parse(viewership.as_of) - beganAt) / 1000;
  const average = seconds > 60 ? viewership.watch_time_seconds / seconds : null;
  setText(ama.value, average === null ? '–' : average.toFixed(1));
  setText(ama.note, average === null ? '' : 'so far');
}

/** Live figures hold players that are gone and not yet timed out; settled ones do not. */
export function showTrust(badge, viewership, summary) {
  const state = viewership.recovering ? 'recovering' : summary?.settled === true ? 'final' : 'provisional';
  const titles = {
    recovering: 'The gateway was restarted, and players are coming back: the figures may be too low for a minute',
    final: 'The broadcast is over, and these figures do not change any more',
    provisional: 'Provisional while the program is on: a viewer by HLS who has just left still counts for up to half a minute',
  };
  setText(badge, state);
  badge.className = `badge ${{ recovering: 'warn', final: 'good', provisional: '' }[state]}`;
  badge.title = titles[state];
}
