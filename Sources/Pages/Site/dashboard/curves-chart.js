// Curves over the time since something began.

import { h } from '../shared/element.js';
import { elapsed } from '../shared/format.js';
import { t } from '../texts/dashboard-texts.js';
import { chartFrame, hasLibrary, options, resolved } from './chart-frame.js';

const styles = [{ color: 'var(--accent)', dash: [] }, { color: 'var(--llhls)', dash: [6, 4] }];

/**
 * A chart of one curve or two; `update` takes a list of `{ label, points }`, each point with the milliseconds `x`.
 *
 * @param unitOf Says a value in words.
 * @param most The value up to which the chart goes at least.
 */
export function curvesChart(label, { unitOf, most }) {
  if (!hasLibrary()) {
    const element = h('p', { class: 'soft' }, t('charts.noLibraryForCurves'));
    return { element, update: () => undefined, restyle: () => undefined, close: () => undefined };
  }
  let curves = [];
  const configure = () => ({
    type: 'line', data: { datasets: [] }, options: options({ labelOf: (value) => elapsed(value / 1000), unitOf, most }),
  });
  const frame = chartFrame(label, configure, (chart) => {
    const last = Math.max(60_000, ...curves.flatMap(({ points }) => points.map(({ x }) => x)));
    Object.assign(chart.options.scales.x, { min: 0, max: last });
    chart.data.datasets = curves.map(({ label: name, points }, index) => ({
      label: name, data: points, borderColor: resolved(styles[index].color), backgroundColor: resolved(styles[index].color),
      borderDash: styles[index].dash, borderWidth: 2.5, pointRadius: points.length > 1 ? 0 : 4, pointHitRadius: 12, tension: 0,
    }));
    chart.update('none');
  });
  return {
    ...frame,
    update(next) {
      curves = next;
      frame.update();
    },
  };
}

/** Names the curves of a chart by their colours. */
export function curvesLegend(labels) {
  return h('ul', { class: 'legend' }, ...labels.map((label, index) => {
    const line = h('span', { class: index === 0 ? 'line' : 'line dashed', 'aria-hidden': true });
    line.style.color = styles[index].color;
    return h('li', {}, line, label);
  }));
}
