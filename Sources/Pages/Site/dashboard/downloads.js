// Figures as files.

import { h, icon } from '../shared/element.js';
import { t } from '../texts/dashboard-texts.js';
import { ask, roomPath } from './api.js';
import { toast } from './toast.js';

const ofRoom = [
  { name: t('downloads.timeline'), pathOf: timeline, file: 'timeline' },
  { name: t('downloads.summary'), pathOf: (room) => roomPath(room, '/viewership/summary.csv'), file: 'summary' },
  { name: t('downloads.retention'), pathOf: (room) => roomPath(room, '/viewership/retention.csv'), file: 'retention' },
  { name: t('downloads.sessions'), pathOf: (room) => roomPath(room, '/viewership/sessions.csv?page_size=50000'), file: 'sessions' },
];
const ofAll = [
  { name: t('downloads.lastDay'), pathOf: lastDay, file: 'timeline' },
  { name: t('downloads.daySummary'), pathOf: () => '/v1/viewership/summary.csv', file: 'summary' },
  { name: t('downloads.rooms'), pathOf: () => '/v1/viewership.csv', file: 'rooms' },
];
/** Steps that the gateway gives at once. */
const mostSteps = 10_000;

/** A panel of buttons for a room by its name or sid; for all rooms together with null. `named` begins the files' names. */
export function downloads(room, named = room ?? 'all') {
  const buttons = (room === null ? ofAll : ofRoom).map(({ name, pathOf, file }) => h('button', {
    class: 'button small', type: 'button',
    on: { click: (event) => save(event.currentTarget, room, pathOf, `${named}-${file}.csv`) },
  }, icon('download'), t('downloads.file', { name })));
  return h('section', { class: 'card downloads', 'aria-labelledby': 'downloads-title' },
    h('h2', { id: 'downloads-title' }, t('downloads.title')), h('div', { class: 'buttons' }, ...buttons));
}

/** The whole broadcast, minute by minute; one of more than a week in longer steps. */
async function timeline(room) {
  const { room_sid: sid, began_at: from, ended_at: to } = await ask('GET', roomPath(room, '/viewership/summary'));
  const minutes = ((to ? Date.parse(to) : Date.now()) - Date.parse(from)) / 60_000 + 2;
  const query = new URLSearchParams({ from, step: 60 * Math.ceil(minutes / mostSteps), group_by: 'protocol' });
  if (to) query.set('to', to);
  // The sid, because the name is that of earlier broadcasts too.
  return roomPath(sid ?? room, `/viewership/timeseries.csv?${query}`);
}

/** All rooms together, minute by minute; they have no broadcast of their own to begin with. */
function lastDay() {
  const from = new Date(Date.now() - 86_400_000).toISOString();
  return `/v1/viewership/timeseries.csv?${new URLSearchParams({ from, step: 60, group_by: 'protocol' })}`;
}

/** Lets the browser save texts as one file. */
export function saveFile(texts, type, name) {
  const url = URL.createObjectURL(new Blob(texts, { type }));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

async function save(button, room, pathOf, name) {
  button.disabled = true;
  try {
    const texts = await pages(await pathOf(room));
    saveFile(texts, 'text/csv', name);
  } catch (error) {
    toast(error.status === 404 ? t('downloads.missing') : error.message, { isError: true });
  } finally {
    button.disabled = false;
  }
}

/** A table page by page; only the first one keeps its header. */
async function pages(path) {
  const texts = [];
  for (let token = ''; token !== null;) {
    const address = token ? `${path}&page_token=${encodeURIComponent(token)}` : path;
    const response = await fetch(address, { signal: AbortSignal.timeout(60_000) });
    if (!response.ok) throw Object.assign(new Error(t('downloads.refused', { status: response.status })), { status: response.status });
    const text = await response.text();
    texts.push(token ? text.slice(text.indexOf('\n') + 1) : text);
    token = response.headers.get('X-Next-Page-Token');
  }
  return texts;
}
