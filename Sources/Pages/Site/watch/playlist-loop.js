// Follows a media playlist: by blocking reloads where the server offers them, otherwise at the usual pace.

import { nextPart, parseMedia } from './playlist.js';
import { BackOff, HTTPFailure, pause, take } from './transport.js';

/**
 * Calls `onPlaylist` for each version of the playlist until it ends, the signal is given, or it is gone.
 *
 * @returns Why it ended: `ended`, `stopped`, `gone` or `refused`.
 */
export async function followPlaylist(url, signal, onPlaylist) {
  const backOff = new BackOff(0.4, 1.6);
  let playlist = null;
  let version = '';
  while (!signal.aborted) {
    const begun = performance.now();
    try {
      const { body, url: base } = await take(addressOf(url, playlist), 'text', {
        signal, seconds: playlist ? Math.max(10, playlist.targetDuration * 3) : 10,
      });
      backOff.succeeded();
      const isNews = body !== version;
      if (isNews) {
        version = body;
        playlist = parseMedia(body, base);
        onPlaylist(playlist);
      }
      if (playlist.isEnded) return 'ended';
      const blocks = playlist.canBlockReload && playlist.partTarget !== null;
      const elapsed = (performance.now() - begun) / 1000;
      if (!blocks) await pause(Math.max(0.2, playlist.targetDuration * (isNews ? 1 : 0.5) - elapsed), signal);
      // A server that should have waited, and did not, is not asked in a tight loop.
      else if (!isNews) await pause(Math.max(0.05, playlist.partTarget - elapsed), signal);
    } catch (error) {
      // A gateway that is gone is back in a moment, and what was played until then goes on in the same place.
      if (signal.aborted) break;
      if (error instanceof HTTPFailure && [401, 403, 409, 410].includes(error.status)) return 'refused';
      if (error instanceof HTTPFailure && error.status === 404) return 'gone';
      // What was asked for is too far ahead, or the answer was lost: begin again with what there is.
      playlist = null;
      await pause(backOff.failed(), signal);
    }
  }
  return 'stopped';
}

function addressOf(url, playlist) {
  if (!playlist?.canBlockReload || playlist.partTarget === null) return url;
  const { sequence, part } = nextPart(playlist);
  const address = new URL(url);
  address.searchParams.set('_HLS_msn', sequence);
  address.searchParams.set('_HLS_part', part);
  return address.href;
}
