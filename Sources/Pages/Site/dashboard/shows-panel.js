// The shows of the gateway: live, upcoming, ended.

import { h, keyed, setText, show } from '../shared/element.js';
import { dateTime } from '../shared/format.js';
import { t } from '../texts/dashboard-texts.js';
import { ask } from './api.js';
import { poll } from './poll.js';

const groups = [
  { name: 'live', holds: ({ current }) => current?.state === 'live' },
  { name: 'upcoming', holds: ({ state, current }) => state === 'upcoming' && current?.state !== 'live' },
  { name: 'ended', holds: ({ state, current }) => state === 'ended' && !current },
];

/** A panel with all shows; `mayCommand` shows the button for a new one. */
export function showsPanel({ mayCommand }) {
  const lists = groups.map((group) => {
    const list = h('ul', { class: 'shows' });
    return { ...group, list, element: h('div', { hidden: true }, h('h3', {}, t(`shows.groups.${group.name}`)), list) };
  });
  const empty = h('p', { class: 'soft', hidden: true },
    t('shows.empty'));
  const element = h('section', { class: 'card', 'aria-labelledby': 'shows-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'shows-title' }, t('shows.title')), h('span', { class: 'spacer' }),
      mayCommand ? h('a', { class: 'button main', href: '#/new' }, t('shows.create')) : null),
    empty, ...lists.map((one) => one.element));
  const stop = poll(3, async () => {
    const { shows } = await ask('GET', '/v1/shows');
    show(empty, shows.length === 0);
    for (const { list, element: part, holds } of lists) {
      const members = shows.filter(holds).toSorted((a, b) => dateOf(a) - dateOf(b) || a.name.localeCompare(b.name));
      show(part, members.length > 0);
      keyed(list, members, ({ id }) => id, ({ name }) => showRow(name), (row, one) => row.update(one));
    }
  });
  return { element, close: stop };
}

const dateOf = ({ current, next }) => {
  const planned = current ? current.planned_at ?? 0 : next?.planned_at;
  return planned === undefined || planned === null ? Infinity : new Date(planned).getTime();
};

function showRow(name) {
  const title = h('span', { class: 'name' });
  const when = h('span', { class: 'soft' });
  const state = h('span', { class: 'badge' });
  const row = h('li', {}, h('a', { class: 'show-row', href: `#/show/${encodeURIComponent(name)}` }, title, when,
    h('span', { class: 'spacer' }), state));
  row.update = (one) => {
    setText(title, one.title || one.name);
    setText(when, whenOf(one));
    const [tone, words] = stateOf(one);
    state.className = `badge ${tone}`;
    setText(state, words);
  };
  return row;
}

function whenOf({ current, next, last }) {
  if (current?.went_live_at) return t('shows.since', { time: dateTime(Date.parse(current.went_live_at)) });
  const planned = current ? current.planned_at : next?.planned_at;
  if (planned) return dateTime(Date.parse(planned));
  if (current) return t('shows.open');
  if (last?.ended_at) return t('shows.endedAt', { time: dateTime(Date.parse(last.ended_at)) });
  return t(next ? 'shows.noTime' : 'shows.noEpisode');
}

/** The state of a show as a tone and a word. */
export function stateOf({ current, state }) {
  if (current?.state === 'live') return ['live', t('show.states.live')];
  if (current) return ['warn', t(current.went_live_at ? 'show.states.paused' : 'show.states.backstage')];
  return ['', t(state === 'ended' ? 'show.states.ended' : 'show.states.upcoming')];
}
