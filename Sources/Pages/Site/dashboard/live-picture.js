// A snapshot of a room's program, refreshed every few seconds.

import { h } from '../shared/element.js';
import { t } from '../texts/dashboard-texts.js';
import { roomPath } from './api.js';

/**
 * Creates the snapshot element of a room.
 *
 * One snapshot is fetched at a time, and the previous one stays until the new one has loaded.
 *
 * @param source What it shows: `snapshot` for the program, `preview` for what would be on air.
 * @param isWanted Whether a snapshot is needed at the moment.
 */
export function livePicture(room, { width, seconds, source = () => 'snapshot', isWanted = () => true }) {
  const image = h('img', { class: 'picture', alt: '', decoding: 'async' });
  const empty = h('span', { class: 'no-picture' }, t('overview.noPicture'));
  const element = h('div', { class: 'screen', 'data-state': 'empty' }, empty, image);
  let isOver = false;
  let timer = null;
  let present = null;
  const turn = async () => {
    if (!document.hidden && element.isConnected && isWanted()) {
      try {
        const wanted = source();
        const response = await fetch(`${roomPath(room, `/${wanted}.jpg`)}?width=${width}`, {
          signal: AbortSignal.timeout(8000), cache: 'no-cache',
        });
        // What was asked for before the room went live is the preview.
        if (response.ok && source() === wanted) {
          const url = URL.createObjectURL(await response.blob());
          image.src = url;
          image.alt = t(wanted === 'preview' ? 'overview.preview' : 'overview.picture', { room });
          await image.decode().catch(() => undefined);
          if (present) URL.revokeObjectURL(present);
          present = url;
          element.dataset.state = 'live';
        } else if (response.status === 404) {
          element.dataset.state = 'empty';
        }
      } catch {
        // The next one may come.
      }
    }
    if (!isOver) timer = setTimeout(turn, seconds * 1000);
  };
  timer = setTimeout(turn, 0);
  return {
    element,
    close() {
      isOver = true;
      clearTimeout(timer);
      if (present) URL.revokeObjectURL(present);
    },
  };
}
