// A chart of the chart library: drawn once it is on the page, and again in the colours of another theme, or on paper.

import { h } from '../shared/element.js';
import { clock } from '../shared/format.js';

/** Whether the gateway's machine has the chart library. */
export const hasLibrary = () => Boolean(globalThis.Chart);

/** Pixels of a chart on paper: the width of a page with its margins. */
const paper = { width: 680, height: 230 };
const minute = 60_000;
/** Minutes between two ticks of an axis. */
const steps = [1 / 6, 1 / 2, 1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 1440];

/** A colour as the present theme has it: variables are of no use to a canvas. */
export function resolved(color) {
  const probe = h('span');
  probe.style.color = color;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

/** Moments between two others at which an axis is marked: whole steps of the clock, a handful of them. */
export function axisSteps({ min, max }) {
  const step = minute * (steps.find((minutes) => (max - min) / (minutes * minute) <= 7) ?? Math.ceil((max - min) / (7 * minute)));
  const first = Math.ceil(min / step) * step;
  return Array.from({ length: Math.floor((max - first) / step) + 1 }, (_, index) => ({ value: first + index * step }));
}

/** The options that all charts have. */
export function options({ stacked = false, labelOf = clock, unitOf, most }) {
  const [ink, text, line, card] = ['var(--soft)', 'var(--ink)', 'var(--line)', 'var(--card)'].map(resolved);
  const font = { family: getComputedStyle(document.body).fontFamily, size: 12 };
  return {
    animation: false, responsive: true, maintainAspectRatio: false, parsing: false, normalized: true,
    interaction: { mode: 'index', intersect: false },
    scales: {
      x: {
        type: 'linear', grid: { color: line, drawTicks: false }, border: { display: false },
        afterBuildTicks: (axis) => { axis.ticks = axisSteps(axis); },
        ticks: { color: ink, font, maxRotation: 0, autoSkip: false, callback: (value) => labelOf(value, value % minute !== 0) },
      },
      y: {
        stacked, beginAtZero: true, suggestedMax: most, grid: { color: line, drawBorder: false },
        ticks: { color: ink, font, precision: 0, maxTicksLimit: 6, callback: (value) => unitOf(value) },
      },
    },
    plugins: {
      legend: { display: false },
      tooltip: {
        backgroundColor: card, titleColor: text, bodyColor: text, borderColor: line, borderWidth: 1, titleFont: font,
        bodyFont: font, padding: 10,
        callbacks: {
          title: (items) => (items.length > 0 ? labelOf(items[0].parsed.x, true) : ''),
          label: (item) => ` ${item.dataset.label}: ${unitOf(item.parsed.y)}`,
        },
      },
    },
  };
}

/**
 * Makes a chart.
 *
 * @param label What a screen reader says.
 * @param configure Makes the library's configuration.
 * @param draw Puts the present data into the library's chart.
 */
export function chartFrame(label, configure, draw) {
  const canvas = h('canvas', { role: 'img', 'aria-label': label });
  const element = h('div', { class: 'chart' }, canvas);
  let chart = null;
  const build = (isOnPaper = false) => {
    chart?.destroy();
    const configuration = configure();
    if (isOnPaper) configuration.options.devicePixelRatio = 3;
    chart = new globalThis.Chart(canvas, configuration);
    if (isOnPaper) chart.resize(paper.width, paper.height);
    draw(chart);
  };
  return {
    element,
    update() {
      if (!chart && element.isConnected) build();
      else if (chart) draw(chart);
    },
    /** Draws in the colours of the present theme; sharp and as wide as a page `isOnPaper`. */
    restyle(isOnPaper) {
      if (chart) build(isOnPaper);
    },
    close() {
      chart?.destroy();
      chart = null;
    },
  };
}
