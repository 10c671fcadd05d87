// The hosts on stage: whether each is heard and seen, and why not; its switches, its level, and its gain.

import { h, icon, keyed, labelled, setText, show } from '../shared/element.js';
import { ask, roomPath } from './api.js';
import { chooseFile, fixedOption, offerFiles } from './file-choice.js';
import { hostPicture } from './host-picture.js';
import { poll } from './poll.js';
import { copyForEncoder, copyReturnFeed } from './seat-settings.js';
import { perform } from './toast.js';

const tracks = [
  { name: 'mic', icon: 'mic', label: 'Microphone', off: 'Mute', on: 'Unmute' },
  { name: 'camera', icon: 'camera', label: 'Camera', off: 'Hide', on: 'Show' },
  { name: 'screen', icon: 'screen', label: 'Screen', off: 'Hide', on: 'Show' },
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
  const absent = h('ul', { class: 'hosts' });
  const number = h('span', { class: 'badge' });
  const element = h('section', { class: 'card', 'aria-labelledby': 'hosts-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'hosts-title' }, 'Hosts'), h('span', { class: 'spacer' }), number),
    list, empty, absent);
  let layout = null;
  let seats = null;
  let hosts = [];
  let order = [];
  let images = [];
  let picture = null;
  const draw = () => {
    for (const row of list.children) row.draw(picture, layout);
  };
  const drawAbsent = () => {
    const away = (seats ?? []).filter(({ identity }) => !hosts.some((host) => host.identity === identity));
    keyed(absent, away, ({ identity }) => identity, () => absentRow(mayCommand), (row, seat) => row.update(seat));
  };
  const arrangeList = (participants) => {
    const places = new Map(order.map((identity, place) => [identity, place]));
    const place = ({ identity }) => places.get(identity) ?? order.length;
    hosts = participants.toSorted((one, other) => place(one) - place(other));
    keyed(list, hosts, ({ sid }) => sid, (host) => {
      const row = hostRow(room, host, mayCommand, move);
      row.equip(seats, images);
      return row;
    }, (row, host) => {
      row.update(host);
      row.place(hosts.indexOf(host), hosts.length);
    });
  };
  // The host changes places with its neighbour; those who left keep theirs.
  const move = async (identity, step) => {
    const shown = hosts.map((host) => host.identity);
    const all = [...order, ...shown.filter((one) => !order.includes(one))];
    const [from, to] = [identity, shown[shown.indexOf(identity) + step]].map((one) => all.indexOf(one));
    if (to < 0) return;
    [all[from], all[to]] = [all[to], all[from]];
    ({ identities: order } = await ask('PUT', roomPath(room, '/host_order'), { identities: all }));
    arrangeList(hosts);
  };
  // Whoever is not in the program is asked for, such as before the show; one after the other.
  const stop = poll(4, async () => {
    for (const row of [...list.children]) {
      if (!document.hidden && !row.closest('[hidden]')) await row.look();
    }
  });
  return {
    element,
    close: stop,
    /** Takes a picture of the program, of which each host has its part. */
    see(next) {
      picture = next;
      draw();
    },
    /** Takes the layout of the program; null while the program does not show the hosts. */
    arrange(next) {
      if (layout === next) return;
      layout = next;
      // Another picture comes soon; until then this one has the tiles in other places.
      if (layout === null) draw();
    },
    /** Takes the seats of the show, and the files that a host's picture can be. */
    equip({ seats: nextSeats = seats, files }) {
      seats = nextSeats;
      if (files) images = files.filter(({ kind }) => kind === 'image').map(({ name }) => name);
      for (const row of list.children) row.equip(seats, images);
      drawAbsent();
    },
    update(participants, hostOrder) {
      order = hostOrder ?? [];
      arrangeList(participants.filter(({ mode }) => mode === 'SEND_AND_RECV'));
      setText(number, String(hosts.length));
      show(empty, hosts.length === 0);
      drawAbsent();
    },
    /** Shows what keeps each host from being heard or seen. */
    diagnose(findings) {
      for (const row of list.children) {
        row.diagnose(findings.find(({ participant_sid: sid }) => sid === row.dataset.key));
      }
    },
  };
}

/** The seat of a host who is not there. */
function absentRow(mayCommand) {
  const picture = hostPicture();
  const name = h('span', { class: 'name' });
  let seat = null;
  const copy = h('button', { class: 'button small', type: 'button', on: { click: () => copyForEncoder(seat) } }, 'Copy for OBS');
  const row = h('li', { class: 'seat' }, picture.element,
    h('div', { class: 'host-head' }, name, h('span', { class: 'spacer' }), h('span', { class: 'badge' }, 'not connected')),
    h('div', { class: 'host-body' }, mayCommand ? copy : null));
  row.update = (next) => {
    seat = next;
    setText(name, seat.display_name);
    picture.update(seat.display_name);
  };
  return row;
}

function hostRow(room, { sid, identity: own }, mayCommand, move) {
  const picture = hostPicture();
  const name = h('span', { class: 'name' });
  const identity = h('span', { class: 'soft identity' });
  const state = h('span', { class: 'badge' });
  const crown = h('span', { class: 'badge warn', hidden: true }, 'speaking');
  const pin = h('span', { class: 'badge', hidden: true }, 'pinned');
  const meter = h('span', { class: 'level-fill' });
  const level = h('div', { class: 'level', role: 'meter', 'aria-label': 'Audio level', 'aria-valuemin': quietest,
    'aria-valuemax': 0 }, meter);
  const decibels = h('span', { class: 'soft decibels' });
  const finding = h('ul', { class: 'findings', 'aria-live': 'polite' });
  const sync = h('p', { class: 'soft sync' });
  const details = h('details', { class: 'more', hidden: true }, h('summary', {}, 'Timing, for engineers'), sync);
  const discarded = h('p', { class: 'soft discarded', hidden: true });
  let host = null;
  const switches = tracks.map((track) => trackSwitch(track, mayCommand, async (isOn, button) => {
    const path = roomPath(room, `/participants/${encodeURIComponent(sid)}/tracks/${track.name}`);
    await perform(button, () => ask('PATCH', path, { enabled: isOn }));
  }));
  const path = (rest = '') => roomPath(room, `/participants/${encodeURIComponent(sid)}${rest}`);
  const pinning = h('button', { class: 'button small', type: 'button', on: {
    click: () => perform(pinning, () => (host.pin ? ask('DELETE', path('/pin')) : ask('PUT', path('/pin'), {}))),
  } }, 'Pin');
  const moves = [['Earlier', -1], ['Later', 1]].map(([text, step]) => {
    const button = h('button', { class: 'button small', type: 'button', title: `${text} in the order on stage`, on: {
      click: async () => {
        await perform(button, () => move(own, step));
        // Its card was taken to another place in the document, which loses the focus.
        (button.hidden ? moves.find((one) => !one.hidden) : button)?.focus();
      },
    } }, text);
    return button;
  });
  const removal = h('button', { class: 'button small', type: 'button', on: {
    click: () => {
      const question = `Remove ${host.display_name || host.identity} from this show? The encoder is disconnected.`;
      if (confirm(question)) perform(removal, () => ask('DELETE', path()));
    },
  } }, 'Remove');
  const release = h('button', { class: 'button small', type: 'button', hidden: true, on: {
    click: () => perform(release, () => ask('DELETE', path('/quarantine')), 'The encoder may connect again'),
  } }, 'Lift the block');
  let seat = null;
  const copy = h('button', { class: 'button small', type: 'button', hidden: true, on: {
    click: () => copyForEncoder(seat),
  } }, 'Copy for OBS');
  const stepDown = h('button', { class: 'button small', type: 'button', hidden: true, on: {
    click: () => perform(stepDown, () => ask('POST', path('/mode'), { mode: 'RECV_ONLY' })),
  } }, 'Back to the audience');
  const choice = (key, label) => {
    const input = h('input', { type: 'checkbox', on: {
      change: () => perform(input, () => ask('PUT', path('/sound'), { [key]: input.checked })),
    } });
    return { key, input, element: h('label', { class: 'switch' }, input, label) };
  };
  const choices = [choice('priority', 'Others are turned down while this host speaks'),
    choice('return_feed', 'Return feed: hears the program without their own voice')];
  const copyReturn = h('button', { class: 'button small', type: 'button', hidden: true, on: {
    click: () => perform(copyReturn, () => copyReturnFeed(room, seat)),
  } }, 'Copy the address of the return feed');
  const avatar = h('select', { class: 'pick', on: {
    change: () => perform(avatar, () => ask('PATCH', path(), { avatar: avatar.value || null })),
  } }, fixedOption('', 'The initials'));
  const more = h('details', { class: 'more' }, h('summary', {}, 'More'),
    h('div', { class: 'host-more' }, ...choices.map(({ element }) => element), h('div', {}, copyReturn),
      labelled('Picture while the camera is off', avatar)));
  const gain = h('input', { type: 'range', min: -60, max: 12, step: 1, class: 'gain', on: {
    input: () => setText(gainText, gainWords(Number(gain.value))),
    change: () => perform(gain, () => ask('PUT', path('/sound'), { gain_db: Number(gain.value) })),
  } });
  const gainText = h('span', { class: 'soft decibels' });
  const actions = h('div', { class: 'host-actions' },
    h('label', { class: 'gain-label' }, h('span', { class: 'soft' }, 'Gain'), gain, gainText), pinning, ...moves, copy, release, stepDown, removal);
  const row = h('li', { class: 'host' }, picture.element,
    h('div', { class: 'host-head' }, name, identity, crown, pin, h('span', { class: 'spacer' }), state),
    h('div', { class: 'host-body' }, finding,
      h('div', { class: 'host-tracks' }, ...switches.map(({ element }) => element), level, decibels),
      mayCommand ? actions : null, discarded, mayCommand ? more : null, details));
  row.draw = (program, layout) => {
    const tiles = layout?.tiles.filter(({ participant_sid: of }) => of === sid) ?? [];
    picture.draw(program, layout, tiles.find(({ source }) => source === 'camera') ?? tiles[0]);
  };
  row.place = (place, count) => {
    show(moves[0], place > 0);
    show(moves[1], place < count - 1);
  };
  row.look = async () => {
    if (picture.isTile) return;
    const camera = host?.tracks.find((track) => track.name === 'camera');
    await picture.load(camera?.published && camera.enabled ? path('/snapshot.jpg') : null);
  };
  row.equip = (seats, images) => {
    seat = seats?.find(({ identity: one }) => one === own) ?? null;
    show(copy, seat !== null);
    // Without a show there are no seats, and nobody knows who is at home on stage.
    show(stepDown, seats !== null && seat === null);
    offerFiles(avatar, images);
  };
  row.diagnose = (found) => {
    // "Backstage" is true of everyone, and stands at the head of the page.
    const causes = [found?.sound, found?.video].filter((one) => one && !['none', 'backstage'].includes(one.cause));
    const apart = causes.filter(({ message }, place) => causes.findIndex((one) => one.message === message) === place);
    keyed(finding, apart, ({ message }) => message, ({ message, advice }) => h('li', {},
      h('strong', {}, message), advice ? h('span', { class: 'soft' }, ` ${advice}.`) : null), () => undefined);
    row.dataset.cause = apart[0]?.cause ?? '';
  };
  row.update = (next) => {
    host = next;
    setText(name, host.display_name || host.identity);
    picture.update(host.display_name || host.identity);
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
    show(details, Boolean(host.sync));
    setText(pinning, host.pin ? 'Unpin' : 'Pin');
    if (document.activeElement !== gain && !gain.disabled) {
      gain.value = host.sound?.gain_db ?? 0;
      setText(gainText, gainWords(Number(gain.value)));
    }
    show(release, Boolean(host.quarantined_until));
    for (const { key, input } of choices) {
      if (!input.disabled) input.checked = host.sound?.[key] ?? false;
    }
    show(copyReturn, seat !== null && Boolean(host.sound?.return_feed));
    if (document.activeElement !== avatar && !avatar.disabled) chooseFile(avatar, host.avatar);
    const unpublished = host.discarded ?? [];
    show(discarded, unpublished.length > 0);
    setText(discarded, `Its encoder sends ${unpublished.join(' and ')}, which its client has not published.`);
  };
  return row;
}

/** A gain in words: all the way down is off. */
function gainWords(decibels) {
  return decibels <= quietest ? 'off' : `${decibels > 0 ? '+' : ''}${decibels} dB`;
}

function trackSwitch({ name, icon: symbol, label, off, on }, mayCommand, change) {
  const word = h('span', {});
  const element = h('button', { class: 'track', type: 'button' }, icon(symbol), word);
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
      setText(word, mayCommand && track !== null ? (track.enabled ? off : on) : '');
      if (element.title !== words) {
        element.title = words;
        element.setAttribute('aria-label', word.textContent ? `${word.textContent}. ${words}` : words);
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
