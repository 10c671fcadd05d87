// The hosts on stage: tracks, audio level and A/V sync.

import { h, icon, keyed, setText, show } from '../shared/element.js';
import { ask, roomPath } from './api.js';
import { perform } from './toast.js';

const tracks = [
  { name: 'mic', icon: 'mic', label: 'Microphone' },
  { name: 'camera', icon: 'camera', label: 'Camera' },
  { name: 'screen', icon: 'screen', label: 'Screen' },
];
const states = {
  connected: ['good', 'connected'], connecting: ['warn', 'connecting'], reconnecting: ['warn', 'reconnecting'],
  disconnected: ['bad', 'gone'],
};
const quietest = -60;

/** A panel for a room; `mayCommand` shows the switches. */
export function hostsPanel(room, { mayCommand }) {
  const list = h('ul', { class: 'hosts' });
  const empty = h('p', { class: 'soft', hidden: true }, 'There are no hosts on stage.');
  const number = h('span', { class: 'badge' });
  const element = h('section', { class: 'card', 'aria-labelledby': 'hosts-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'hosts-title' }, 'Hosts'), h('span', { class: 'spacer' }), number),
    list, empty);
  return {
    element,
    update(participants) {
      const hosts = participants.filter(({ mode }) => mode === 'SEND_AND_RECV');
      setText(number, String(hosts.length));
      show(empty, hosts.length === 0);
      keyed(list, hosts, ({ sid }) => sid, (host) => hostRow(room, host, mayCommand),
        (row, host) => row.update(host));
    },
  };
}

function hostRow(room, { sid }, mayCommand) {
  const name = h('span', { class: 'name' });
  const identity = h('span', { class: 'soft identity' });
  const state = h('span', { class: 'badge' });
  const crown = h('span', { class: 'badge warn', hidden: true }, 'speaking');
  const pin = h('span', { class: 'badge', hidden: true }, 'pinned');
  const meter = h('span', { class: 'level-fill' });
  const level = h('div', { class: 'level', role: 'meter', 'aria-label': 'Audio level', 'aria-valuemin': quietest,
    'aria-valuemax': 0 }, meter);
  const decibels = h('span', { class: 'soft decibels' });
  const sync = h('p', { class: 'soft sync' });
  const discarded = h('p', { class: 'soft discarded', hidden: true });
  let host = null;
  const switches = tracks.map((track) => trackSwitch(track, mayCommand, async (isOn, button) => {
    const path = roomPath(room, `/participants/${encodeURIComponent(sid)}/tracks/${track.name}`);
    await perform(button, () => ask('PATCH', path, { enabled: isOn }));
  }));
  const row = h('li', { class: 'host' },
    h('div', { class: 'host-head' }, name, identity, crown, pin, h('span', { class: 'spacer' }), state),
    h('div', { class: 'host-tracks' }, ...switches.map(({ element }) => element), level, decibels), discarded, sync);
  row.update = (next) => {
    host = next;
    setText(name, host.display_name || host.identity);
    setText(identity, host.display_name && host.display_name !== host.identity ? host.identity : '');
    const [tone, words] = states[host.status] ?? ['', host.status];
    state.className = `badge ${tone}`;
    setText(state, words);
    show(crown, host.is_dominant_speaker);
    show(pin, Boolean(host.pin));
    row.classList.toggle('speaking', Boolean(host.is_speaking));
    for (const one of switches) one.update(host.tracks.find((track) => track.name === one.name));
    const loud = Math.max(quietest, host.audio_level ?? quietest);
    meter.style.width = `${(1 - loud / quietest) * 100}%`;
    level.setAttribute('aria-valuenow', Math.round(loud));
    setText(decibels, host.audio_level === null || loud <= quietest ? 'silent' : `${Math.round(loud)} dB`);
    setText(sync, timing(host));
    const unpublished = host.discarded ?? [];
    show(discarded, unpublished.length > 0);
    setText(discarded, `Its encoder sends ${unpublished.join(' and ')}, which its client has not published.`);
  };
  return row;
}

function trackSwitch({ name, icon: symbol, label }, mayCommand, change) {
  const element = h('button', { class: 'track', type: 'button' }, icon(symbol));
  let track = null;
  element.addEventListener('click', () => { if (track) change(!track.enabled, element); });
  return {
    name,
    element,
    update(next) {
      track = next?.published ? next : null;
      show(element, track !== null || name !== 'screen');
      const state = track === null ? 'off' : track.enabled ? track.media_state : 'muted';
      element.dataset.state = ['playable', 'muted', 'off', 'interrupted'].includes(state) ? state : 'waiting';
      element.classList.toggle('fixed', !mayCommand || track === null);
      element.setAttribute('aria-pressed', String(track?.enabled ?? false));
      element.setAttribute('aria-disabled', String(!mayCommand || track === null));
      const size = track?.width ? `, ${track.width}×${track.height}${track.fps ? ` ${Math.round(track.fps)} fps` : ''}` : '';
      const words = `${label}: ${state}${size}`;
      if (element.title !== words) {
        element.title = words;
        element.setAttribute('aria-label', words);
      }
    },
  };
}

/** How a host's media keeps time, in words. */
function timing({ sync }) {
  if (!sync) return '';
  const parts = [
    `offset ${Math.round(sync.offset_ms)} ms`, `drift ${sync.drift_ppm.toFixed(0)} ppm`,
    `buffer ${Math.round(sync.buffer_ms)} ms`,
  ];
  for (const [key, word] of [['late', 'late'], ['duplicated', 'repeated'], ['dropped', 'left out']]) {
    if (sync[key] > 0) parts.push(`${sync[key]} ${word}`);
  }
  return parts.join(' · ');
}
