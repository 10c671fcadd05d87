// Viewers over time, stacked by protocol, drawn by the chart library; a table where there is none.

import { h, keyed, setText } from '../shared/element.js';
import { clock, count } from '../shared/format.js';
import { t } from '../texts/dashboard-texts.js';
import { chartFrame, hasLibrary, options, resolved } from './chart-frame.js';
import { colorOf, protocols } from './protocols.js';
import { span } from './history.js';

/** Milliseconds shown at least. */
const shortest = 5 * 60 * 1000;
/** Pixels of the number of a mark, and of the rows above the chart in which close ones stand. */
const mark = { size: 18, rows: 3 };

const faded = (color) => color.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.55)');

/**
 * A chart; `update` takes the points of a history.
 *
 * @param range Returns the moments at which the chart begins and ends; the last hours when left out.
 */
export function viewersChart(label = t('charts.label'), range = lastHours) {
  if (!hasLibrary()) return tableInstead();
  let latest = [];
  let marks = [];
  const frame = chartFrame(label, () => configuration(() => marks), (chart) => {
    const { begin, end } = range(latest);
    const shown = latest.filter(({ at }) => at >= begin - 120_000 && at <= end + 120_000);
    const isUsed = (key) => shown.some(({ values }) => values[key] > 0);
    chart.options.scales.x.min = begin;
    chart.options.scales.x.max = end;
    chart.options.layout.padding = { top: mark.size * Math.min(mark.rows, marks.length), right: marks.length > 0 ? mark.size / 2 : 0 };
    chart.data.datasets.forEach((set) => {
      set.data = shown.map(({ at, values }) => ({ x: at, y: values[set.key] }));
      set.hidden = !isUsed(set.key);
    });
    chart.update('none');
  });
  return {
    ...frame,
    /** @param moments In order, each with the `number` under which it is told beside the chart. */
    update(points, moments = []) {
      latest = points;
      marks = moments;
      frame.update();
    },
  };
}

function lastHours(points) {
  const end = Date.now();
  return { begin: Math.max(end - span, Math.min(points[0]?.at ?? end, end - shortest)), end };
}

function configuration(marks) {
  const common = options({ stacked: true, unitOf: count, most: 4 });
  common.plugins.tooltip.filter = (item) => item.parsed.y > 0;
  common.layout = { padding: 0 };
  const [ink, card] = ['var(--ink)', 'var(--card)'].map(resolved);
  return {
    type: 'line',
    data: {
      datasets: protocols.map(({ key, name }) => {
        const color = resolved(colorOf(key));
        return {
          key, label: name, data: [], fill: 'stack', borderColor: color, backgroundColor: faded(color), borderWidth: 1.5,
          pointRadius: 0, pointHitRadius: 12, tension: 0,
        };
      }),
    },
    options: common,
    plugins: [{ id: 'marks', afterDatasetsDraw: (chart) => drawMarks(chart, marks(), ink, card) }],
  };
}

/** A line for each moment, with its number above; the numbers of close ones stand in rows. */
function drawMarks({ ctx: context, chartArea: area, scales }, marks, ink, card) {
  const ends = Array(mark.rows).fill(-Infinity);
  context.save();
  context.font = '600 11px system-ui, sans-serif';
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  for (const { at, number } of marks) {
    const x = scales.x.getPixelForValue(at);
    if (x < area.left - 1 || x > area.right + 1) continue;
    const free = ends.findIndex((end) => end < x - mark.size);
    const row = free < 0 ? ends.indexOf(Math.min(...ends)) : free;
    ends[row] = x;
    const y = area.top - mark.size * (row + 0.5);
    context.strokeStyle = ink;
    context.lineWidth = 1;
    context.setLineDash([3, 3]);
    context.beginPath();
    context.moveTo(x, y + mark.size / 2);
    context.lineTo(x, area.bottom);
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = ink;
    context.beginPath();
    context.arc(x, y, mark.size / 2 - 1, 0, 2 * Math.PI);
    context.fill();
    context.fillStyle = card;
    context.fillText(String(number), x, y);
  }
  context.restore();
}

/** The last minutes in figures, for a gateway whose machine has no chart library. */
function tableInstead() {
  const rows = h('tbody');
  const element = h('div', { class: 'chart' },
    h('p', { class: 'soft' }, t('charts.noLibrary')),
    h('table', {}, h('thead', {}, h('tr', {}, h('th', {}, t('page.time')),
      ...protocols.map(({ name }) => h('th', {}, name)))), rows));
  return {
    element,
    update(points) {
      keyed(rows, points.slice(-12).reverse(), ({ at }) => at,
        ({ at }) => h('tr', {}, h('td', {}, clock(at, true)), ...protocols.map(() => h('td'))),
        (row, { values }) => protocols.forEach(({ key }, index) => {
          setText(row.children[index + 1], count(values[key]));
        }));
    },
    restyle: () => undefined,
    close: () => undefined,
  };
}
