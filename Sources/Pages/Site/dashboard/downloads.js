// Figures as files.

import { h, icon } from '../shared/element.js';
import { roomPath } from './api.js';
import { toast } from './toast.js';

const files = [
  { name: 'Timeline', path: '/viewership/timeseries.csv?step=60&group_by=protocol', file: 'timeline' },
  { name: 'Summary', path: '/viewership/summary.csv', file: 'summary' },
  { name: 'Sessions', path: '/viewership/sessions.csv', file: 'sessions' },
];

/** A panel of buttons for a room. */
export function downloads(room) {
  const buttons = files.map(({ name, path, file }) => h('button', {
    class: 'button small', type: 'button',
    on: { click: (event) => fetchFile(event.currentTarget, roomPath(room, path), `${room}-${file}.csv`) },
  }, icon('download'), `${name} CSV`));
  return h('section', { class: 'card downloads', 'aria-labelledby': 'downloads-title' },
    h('h2', { id: 'downloads-title' }, 'Figures as files'), h('div', { class: 'buttons' }, ...buttons));
}

async function fetchFile(button, path, name) {
  button.disabled = true;
  try {
    const response = await fetch(path, { signal: AbortSignal.timeout(30_000) });
    if (!response.ok) throw new Error(response.status === 404 ? 'There is no such file yet.' : `Refused: ${response.status}`);
    const url = URL.createObjectURL(await response.blob());
    h('a', { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  } catch (error) {
    toast(error.message, { isError: true });
  } finally {
    button.disabled = false;
  }
}
