// The program for its director, or its preview while the room is backstage: snapshots, or video with sound.

import { h, icon, setIcon, setText, show } from '../shared/element.js';
import { t } from '../texts/dashboard-texts.js';
import { Program } from '../watch/program.js';
import { ask } from './api.js';
import { livePicture } from './live-picture.js';
import { perform } from './toast.js';

/** Seconds for which the token of a player is valid: longer than a show. */
const lifetime = 43_200;
/** The tokens of this page's players by room, each with the moment until which a new player takes it. */
const tokens = new Map();

async function tokenOf(room) {
  const kept = tokens.get(room);
  if (kept?.until > Date.now()) return kept.token;
  const { token } = await ask('POST', '/v1/tokens', { identity: 'dashboard', role: 'monitor', room, expires_in: lifetime });
  tokens.set(room, { token, until: Date.now() + lifetime * 500 });
  return token;
}

/** Shows the program of a room. */
export function programMonitor(room, { mayCommand }) {
  let program = null;
  let isAvailable = false;
  let isPreview = false;
  let isOver = false;
  const isSeen = () => ['playing', 'paused', 'stalled'].includes(program?.state);
  const picture = livePicture(room, {
    width: 1280, seconds: 2, source: () => (isPreview ? 'preview' : 'snapshot'), isWanted: () => !isSeen(),
  });
  const word = h('span', {}, t('monitor.listen'));
  const button = h('button', { class: 'button', type: 'button', disabled: true, 'aria-describedby': 'listen-hint', on: {
    click: () => (program ? stop() : perform(button, listen).then(tell)),
  } }, icon('sound'), word);
  const hint = h('span', { class: 'soft', id: 'listen-hint' });
  const state = h('span', { role: 'status' });
  const element = h('div', { class: 'monitor' }, picture.element,
    h('div', { class: 'monitor-bar' }, button, state, h('span', { class: 'spacer' }), hint));

  async function listen() {
    // By a token of its own the player is no viewer.
    const token = mayCommand ? await tokenOf(room) : null;
    if (isOver || program) return;
    const video = h('video', {
      class: 'program', controls: true, autoplay: true, playsinline: true,
      'aria-label': t(isPreview ? 'monitor.previewVideo' : 'monitor.video'),
    });
    picture.element.append(video);
    const feed = isPreview ? `${room}.preview` : room;
    program = new Program(video, `/live/${encodeURIComponent(feed)}/index.m3u8`, null, token);
    program.addEventListener('state', tell);
    tell();
  }

  function stop() {
    if (!program) return;
    // One that was revoked is of no use to the next player.
    if (program.state === 'denied') tokens.delete(room);
    program.close();
    program.video.remove();
    program = null;
    tell();
  }

  function tell() {
    program?.video.classList.toggle('seen', isSeen());
    setText(word, t(program ? 'monitor.stop' : 'monitor.listen'));
    setIcon(button, program ? 'muted' : 'sound');
    setText(state, program ? t(`monitor.states.${program.state}`) : '');
    button.disabled = !isAvailable && !program;
    show(hint, isPreview || !program || !mayCommand);
    setText(hint, t(isPreview ? 'monitor.preview' : !isAvailable ? 'monitor.nothing'
      : mayCommand ? 'monitor.notCounted' : 'monitor.counted'));
  }

  tell();
  return {
    element,
    /** Takes the state of the room, which says whether there is a program. */
    update({ room: present, participants, isEnded }) {
      const wasListening = Boolean(program);
      const hasHost = participants.some(({ mode, status }) => mode === 'SEND_AND_RECV' && status === 'connected');
      const hasPreview = Boolean(present?.backstage) && !isEnded && hasHost;
      // A preview is for those who may have a token.
      isAvailable = Boolean(present) && !isEnded
        && (hasPreview ? mayCommand : !present.backstage || present.was_on_air);
      if (!isAvailable || hasPreview !== isPreview) stop();
      isPreview = hasPreview;
      if (wasListening && isAvailable && !program) perform(button, listen).then(tell);
      tell();
    },
    close() {
      isOver = true;
      stop();
      picture.close();
    },
  };
}
