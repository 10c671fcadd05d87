// The episodes of a show: those to come, and what there is to look back on.

import { h, keyed, setText, show as setShown } from '../shared/element.js';
import { count, duration } from '../shared/format.js';
import { dateTime } from '../shared/texts.js';
import { ask, askIfThere } from './api.js';
import { perform } from './toast.js';

const reasons = {
  ended: 'ended by an operator', idle: 'ended because no host was connected', missed: 'nobody opened it',
  lost: 'its room was lost',
};

/** Panels for a show: `element` with its ended episodes, `planning` with those to come. */
export function episodesPanel({ base, mayCommand }) {
  const body = h('tbody', {});
  const none = h('p', { class: 'soft' }, 'No episode has ended yet.');
  const table = h('table', { class: 'table', hidden: true },
    h('thead', {}, h('tr', {}, ...['Episode', 'Live', 'Duration', 'Viewers', 'Most at once', 'Watched', 'End']
      .map((label) => h('th', { scope: 'col' }, label)))), body);
  const element = h('section', { class: 'card', 'aria-labelledby': 'past-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'past-title' }, 'Past episodes')), none,
    h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Past episodes' }, table));

  const upcoming = h('ul', { class: 'shows' });
  const empty = h('p', { class: 'soft' }, 'No episode is planned.');
  const title = h('input', { class: 'field', name: 'title', maxlength: 200, autocomplete: 'off' });
  const time = h('input', { class: 'field', name: 'time', type: 'datetime-local' });
  const button = h('button', { class: 'button', type: 'submit' }, 'Plan episode');
  const form = h('form', { class: 'plan', on: { submit: (event) => {
    event.preventDefault();
    perform(button, async () => {
      const episode = { title: title.value };
      if (time.value) episode.planned_at = new Date(time.value).toISOString();
      await ask('POST', `${base}/episodes`, episode);
      form.reset();
      await load();
    });
  } } },
  h('label', { class: 'choice' }, h('span', { class: 'soft' }, 'Title'), title),
  h('label', { class: 'choice' }, h('span', { class: 'soft' }, 'Start'), time), button);
  const planning = h('section', { class: 'card', 'aria-labelledby': 'planned-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'planned-title' }, 'Planned episodes')), empty, upcoming,
    mayCommand ? form : null);

  const summaries = new Map();
  const unsettled = new Set();
  let known = '';

  async function load() {
    const { episodes } = await ask('GET', `${base}/episodes`);
    const planned = episodes.filter(({ state }) => state === 'planned');
    setShown(empty, planned.length === 0);
    keyed(upcoming, planned, ({ id }) => id, ({ id }) => plannedRow(id), (row, episode) => row.update(episode));
    const past = episodes.filter(({ state }) => state === 'ended').toReversed().slice(0, 50);
    setShown(none, past.length === 0);
    setShown(table, past.length > 0);
    for (const { id, room_sid: sid } of past) {
      if (!summaries.has(id)) {
        const summary = sid ? await askIfThere(`/v1/rooms/${sid}/viewership/summary`) : null;
        summaries.set(id, summary);
        // Figures that are not final are asked for again.
        if (sid && !summary?.settled) unsettled.add(id);
      }
    }
    keyed(body, past, ({ id }) => id, () => h('tr', {}), (row, episode) => {
      const summary = summaries.get(episode.id);
      const live = episode.went_live_at ? Date.parse(episode.went_live_at) : null;
      row.replaceChildren(
        h('th', { scope: 'row' }, episode.title || `Episode ${episode.number}`),
        ...[
          live ? dateTime(live) : '–',
          live ? duration((Date.parse(episode.ended_at) - live) / 1000) : '–',
          summary ? count(summary.joins) : '–',
          summary ? count(summary.peak_viewers) : '–',
          summary ? `${summary.watch_hours.toFixed(1)} h` : '–',
          reasons[episode.end_reason] ?? '',
        ].map((text) => h('td', {}, text)));
    });
  }

  function plannedRow(id) {
    const name = h('span', { class: 'name' });
    const when = h('span', { class: 'soft' });
    const removal = h('button', { class: 'button small', type: 'button', on: {
      click: () => perform(removal, async () => {
        await ask('DELETE', `${base}/episodes/${id}`);
        await load();
      }),
    } }, 'Cancel');
    const row = h('li', { class: 'show-row' }, name, when, h('span', { class: 'spacer' }), mayCommand ? removal : null);
    row.update = (episode) => {
      setText(name, episode.title || `Episode ${episode.number}`);
      setText(when, episode.planned_at ? dateTime(Date.parse(episode.planned_at)) : 'by hand');
    };
    return row;
  }

  return {
    element,
    planning,
    update(show) {
      // Asked for when something has changed only.
      const now = JSON.stringify([show.current?.id, show.next, show.last?.id, show.date_updated]);
      if (now === known && unsettled.size === 0) return;
      for (const id of unsettled) summaries.delete(id);
      unsettled.clear();
      known = now;
      load().catch(() => { known = ''; });
    },
  };
}
