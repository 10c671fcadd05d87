// The audience of a show: of the episode that is open as it is now, and of each one that can be chosen.

import { h, show as setShown } from '../shared/element.js';
import { t } from '../texts/dashboard-texts.js';
import { episodeReport } from './episode-report.js';

/**
 * The panel of a show; `live` is where the live figures are put.
 *
 * @param episodes The table of episodes to choose from.
 */
export function audiencePanel({ base, name, episodes }) {
  const path = `#/show/${encodeURIComponent(name)}/audience`;
  const live = h('div', { class: 'stack' });
  const report = h('div', { class: 'stack' });
  const whole = h('a', { class: 'button' }, t('episodes.report'));
  const back = h('a', { class: 'button', href: path }, t('episodes.all'));
  const now = h('div', { class: 'stack' }, h('div', { class: 'buttons' }, whole), live);
  const element = h('div', { class: 'stack' }, now, report, episodes.element);
  let chosen = null;
  let title = name;
  let current = null;
  let view = null;

  const draw = () => {
    setShown(now, chosen === null && current !== null);
    setShown(report, chosen !== null);
    if (current) whole.setAttribute('href', `${path}/${current.id}`);
  };
  draw();
  return {
    element,
    live,
    /** Shows an episode by its id, compared with another one or not; the live figures without an id. */
    select(id = null, other = null) {
      const wanted = id ? `${id}/${other ?? ''}` : null;
      if (wanted === chosen) return;
      const isFirst = chosen === null && !element.isConnected;
      chosen = wanted;
      view?.close();
      view = id ? episodeReport({ base, name, id, other, showTitle: () => title }) : null;
      report.replaceChildren(...(view ? [h('div', { class: 'buttons' }, back), view.element] : []));
      episodes.choose(id, other);
      draw();
      if (view && !isFirst) view.focus();
    },
    update(show) {
      title = show.title || name;
      current = show.current;
      draw();
    },
    restyle: () => view?.restyle(),
    close: () => view?.close(),
  };
}
