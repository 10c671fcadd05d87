// The chart of the last three hours.

import { h } from '../shared/element.js';
import { t } from '../texts/dashboard-texts.js';
import { History } from './history.js';
import { poll } from './poll.js';
import { viewersChart } from './viewers-chart.js';

/** A panel for a room by its name; for all rooms together with null. */
export function historyPanel(room) {
  const history = new History(room);
  const chart = viewersChart();
  const element = h('section', { class: 'card history', 'aria-labelledby': 'history-title' },
    h('h2', { id: 'history-title' }, t('charts.title')), chart.element);
  const stop = poll(30, async () => {
    await history.load();
    chart.update(history.points);
  });
  let drawnAt = 0;
  return {
    element,
    update(viewership) {
      const now = Date.now();
      history.note(viewership.by.protocol, now);
      if (now - drawnAt < 2000 || document.hidden) return;
      drawnAt = now;
      chart.update(history.points);
    },
    restyle: chart.restyle,
    close() {
      stop();
      chart.close();
    },
  };
}
