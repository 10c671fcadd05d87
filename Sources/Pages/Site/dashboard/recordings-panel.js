// The recordings of a show's episodes: play, download, delete.

import { h, keyed, setText, show as setShown } from '../shared/element.js';
import { bytes, dateTime, duration } from '../shared/format.js';
import { t, wordOf } from '../texts/dashboard-texts.js';
import { ask } from './api.js';
import { poll } from './poll.js';
import { perform } from './toast.js';

const tones = { recording: 'live', completed: 'good', interrupted: 'warn', failed: 'bad' };

/** A panel for a show. */
export function recordingsPanel({ mayCommand }) {
  const list = h('ul', { class: 'outputs' });
  const empty = h('p', { class: 'soft' }, t('recordings.empty'));
  const player = h('video', { class: 'player', controls: true, hidden: true, preload: 'metadata' });
  const element = h('section', { class: 'card', 'aria-labelledby': 'recordings-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'recordings-title' }, t('recordings.title'))), player, empty, list);
  let name = null;

  async function load() {
    if (!name || !element.isConnected || element.closest('[hidden]')) return;
    const recordings = [];
    for (let query = '?page_size=100'; query;) {
      const answer = await ask('GET', `/v1/rooms/${encodeURIComponent(name)}/recordings${query}`);
      recordings.push(...answer.recordings);
      const next = answer.meta?.next_page_token;
      query = next ? `?page_size=100&page_token=${encodeURIComponent(next)}` : '';
    }
    setShown(empty, recordings.length === 0);
    keyed(list, recordings.toReversed(), ({ sid }) => sid, recordingRow, (row, one) => row.update(one));
  }

  function recordingRow({ sid }) {
    const path = `/v1/recordings/${encodeURIComponent(sid)}`;
    const when = h('span', { class: 'name' });
    const state = h('span', { class: 'badge' });
    const facts = h('p', { class: 'soft' });
    const play = h('button', { class: 'button small', type: 'button', on: { click: () => {
      setShown(player, true);
      player.src = `${path}/media.mp4`;
      player.play().catch(() => undefined);
      player.scrollIntoView({ block: 'center' });
    } } }, t('recordings.play'));
    const file = h('a', { class: 'button small', href: `${path}/media.mp4`, download: `${name}-${sid}.mp4` }, t('recordings.download'));
    const removal = h('button', { class: 'button small', type: 'button', on: { click: () => {
      if (confirm(t('recordings.deleteQuestion'))) {
        perform(removal, async () => {
          await ask('DELETE', path);
          await load();
        });
      }
    } } }, t('recordings.delete'));
    const row = h('li', { class: 'output' },
      h('div', { class: 'host-head' }, when, h('span', { class: 'spacer' }), state),
      facts, h('div', { class: 'buttons' }, play, file, mayCommand ? removal : null));
    row.update = (one) => {
      setText(when, dateTime(Date.parse(one.started_at), { weekday: 'short' }));
      state.className = `badge ${tones[one.state] ?? ''}`;
      setText(state, wordOf('recordings.states', one.state));
      setText(facts, [duration(one.duration), bytes(one.bytes), one.width ? `${one.width}×${one.height}` : '']
        .filter(Boolean).join(' · '));
      removal.disabled = one.state === 'recording';
    };
    return row;
  }

  const stop = poll(5, load);
  return {
    element,
    update(show) { name = show.name; },
    close: stop,
  };
}
