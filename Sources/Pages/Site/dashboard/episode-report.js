// The audience of one episode: figures, viewers over time, how long they stayed, and who they were; to print, too.

import { h, setText, show as setShown } from '../shared/element.js';
import { average, clock, count, dateTime, duration, elapsed, percent } from '../shared/format.js';
import { t } from '../texts/dashboard-texts.js';
import { APIError } from './api.js';
import { curvesChart } from './curves-chart.js';
import { downloads } from './downloads.js';
import { episodeComparison } from './episode-comparison.js';
import { loadEpisode } from './episode-data.js';
import {
  detailsOf, figuresOf, groupings, groupsOf, marksOf, nameOf, retentionCurve, retentionRows, stepOf, trustOf, withEdges,
} from './episode-figures.js';
import { table } from './figure-table.js';
import { whenPrinted } from './paper.js';
import { poll } from './poll.js';
import { among, colorOf } from './protocols.js';
import { viewersChart } from './viewers-chart.js';

const section = (title, ...children) => h('section', { class: 'card' }, h('h2', {}, title), ...children);

/**
 * A report of an episode by its id.
 *
 * @param showTitle Returns the title of the show.
 * @param other The id of an episode to compare it with; null for none.
 */
export function episodeReport({ base, name, id, other, showTitle }) {
  const title = h('h2', { class: 'report-title', tabindex: -1 }, t('report.audience'));
  const when = h('p', { class: 'soft' });
  const badge = h('span', { class: 'badge' });
  const trust = h('p', {});
  const problem = h('p', { class: 'notice', role: 'status', hidden: true });
  const print = h('button', { class: 'button', type: 'button', on: { click: () => globalThis.print() } }, t('report.print'));
  const figures = h('dl', { class: 'sentences' });
  const details = h('dl', { class: 'sentences' });
  let latest = null;
  const viewers = viewersChart(t('report.chartLabel'), () => latest.range);
  const legend = h('ul', { class: 'legend' });
  const marks = h('ol', { class: 'marks' });
  const minutes = h('div', {});
  const stayed = curvesChart(t('report.retentionLabel'),
    { unitOf: (value) => `${Math.round(value)} %`, most: 100 });
  const retention = h('div', {});
  const groups = h('div', { class: 'groups' });
  const files = h('div', {});
  const comparison = other ? episodeComparison({ base, other }) : null;
  const parts = h('div', { class: 'stack', hidden: true },
    section(t('report.figures'), figures),
    comparison?.element,
    section(t('report.chart'), legend, viewers.element, marks,
      h('details', { class: 'more' }, h('summary', {}, t('report.minutes')), minutes)),
    section(t('report.retention'), h('p', { class: 'soft' }, t('report.retentionHint')), stayed.element, retention),
    section(t('report.groups'), groups),
    h('section', { class: 'card' }, h('details', { class: 'more' },
      h('summary', {}, t('report.details')), details)),
    files);
  const element = h('article', { class: 'report stack' },
    h('section', { class: 'card' },
      h('div', { class: 'card-head' }, title, h('span', { class: 'spacer' }), badge, print),
      when, trust, problem),
    parts);

  const list = (place, entries) => place.replaceChildren(...entries.map(([label, value, hint, note]) =>
    h('div', {}, h('dt', {}, label), h('dd', { class: 'value' }, value, note ? h('span', { class: 'soft note' }, ` ${note}`) : null),
      h('dd', { class: 'soft' }, hint))));

  function draw() {
    const { episode, moments, summary, range, points } = latest;
    const live = episode.went_live_at ? Date.parse(episode.went_live_at) : null;
    const end = episode.ended_at ? Date.parse(episode.ended_at) : null;
    setText(title, t('report.titled', { show: showTitle(), episode: nameOf(episode) }));
    const time = live === null ? '' : dateTime(live, { year: 'numeric' });
    setText(when, live === null ? t('report.notLive') : end === null ? t('report.live', { time })
      : t('report.wasLive', { time, duration: duration((end - live) / 1000) }));
    const [tone, word, sentence] = trustOf(summary, end !== null);
    badge.className = `badge ${tone}`;
    setText(badge, word);
    setText(trust, sentence);
    setShown(parts, summary !== null);
    setShown(print, summary !== null);
    if (!summary) return;
    list(figures, figuresOf(summary).map(({ name: label, value, hint, note }) => [label, value, hint, note]));
    list(details, detailsOf(summary));
    legend.replaceChildren(...among(summary.by_protocol).map(({ key, name: protocol }) => {
      const dot = h('span', { class: 'dot' });
      dot.style.background = colorOf(key);
      return h('li', {}, dot, protocol);
    }));
    const all = marksOf(episode, moments, summary, range);
    viewers.update(withEdges(points, range, stepOf(range)), all);
    marks.replaceChildren(...all.map(({ at, text }) => h('li', {}, h('time', { class: 'soft' }, clock(at, true)), ` ${text}`)));
    minutes.replaceChildren(table(t('report.minutesLabel'), [t('page.time'), t('report.viewersOnAverage')],
      points.map(({ at, values }) => [clock(at), average(Object.values(values).reduce((sum, value) => sum + value, 0))])));
    drawRetention();
    groups.replaceChildren(...groupings.map(groupTable));
    comparison?.update(latest);
  }

  function drawRetention() {
    const points = latest.retention;
    setShown(stayed.element, points !== null && points[0]?.joins > 0);
    if (points === null) {
      retention.replaceChildren(h('p', {}, t('report.retentionGone')));
      return;
    }
    stayed.update([{ label: t('report.columns.stillWatching'), points: retentionCurve(points) }]);
    retention.replaceChildren(table(t('report.retention'), ['after', 'stillWatching', 'viewers', 'of'].map((column) => t(`report.columns.${column}`)),
      retentionRows(points).map(({ after_seconds: after, joins, watching, share }) =>
        [elapsed(after), percent(share), count(watching), count(joins)])));
  }

  function groupTable({ title: label, hint, of, nameOf: nameOfGroup }) {
    const rows = groupsOf(of(latest.summary), nameOfGroup).map(({ name: group, part, slice }) => {
      const bar = h('span', { class: 'share' });
      bar.style.inlineSize = `${Math.max(1, part * 100)}%`;
      return [group, h('span', { class: 'share-cell' }, h('span', { class: 'share-track', 'aria-hidden': true }, bar), percent(part)),
        count(slice.joins), average(slice.average_viewers), slice.peak_viewers === null ? '–' : count(slice.peak_viewers),
        duration(slice.watch_time_seconds)];
    });
    const columns = [t('report.group'), t('report.part'),
      ...['joins', 'average', 'peak', 'watched'].map((column) => t(`figures.names.${column}`))];
    return h('div', {}, h('h3', {}, label), h('p', { class: 'soft' }, hint),
      rows.length > 0 ? table(label, columns, rows)
        : h('p', { class: 'soft' }, t('report.nobody')));
  }

  async function load() {
    // Final figures are asked for once.
    if (latest?.summary?.settled && latest.episode.ended_at && (!comparison || comparison.isLoaded)) return;
    try {
      [latest] = await Promise.all([loadEpisode(base, id), comparison?.load()]);
      setShown(problem, false);
    } catch (error) {
      setShown(problem, true);
      setText(problem, error instanceof APIError && error.status === 404 ? t('report.missing') : error.message);
      throw error;
    }
    if (latest.episode.room_sid && files.childElementCount === 0) {
      files.append(downloads(latest.episode.room_sid, `${name}-${latest.episode.number}`));
    }
    draw();
  }

  const charts = [viewers, stayed, comparison].filter(Boolean);
  const stops = [
    poll(10, load),
    whenPrinted((isOnPaper) => {
      for (const chart of charts) chart.restyle(isOnPaper);
    }),
  ];
  return {
    element,
    focus() {
      title.focus({ preventScroll: true });
      element.scrollIntoView({ block: 'start' });
    },
    restyle() {
      for (const chart of charts) chart.restyle();
    },
    close() {
      for (const stop of stops) stop();
      for (const chart of charts) chart.close();
    },
  };
}
