// How viewers divide among protocols: a bar of parts, and its legend.

import { h, keyed, setText } from '../shared/element.js';
import { count } from '../shared/format.js';
import { t } from '../texts/dashboard-texts.js';
import { among, colorOf } from './protocols.js';

/** A bar, with a legend unless it is a `small` one. */
export function protocolBar({ small = false } = {}) {
  const bar = h('div', { class: 'parts', role: 'img' });
  const legend = h('ul', { class: 'legend' });
  const element = h('div', { class: 'protocol-bar' }, bar, small ? null : legend);
  return {
    element,
    update(byProtocol) {
      const present = among(byProtocol).map((one) => ({ ...one, viewers: byProtocol[one.key] ?? 0 }));
      const total = present.reduce((sum, { viewers }) => sum + viewers, 0);
      bar.setAttribute('aria-label', present.map(({ name, viewers }) => `${name}: ${viewers}`).join(', '));
      keyed(bar, present.filter(({ viewers }) => viewers > 0), ({ key }) => key,
        () => h('span', { class: 'part' }),
        (part, { key, name, viewers }) => {
          part.style.flexGrow = viewers;
          part.style.background = colorOf(key);
          part.title = t('charts.part', { name, viewers: count(viewers), total: count(total) });
        });
      if (small) return;
      keyed(legend, present, ({ key }) => key,
        ({ key, name }) => {
          const dot = h('span', { class: 'dot' });
          dot.style.background = colorOf(key);
          return h('li', {}, dot, h('span', { class: 'soft' }, name), h('b', { class: 'number' }));
        },
        (item, { viewers }) => setText(item.querySelector('.number'), count(viewers)));
    },
  };
}
