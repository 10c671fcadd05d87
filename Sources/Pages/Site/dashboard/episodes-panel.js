// The episodes of a show: those to come, and what there is to look back on.

import { h, keyed, labelled, setText, show as setShown } from '../shared/element.js';
import { count, dateTime, duration, timeIn } from '../shared/format.js';
import { t, wordOf } from '../texts/dashboard-texts.js';
import { ask, askIfThere } from './api.js';
import { nameOf } from './episode-figures.js';
import { perform } from './toast.js';

const columns = ['episode', 'live', 'duration', 'joins', 'peak', 'watched', 'end', 'compare'];

/** Panels for a show: `element` with its ended episodes, `planning` with those to come. */
export function episodesPanel({ base, name, mayCommand }) {
  const path = `#/show/${encodeURIComponent(name)}/audience`;
  const body = h('tbody', {});
  const none = h('p', { class: 'soft' }, t('episodes.empty'));
  const table = h('table', { class: 'table', hidden: true },
    h('thead', {}, h('tr', {}, ...columns
      .map((column) => h('th', { scope: 'col' }, t(`episodes.columns.${column}`))))), body);
  const advice = h('p', { class: 'soft' });
  const element = h('section', { class: 'card past', 'aria-labelledby': 'past-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'past-title' }, t('episodes.past'))), none, advice,
    h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': t('episodes.past') }, table));

  const upcoming = h('ul', { class: 'shows' });
  const empty = h('p', { class: 'soft' }, t('episodes.nonePlanned'));
  const title = h('input', { class: 'field', name: 'title', maxlength: 200, autocomplete: 'off' });
  const time = h('input', { class: 'field', name: 'time', type: 'datetime-local' });
  const button = h('button', { class: 'button', type: 'submit' }, t('episodes.plan'));
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
  labelled(t('episodes.name'), title),
  labelled(t('episodes.start'), time), button);
  const planning = h('section', { class: 'card', 'aria-labelledby': 'planned-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'planned-title' }, t('episodes.planned'))), empty, upcoming,
    mayCommand ? form : null);

  let choice = { id: null, other: null };
  const summaries = new Map();
  const unsettled = new Set();
  let known = '';
  /** The time zone of the show. */
  let zone;

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
    keyed(body, past, ({ id }) => id, ({ id }) => pastRow(id), (row, episode) => row.update(episode, summaries.get(episode.id)));
    drawChoice();
  }

  function pastRow(id) {
    const link = h('a', { href: `${path}/${id}` });
    const cells = Array.from({ length: 6 }, () => h('td', {}));
    const compare = h('a', {});
    const row = h('tr', {}, h('th', { scope: 'row' }, link), ...cells, h('td', {}, compare));
    row.update = (episode, summary) => {
      const live = episode.went_live_at ? Date.parse(episode.went_live_at) : null;
      setText(link, nameOf(episode));
      [
        live ? dateTime(live) : '–',
        live ? duration((Date.parse(episode.ended_at) - live) / 1000) : '–',
        summary ? count(summary.joins) : '–',
        summary ? count(summary.peak_viewers) : '–',
        summary ? duration(summary.watch_hours * 3600) : '–',
        wordOf('episodes.reasons', episode.end_reason, ''),
      ].forEach((text, index) => setText(cells[index], text));
    };
    row.choose = () => {
      const isChosen = id === choice.id;
      row.classList.toggle('chosen', isChosen || id === choice.other);
      if (isChosen) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
      setShown(compare, choice.id !== null && !isChosen);
      compare.setAttribute('href', id === choice.other ? `${path}/${choice.id}` : `${path}/${choice.id}/${id}`);
      setText(compare, t(id === choice.other ? 'episodes.doNotCompare' : 'episodes.compare'));
      compare.setAttribute('aria-label', t('episodes.compareNamed', { action: compare.textContent, episode: link.textContent }));
    };
    return row;
  }

  function drawChoice() {
    table.classList.toggle('choosing', choice.id !== null);
    setShown(advice, body.childElementCount > 0);
    setText(advice, t(choice.id === null ? 'episodes.choose' : 'episodes.chooseOther'));
    for (const row of body.children) row.choose();
  }

  function plannedRow(id) {
    const name = h('span', { class: 'name' });
    const when = h('span', { class: 'soft' });
    const removal = h('button', { class: 'button small', type: 'button', on: {
      click: () => perform(removal, async () => {
        await ask('DELETE', `${base}/episodes/${id}`);
        await load();
      }),
    } }, t('episodes.cancel'));
    const row = h('li', { class: 'show-row' }, name, when, h('span', { class: 'spacer' }), mayCommand ? removal : null);
    row.update = (episode) => {
      setText(name, nameOf(episode));
      setText(when, episode.planned_at ? timeIn(zone, Date.parse(episode.planned_at)) : t('episodes.byHand'));
    };
    return row;
  }

  return {
    element,
    planning,
    /** Marks the episodes that are shown, by their ids; null for none. */
    choose(id, other) {
      choice = { id, other };
      drawChoice();
    },
    update(show) {
      zone = show.time_zone;
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
