// Who and what may use the gateway beside this page: webhooks, tokens, and logins of the dashboard.

import { h, icon } from '../shared/element.js';
import { t } from '../texts/dashboard-texts.js';
import { loginsPanel } from './logins-panel.js';
import { tokensPanel } from './tokens-panel.js';
import { webhooksPanel } from './webhooks-panel.js';

/** The view, for operators; `onHealth` is called with whether the gateway responds. */
export function accessView({ onHealth }) {
  const parts = [tokensPanel(), loginsPanel({ onHealth }), webhooksPanel()];
  const [tokens, logins, webhooks] = parts.map((part) => part.element);
  return {
    element: h('div', { class: 'administration' },
      h('div', { class: 'room-head' },
        h('a', { class: 'button plain', href: '#/', 'aria-label': t('page.allShows') }, icon('back')),
        h('h1', {}, t('access.title'))),
      h('div', { class: 'two-columns' },
        h('div', { class: 'column' }, tokens, logins), h('div', { class: 'column' }, webhooks))),
    close() {
      for (const part of parts) part.close();
    },
  };
}
