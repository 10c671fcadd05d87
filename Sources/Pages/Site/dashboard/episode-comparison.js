// Two episodes of a show beside each other.

import { h, setText, show as setShown } from '../shared/element.js';
import { count, elapsed, percent } from '../shared/format.js';
import { t } from '../texts/dashboard-texts.js';
import { curvesChart, curvesLegend } from './curves-chart.js';
import { loadEpisode } from './episode-data.js';
import { figuresOf, nameOf, retentionRows, sinceLive, stepOf, withEdges } from './episode-figures.js';
import { table } from './figure-table.js';

/** A panel that compares an episode with another one by its id. */
export function episodeComparison({ base, other }) {
  const chart = curvesChart(t('report.comparedLabel'), { unitOf: (value) => count(value), most: 4 });
  const legend = h('div', {});
  const rows = h('div', {});
  const note = h('p', { class: 'soft' });
  const element = h('section', { class: 'card comparison', hidden: true }, h('h2', {}, t('report.compared')), note, legend,
    chart.element, rows);
  let second = null;
  return {
    element,
    get isLoaded() { return Boolean(second?.summary?.settled && second.episode.ended_at); },
    async load() { second = await loadEpisode(base, other); },
    update(first) {
      const both = [first, second];
      setShown(element, second !== null);
      const names = both.map(({ episode }) => nameOf(episode));
      if (!second.summary) {
        setText(note, t('report.noneOf', { episode: names[1] }));
        return;
      }
      setText(note, t('report.comparedHint'));
      legend.replaceChildren(curvesLegend(names));
      chart.update(both.map(({ points, range }, index) =>
        ({ label: names[index], points: sinceLive(withEdges(points, range, stepOf(range)), range.live) })));
      rows.replaceChildren(table(t('report.comparedTable'), ['', ...names], comparedRows(first, second)));
    },
    restyle: chart.restyle,
    close: chart.close,
  };
}

/** The figures of two episodes, line by line. */
export function comparedRows(...episodes) {
  const lists = episodes.map(({ summary }) => figuresOf(summary));
  const stayed = episodes.map(({ retention }) => new Map(retentionRows(retention ?? [])
    .map(({ after_seconds: after, share }) => [after, percent(share)])));
  const times = [...stayed[0].keys()].filter((after) => stayed[1].has(after));
  return [
    ...lists[0].map(({ name, value }, index) => [name, value, lists[1][index].value]),
    ...times.map((after) => [t('report.stillWatchingAfter', { time: elapsed(after) }), ...stayed.map((shares) => shares.get(after))]),
  ];
}
