// The sessions of this dashboard: who is logged in, since when, and a button that ends one.

import { h, keyed, setText } from '../shared/element.js';
import { ago } from '../shared/format.js';
import { t } from '../texts/dashboard-texts.js';
import { ask } from './api.js';
import { poll } from './poll.js';
import { perform } from './toast.js';

// In this order: Edge names Chrome too, Chrome names Safari, Android names Linux.
const browsers = [['Edg', 'Edge'], ['Firefox', 'Firefox'], ['Chrom', 'Chrome'], ['Safari', 'Safari']];
const systems = ['Windows', 'Android', 'iPhone', 'iPad', 'Mac OS', 'Linux'];

/** A browser and its system in few words; nothing for one that does not name both. */
function browserOf(agent) {
  const browser = browsers.find(([word]) => agent.includes(word))?.[1];
  const system = systems.find((word) => agent.includes(word));
  return browser && system ? t('logins.browser', { browser, system }) : '';
}

/** A panel for operators. */
export function loginsPanel({ onHealth }) {
  const list = h('ul', { class: 'outputs' });
  const element = h('section', { class: 'card', 'aria-labelledby': 'logins-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'logins-title' }, t('logins.title'))), list,
    h('p', { class: 'soft hint' }, t('logins.hint')));

  async function load() {
    const { sessions } = await ask('GET', '/dashboard/sessions');
    keyed(list, sessions, ({ id }) => id, loginRow, (row, one) => row.update(one));
  }

  function loginRow({ id, identity, own }) {
    const state = h('span', { class: 'badge' });
    const when = h('p', { class: 'soft' });
    const end = h('button', { class: 'button small', type: 'button', 'aria-label': t('logins.endNamed', { identity }), on: {
      click: () => {
        if (!confirm(t('logins.endQuestion', { identity }))) return;
        perform(end, async () => {
          await ask('DELETE', `/dashboard/sessions/${encodeURIComponent(id)}`);
          await load();
        }, t('logins.ended'));
      },
    } }, t('logins.end'));
    const row = h('li', { class: 'output' },
      h('div', { class: 'host-head' }, h('span', { class: 'name' }, identity), state, h('span', { class: 'spacer' }),
        own ? null : end), when);
    row.update = (one) => {
      state.className = `badge ${own ? 'good' : ''}`;
      setText(state, t(own ? 'logins.own' : one.may_command ? 'logins.operator' : 'logins.readOnly'));
      const times = t('logins.when', { begin: ago(one.started_at * 1000), use: ago(one.used_at * 1000) });
      setText(when, [browserOf(one.user_agent), times].filter(Boolean).join(' · '));
    };
    return row;
  }

  return { element, close: poll(5, load, onHealth) };
}
