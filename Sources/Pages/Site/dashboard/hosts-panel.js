// The hosts on stage: whether each is heard and seen, and why not; its switches, its level, and its gain.

import { h, icon, keyed, labelled, setText, show } from '../shared/element.js';
import { dateTime } from '../shared/format.js';
import { t, wordOf } from '../texts/dashboard-texts.js';
import { ask, roomPath } from './api.js';
import { chooseFile, fixedOption, offerFiles } from './file-choice.js';
import { hostPicture } from './host-picture.js';
import { poll } from './poll.js';
import { copyForEncoder, copyReturnFeed } from './seat-settings.js';
import { perform } from './toast.js';

const tracks = ['mic', 'camera', 'screen'];
const tones = { connected: 'good', connecting: 'warn', reconnecting: 'warn', disconnected: 'bad' };
const quietest = -60;

/** A panel for a room; `mayCommand` shows the switches, and `onOrder` asks for the hosts in another order. */
export function hostsPanel(room, { mayCommand, onOrder }) {
  const list = h('ul', { class: 'hosts' });
  const empty = h('p', { class: 'soft', hidden: true }, t('hosts.empty'));
  const absent = h('ul', { class: 'hosts' });
  const number = h('span', { class: 'badge' });
  const element = h('section', { class: 'card', 'aria-labelledby': 'hosts-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'hosts-title' }, t('hosts.title')), h('span', { class: 'spacer' }), number),
    list, empty, absent);
  let seats = null;
  let hosts = [];
  let order = [];
  let images = [];
  const nameOf = (identity) => hosts.find((host) => host.identity === identity)?.display_name || identity;
  const drawAbsent = () => {
    const away = (seats ?? []).filter(({ identity }) => !hosts.some((host) => host.identity === identity));
    keyed(absent, away, ({ identity }) => identity, () => absentRow(room, mayCommand), (row, seat) => row.update(seat));
  };
  const arrangeList = (participants) => {
    hosts = participants;
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
    await onOrder();
  };
  // One after the other.
  const stop = poll(4, async () => {
    for (const row of [...list.children]) {
      if (!document.hidden && !row.closest('[hidden]')) await row.look();
    }
  });
  return {
    element,
    close: stop,
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
        row.diagnose(findings.find(({ participant_sid: sid }) => sid === row.dataset.key), nameOf);
      }
    },
  };
}

/** The seat of a host who is not there, or was removed and is refused. */
function absentRow(room, mayCommand) {
  const picture = hostPicture();
  const name = h('span', { class: 'name' });
  const state = h('span', { class: 'badge' });
  const removal = h('p', { class: 'soft hint', hidden: true });
  let seat = null;
  const copy = h('button', { class: 'button small', type: 'button', on: { click: () => copyForEncoder(seat) } },
    t('common.copyForEncoder'));
  const readmit = h('button', { class: 'button small', type: 'button', hidden: true, on: { click: () => {
    perform(readmit, async () => {
      const path = `/v1/shows/${encodeURIComponent(room)}/seats/${encodeURIComponent(seat.identity)}/removal`;
      await ask('DELETE', path);
      const { removal: lifted, ...rest } = seat;
      row.update(rest);
      // The button is gone.
      if (lifted) copy.focus();
    }, t('hosts.readmitted', { name: seat.display_name }));
  } } }, t('hosts.readmit'));
  const row = h('li', { class: 'seat' }, picture.element,
    h('div', { class: 'host-head' }, name, h('span', { class: 'spacer' }), state),
    h('div', { class: 'host-body' }, removal,
      mayCommand ? h('div', { class: 'host-actions' }, readmit, copy) : null));
  row.update = (next) => {
    seat = next;
    setText(name, seat.display_name);
    picture.update(seat.display_name);
    const { removal: removed } = seat;
    setText(state, t(removed ? 'hosts.removed' : 'hosts.absent'));
    state.classList.toggle('bad', Boolean(removed));
    show(removal, Boolean(removed));
    show(readmit, Boolean(removed));
    if (!removed) return;
    const known = { by: removed.by, time: removed.at ? dateTime(Date.parse(removed.at)) : null };
    setText(removal, [known.by && known.time ? t('hosts.removedByAt', known) : '', t('hosts.refused')].join(' ').trim());
  };
  return row;
}

function hostRow(room, { sid, identity: own }, mayCommand, move) {
  const picture = hostPicture();
  const name = h('span', { class: 'name' });
  const identity = h('span', { class: 'soft identity' });
  const state = h('span', { class: 'badge' });
  const crown = h('span', { class: 'badge warn', hidden: true }, t('hosts.speaking'));
  const pin = h('span', { class: 'badge', hidden: true }, t('hosts.pinned'));
  const meter = h('span', { class: 'level-fill' });
  const level = h('div', { class: 'level', role: 'meter', 'aria-label': t('hosts.level'), 'aria-valuemin': quietest,
    'aria-valuemax': 0 }, meter);
  const decibels = h('span', { class: 'soft decibels' });
  const finding = h('ul', { class: 'findings', 'aria-live': 'polite' });
  const sync = h('p', { class: 'soft sync' });
  const details = h('details', { class: 'more', hidden: true }, h('summary', {}, t('hosts.timing')), sync);
  const discarded = h('p', { class: 'soft discarded', hidden: true });
  let host = null;
  const switches = tracks.map((track) => trackSwitch(track, mayCommand, async (isOn, button) => {
    const path = roomPath(room, `/participants/${encodeURIComponent(sid)}/tracks/${track}`);
    await perform(button, () => ask('PATCH', path, { enabled: isOn }));
  }));
  const path = (rest = '') => roomPath(room, `/participants/${encodeURIComponent(sid)}${rest}`);
  const pinning = h('button', { class: 'button small', type: 'button', on: {
    click: () => perform(pinning, () => (host.pin ? ask('DELETE', path('/pin')) : ask('PUT', path('/pin'), {}))),
  } }, t('hosts.pin'));
  const moves = [['earlier', -1], ['later', 1]].map(([key, step]) => {
    const button = h('button', { class: 'button small', type: 'button', title: t(`hosts.${key}Hint`), on: {
      click: async () => {
        await perform(button, () => move(own, step));
        // Its card was taken to another place in the document, which loses the focus.
        (button.hidden ? moves.find((one) => !one.hidden) : button)?.focus();
      },
    } }, t(`hosts.${key}`));
    return button;
  });
  const removal = h('button', { class: 'button small', type: 'button', on: {
    click: () => {
      const question = t(seat ? 'hosts.removeSeatedQuestion' : 'hosts.removeQuestion', { name: host.display_name || host.identity });
      if (confirm(question)) perform(removal, () => ask('DELETE', path()));
    },
  } }, t('common.remove'));
  const release = h('button', { class: 'button small', type: 'button', hidden: true, on: {
    click: () => perform(release, () => ask('DELETE', path('/quarantine')), t('hosts.released')),
  } }, t('hosts.release'));
  let seat = null;
  const copy = h('button', { class: 'button small', type: 'button', hidden: true, on: {
    click: () => copyForEncoder(seat),
  } }, t('common.copyForEncoder'));
  const stepDown = h('button', { class: 'button small', type: 'button', hidden: true, on: {
    click: () => perform(stepDown, () => ask('POST', path('/mode'), { mode: 'RECV_ONLY' })),
  } }, t('hosts.stepDown'));
  const choices = ['priority', 'return_feed'].map((key) => {
    const input = h('input', { type: 'checkbox', on: {
      change: () => perform(input, () => ask('PUT', path('/sound'), { [key]: input.checked })),
    } });
    return { key, input, element: h('label', { class: 'switch' }, input, t(`hosts.choices.${key}`)) };
  });
  const copyReturn = h('button', { class: 'button small', type: 'button', hidden: true, on: {
    click: () => perform(copyReturn, () => copyReturnFeed(room, seat)),
  } }, t('hosts.copyReturnFeed'));
  const avatar = h('select', { class: 'pick', on: {
    change: () => perform(avatar, () => ask('PATCH', path(), { avatar: avatar.value || null })),
  } }, fixedOption('', t('hosts.initials')));
  const jitter = h('input', { class: 'field', type: 'number', min: 60, max: 2000, placeholder: t('hosts.jitterUsual'), on: {
    change: () => {
      if (!jitter.reportValidity()) return;
      perform(jitter, () => ask('PUT', path('/sound'), { jitter_target: jitter.value ? Number(jitter.value) : null }));
    },
  } });
  const more = h('details', { class: 'more' }, h('summary', {}, t('hosts.more')),
    h('div', { class: 'host-more' }, ...choices.map(({ element }) => element), h('div', {}, copyReturn),
      labelled(t('hosts.avatar'), avatar), labelled(t('hosts.jitter'), jitter)));
  const gain = h('input', { type: 'range', min: -60, max: 12, step: 1, class: 'gain', on: {
    input: () => setText(gainText, gainWords(Number(gain.value))),
    change: () => perform(gain, () => ask('PUT', path('/sound'), { gain_db: Number(gain.value) })),
  } });
  const gainText = h('span', { class: 'soft decibels' });
  const actions = h('div', { class: 'host-actions' },
    h('label', { class: 'gain-label' }, h('span', { class: 'soft' }, t('hosts.gain')), gain, gainText), pinning, ...moves, copy, release, stepDown, removal);
  const row = h('li', { class: 'host' }, picture.element,
    h('div', { class: 'host-head' }, name, identity, crown, pin, h('span', { class: 'spacer' }), state),
    h('div', { class: 'host-body' }, finding,
      h('div', { class: 'host-tracks' }, ...switches.map(({ element }) => element), level, decibels),
      mayCommand ? actions : null, discarded, mayCommand ? more : null, details));
  row.place = (place, count) => {
    show(moves[0], place > 0);
    show(moves[1], place < count - 1);
  };
  row.look = async () => {
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
  row.diagnose = (found, nameOf) => {
    // "Backstage" is true of everyone, and stands at the head of the page.
    const causes = [found?.sound && worded(found.sound, host, 'mic', nameOf),
      found?.video && worded(found.video, host, videoOf(host), nameOf)]
      .filter((one) => one && !['none', 'backstage'].includes(one.cause));
    const apart = causes.filter(({ message }, place) => causes.findIndex((one) => one.message === message) === place);
    keyed(finding, apart, ({ message }) => message, ({ message, advice }) => h('li', {},
      h('strong', {}, advice ? `${message}.` : message), advice ? h('span', { class: 'soft' }, ` ${advice}.`) : null), () => undefined);
    row.dataset.cause = apart[0]?.cause ?? '';
  };
  row.update = (next) => {
    const isNew = host === null;
    host = next;
    if (isNew) row.look();
    setText(name, host.display_name || host.identity);
    picture.update(host.display_name || host.identity);
    setText(identity, host.display_name && host.display_name !== host.identity ? host.identity : '');
    state.className = `badge ${tones[host.status] ?? ''}`;
    setText(state, wordOf('hosts.states', host.status));
    show(crown, host.is_dominant_speaker);
    show(pin, Boolean(host.pin));
    row.classList.toggle('speaking', Boolean(host.is_speaking));
    for (const one of switches) one.update(host.tracks.find(({ name: own }) => own === one.name));
    const loud = Math.max(quietest, host.audio_level ?? quietest);
    meter.style.width = `${(1 - loud / quietest) * 100}%`;
    level.setAttribute('aria-valuenow', Math.round(loud));
    setText(decibels, host.audio_level === null || loud <= quietest ? t('hosts.silent') : `${Math.round(loud)} dB`);
    setText(sync, timing(host));
    show(details, Boolean(host.sync));
    setText(pinning, t(host.pin ? 'hosts.unpin' : 'hosts.pin'));
    if (document.activeElement !== gain && !gain.disabled) {
      gain.value = host.sound?.gain_db ?? 0;
      setText(gainText, gainWords(Number(gain.value)));
    }
    show(release, Boolean(host.quarantined_until));
    for (const { key, input } of choices) {
      if (!input.disabled) input.checked = host.sound?.[key] ?? false;
    }
    show(copyReturn, seat !== null && Boolean(host.sound?.return_feed));
    if (document.activeElement !== jitter && !jitter.disabled) jitter.value = host.sound?.jitter_target ?? '';
    if (document.activeElement !== avatar && !avatar.disabled) chooseFile(avatar, host.avatar);
    const unpublished = host.discarded ?? [];
    show(discarded, unpublished.length > 0);
    const sent = unpublished.map((track) => wordOf('hosts.tracks', track)).join(t('hosts.and'));
    setText(discarded, t('hosts.discarded', { tracks: sent }));
  };
  return row;
}

/** A gain in words: all the way down is off. */
function gainWords(decibels) {
  return decibels <= quietest ? t('hosts.off') : `${decibels > 0 ? '+' : ''}${decibels} dB`;
}

function trackSwitch(name, mayCommand, change) {
  const word = h('span', {});
  const element = h('button', { class: 'track', type: 'button' }, icon(name), word);
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
      const words = `${t(`hosts.tracks.${name}`)}: ${wordOf('hosts.media', state)}${size}`;
      const [off, on] = name === 'mic' ? ['hosts.mute', 'hosts.unmute'] : ['hosts.hide', 'hosts.show'];
      setText(word, mayCommand && track !== null ? t(track.enabled ? off : on) : '');
      if (element.title !== words) {
        element.title = words;
        element.setAttribute('aria-label', word.textContent ? `${word.textContent}. ${words}` : words);
      }
    },
  };
}

/** The track whose picture a diagnosis is about: the camera, or what is shared without it. */
const videoOf = ({ is_camera_on: isOn, tracks: own }) =>
  (isOn || !own.some(({ name, published }) => name === 'screen' && published) ? 'camera' : 'screen');

/** A finding with the words of the page, or those of the gateway for a cause that the page does not know. */
function worded({ cause, message, advice, by: actor, other_host: other }, host, track, nameOf) {
  const by = actor ?? (other ? nameOf(other) : null);
  const until = host.quarantined_until ? Date.parse(host.quarantined_until) : 0;
  const seconds = Math.max(1, Math.ceil((until - Date.now()) / 1000));
  const values = { name: host.display_name || host.identity, device: t(`diagnosis.devices.${track}`), by, seconds };
  return {
    cause, message: wordOf('diagnosis.causes', by ? `${cause}_by` : cause, message, values),
    advice: wordOf('diagnosis.advice', cause, advice, values),
  };
}

/** How a host's media keeps time, in words. */
function timing({ sync }) {
  if (!sync) return '';
  const [offset, drift, buffer] = [sync.offset_ms, sync.drift_ppm, sync.buffer_ms].map(Math.round);
  const counts = ['late', 'duplicated', 'dropped'].filter((key) => sync[key] > 0);
  return [t('hosts.sync', { offset, drift, buffer }), ...counts.map((key) => t(`hosts.counts.${key}`, { count: sync[key] }))].join(' · ');
}
