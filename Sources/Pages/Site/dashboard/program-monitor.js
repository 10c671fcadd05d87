// The program for its director: snapshots, or the program itself with its sound.

import { h, icon, setIcon, setText, show } from '../shared/element.js';
import { Program } from '../watch/program.js';
import { ask } from './api.js';
import { livePicture } from './live-picture.js';
import { perform } from './toast.js';

const words = {
  waiting: 'Waiting for the program…', starting: 'Connecting…', playing: '', paused: 'Paused',
  stalled: 'Waiting for the network…', failed: 'The connection was lost. Trying again…',
  full: 'The gateway has no capacity for another player.', unplayable: 'This browser cannot play the program.',
  denied: 'This room does not admit you.',
};
/** Seconds for which the token of a player is valid: longer than a show. */
const lifetime = 43_200;

/**
 * Shows the program of a room.
 *
 * @param onPicture Called with an image or a video whenever that shows something else.
 */
export function programMonitor(room, { mayCommand, onPicture = () => undefined }) {
  let program = null;
  let isAvailable = false;
  let isOver = false;
  const isSeen = () => ['playing', 'paused', 'stalled'].includes(program?.state);
  const picture = livePicture(room, { width: 1280, seconds: 2, isWanted: () => !isSeen(), onPicture });
  const word = h('span', {}, 'Listen');
  const button = h('button', { class: 'button', type: 'button', disabled: true, 'aria-describedby': 'listen-hint', on: {
    click: () => (program ? stop() : perform(button, listen).then(tell)),
  } }, icon('sound'), word);
  const hint = h('span', { class: 'soft', id: 'listen-hint' });
  const state = h('span', { role: 'status' });
  const element = h('div', { class: 'monitor' }, picture.element,
    h('div', { class: 'monitor-bar' }, button, state, h('span', { class: 'spacer' }), hint));

  async function listen() {
    // By a token of its own the player is no viewer.
    const answer = mayCommand
      ? await ask('POST', '/v1/tokens', { identity: 'dashboard', role: 'monitor', room, expires_in: lifetime }) : null;
    if (isOver || program) return;
    const video = h('video', { class: 'program', controls: true, autoplay: true, playsinline: true, 'aria-label': 'Program' });
    picture.element.append(video);
    program = new Program(video, `/live/${encodeURIComponent(room)}/index.m3u8`, null, answer?.token ?? null);
    program.addEventListener('state', tell);
    tell();
  }

  function stop() {
    if (!program) return;
    program.close();
    program.video.remove();
    program = null;
    tell();
  }

  function tell() {
    program?.video.classList.toggle('seen', isSeen());
    setText(word, program ? 'Stop listening' : 'Listen');
    setIcon(button, program ? 'muted' : 'sound');
    setText(state, program ? words[program.state] : '');
    button.disabled = !isAvailable && !program;
    show(hint, !program || !mayCommand);
    setText(hint, !isAvailable ? 'There is nothing to hear before you go live.'
      : mayCommand ? 'You do not count as a viewer.' : 'You count as one viewer while you listen.');
  }

  const frames = setInterval(() => {
    if (program?.state === 'playing' && !document.hidden) onPicture(program.video);
  }, 1000);
  tell();
  return {
    element,
    /** Takes the state of the room, which says whether there is a program. */
    update({ room: present, isEnded }) {
      isAvailable = Boolean(present) && !isEnded && (!present.backstage || present.was_on_air);
      if (!isAvailable) stop();
      tell();
    },
    close() {
      isOver = true;
      clearInterval(frames);
      stop();
      picture.close();
    },
  };
}
