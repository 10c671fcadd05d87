// Viewers over time, stacked by protocol, drawn by the chart library; a table where there is none.

import { h, keyed, setText } from '../shared/element.js';
import { clock, count } from '../shared/format.js';
import { colorOf, protocols } from './protocols.js';
import { span } from './history.js';

/** Milliseconds shown at least. */
const shortest = 5 * 60 * 1000;

/** A colour as the present theme has it: variables are of no use to a canvas. */
function resolved(color) {
  const probe = h('span');
  probe.style.color = color;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

const faded = (color) => color.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.55)');

/** Moments between two others at which an axis is marked: whole steps of the clock, a handful of them. */
function marks({ min, max }) {
  const minute = 60_000;
  const step = [1, 2, 5, 10, 15, 30, 60].find((minutes) => (max - min) / (minutes * minute) <= 7) * minute;
  const first = Math.ceil(min / step) * step;
  return Array.from({ length: Math.floor((max - first) / step) + 1 }, (_, index) => ({ value: first + index * step }));
}

/** A chart; `update` takes the points of a history. */
export function viewersChart() {
  const canvas = h('canvas', { role: 'img', 'aria-label': 'Viewers by protocol over the last hours' });
  const element = h('div', { class: 'chart' });
  if (!globalThis.Chart) return tableInstead(element);
  element.append(canvas);
  let chart = null;
  let latest = [];

  const build = () => {
    chart?.destroy();
    chart = new globalThis.Chart(canvas, configuration());
    draw();
  };
  const draw = () => {
    const now = Date.now();
    const begin = Math.max(now - span, Math.min(latest[0]?.at ?? now, now - shortest));
    const shown = latest.filter(({ at }) => at >= begin - 120_000);
    const isUsed = (key) => shown.some(({ values }) => values[key] > 0);
    chart.options.scales.x.min = begin;
    chart.options.scales.x.max = now;
    chart.data.datasets.forEach((set) => {
      set.data = shown.map(({ at, values }) => ({ x: at, y: values[set.key] }));
      set.hidden = !isUsed(set.key);
    });
    chart.update('none');
  };
  return {
    element,
    update(points) {
      latest = points;
      if (!chart && element.isConnected) build();
      else if (chart) draw();
    },
    restyle: () => { if (chart) build(); },
    close: () => chart?.destroy(),
  };
}

function configuration() {
  const [ink, line, card] = ['var(--soft)', 'var(--line)', 'var(--card)'].map(resolved);
  const font = { family: getComputedStyle(document.body).fontFamily, size: 12 };
  return {
    type: 'line',
    data: {
      datasets: protocols.map(({ key, name }) => {
        const color = resolved(colorOf(key));
        return {
          key, label: name, data: [], fill: 'stack', borderColor: color, backgroundColor: faded(color), borderWidth: 1.5,
          pointRadius: 0, pointHitRadius: 12, tension: 0.2,
        };
      }),
    },
    options: {
      animation: false, responsive: true, maintainAspectRatio: false, parsing: false, normalized: true,
      interaction: { mode: 'index', intersect: false },
      scales: {
        x: {
          type: 'linear', grid: { color: line, drawTicks: false }, border: { display: false },
          afterBuildTicks: (axis) => { axis.ticks = marks(axis); },
          ticks: { color: ink, font, maxRotation: 0, autoSkip: false, callback: (value) => clock(value) },
        },
        y: {
          stacked: true, beginAtZero: true, suggestedMax: 4, grid: { color: line, drawBorder: false },
          ticks: { color: ink, font, precision: 0, maxTicksLimit: 6, callback: (value) => count(value) },
        },
      },
      plugins: {
        legend: { display: false },
        tooltip: {
          backgroundColor: card, titleColor: resolved('var(--ink)'), bodyColor: resolved('var(--ink)'),
          borderColor: line, borderWidth: 1, titleFont: font, bodyFont: font, padding: 10,
          filter: (item) => item.parsed.y > 0,
          callbacks: {
            title: (items) => (items.length > 0 ? clock(items[0].parsed.x, true) : ''),
            label: (item) => ` ${item.dataset.label}: ${count(item.parsed.y)}`,
          },
        },
      },
    },
  };
}

/** The last minutes in figures, for a gateway whose machine has no chart library. */
function tableInstead(element) {
  const rows = h('tbody');
  element.append(h('p', { class: 'soft' }, 'The chart library is not installed; these are the figures.'),
    h('table', {}, h('thead', {}, h('tr', {}, h('th', {}, 'Time'),
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
