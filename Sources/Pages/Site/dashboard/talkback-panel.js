// The talkback: who directs the show speaks to hosts in their return feeds, and the audience does not hear it.

import { h, icon, keyed, setText, show } from '../shared/element.js';
import { marked } from '../shared/texts.js';
import { t, wordOf } from '../texts/dashboard-texts.js';
import { ask, roomPath } from './api.js';
import { poll } from './poll.js';
import { areKeysOn, isForPage } from './scene-keys.js';
import { Microphone } from './talkback-microphone.js';
import { Talk, TalkSwitch } from './talkback-sender.js';

const key = 't';
/** Seconds to wait for an answer to a block. */
const longest = 3;
/** Milliseconds after a talk in which the gateway may still say that it goes on. */
const ownFor = 1500;

/** A panel for a room, for those who may command. */
export function talkbackPanel(room) {
  const path = (query = '') => roomPath(room, `/talkback${query}`);
  const badge = h('span', { class: 'badge', hidden: true });
  const word = h('span', {});
  const button = h('button', { class: 'button main talk', type: 'button', 'aria-pressed': 'false' }, icon('mic'), word);
  const latch = h('input', { type: 'checkbox', on: { change: () => talkSwitch.latch(latch.checked) } });
  const list = h('div', { class: 'switches' });
  const empty = h('p', { class: 'soft' }, t('talkback.noHosts'));
  const status = h('p', { class: 'soft', role: 'status' });
  const element = h('section', { class: 'card talkback', 'aria-labelledby': 'talkback-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'talkback-title' }, t('talkback.title')), h('span', { class: 'spacer' }), badge),
    h('div', { class: 'talk-row' }, button, h('label', { class: 'switch' }, latch, t('talkback.latch'))),
    h('fieldset', { class: 'talk-hosts' }, h('legend', {}, t('talkback.to')), list, empty),
    status, h('p', { class: 'soft talk-keys' }, ...marked(t('talkback.keysHint'))));
  let hosts = [];
  /** Who is not spoken to; everyone else is, whoever joins later too. */
  const leftOut = new Set();
  let talk = null;
  let other = null;
  let isOpening = false;
  // One speaker for the gateway, however often the button is pressed.
  const session = crypto.randomUUID?.() ?? String(Math.random()).slice(2);
  let sequence = 0;
  let endedAt = 0;

  const microphone = new Microphone({
    onBlock: (block) => talk?.push(block),
    onEnd: () => { if (!talkSwitch.isOn) finish(); },
    onLost: () => {
      microphone.close();
      talkSwitch.set(false);
      setText(status, t('talkback.microphone.NotFoundError'));
    },
  });
  const talkSwitch = new TalkSwitch((isOn) => (isOn ? begin() : end()));
  const nameOf = (identity) => hosts.find((host) => host.identity === identity)?.display_name || identity;
  const names = (identities) => identities.map(nameOf).join(', ');
  const chosen = () => hosts.map(({ identity }) => identity).filter((one) => !leftOut.has(one));

  async function begin() {
    isOpening = true;
    setText(status, '');
    draw();
    try {
      await microphone.open();
    } catch (error) {
      isOpening = false;
      talkSwitch.set(false);
      setText(status, wordOf('talkback.microphone', error.name, t('talkback.microphone.failed')));
      draw();
      return;
    }
    isOpening = false;
    // Let go while the browser asked about the microphone.
    if (!talkSwitch.isOn) return microphone.end();
    talk?.finish();
    const to = leftOut.size > 0 ? `&hosts=${chosen().map(encodeURIComponent).join(',')}` : '';
    talk = new Talk({
      post: (samples) => {
        sequence += 1;
        return ask('POST', path(`?session=${session}&sequence=${sequence}${to}`), samples, longest);
      },
      end: () => ask('DELETE', path(`?session=${session}`)),
      onState: ({ hosts: reached, unreachable }) => {
        if (!talkSwitch.isOn) return;
        setText(status, [
          reached.length > 0 ? t('talkback.reached', { names: names(reached) }) : t('talkback.reachedNone'),
          unreachable.length > 0 ? t('talkback.unreachable', { names: names(unreachable) }) : '',
        ].filter(Boolean).join(' '));
      },
      onFailure: (error) => {
        talk = null;
        talkSwitch.set(false);
        setText(status, wordOf('talkback.refusals', error.status, error.message));
        follow().catch(() => undefined);
      },
    });
    microphone.begin();
    draw();
  }

  function end() {
    endedAt = Date.now();
    setText(status, '');
    if (!isOpening) microphone.end();
    const ended = talk;
    // For a browser that sends no end.
    setTimeout(() => { if (talk === ended) finish(); else ended?.finish(); }, 500);
    draw();
  }

  function finish() {
    talk?.finish();
    talk = null;
    draw();
  }

  /** Asks who speaks, unless it is this page. */
  async function follow() {
    const isOwn = () => talk !== null || Date.now() - endedAt < ownFor;
    const { speaker } = isOwn() ? { speaker: null } : await ask('GET', path());
    other = isOwn() ? null : speaker;
    draw();
  }

  function draw() {
    const isOn = talkSwitch.isOn && !isOpening;
    button.setAttribute('aria-pressed', String(talkSwitch.isOn));
    button.classList.toggle('on', isOn);
    button.disabled = !talkSwitch.isOn && chosen().length === 0;
    setText(word, t(isOpening ? 'talkback.opening' : isOn ? (talkSwitch.isLatched ? 'talkback.stop' : 'talkback.speaking')
      : talkSwitch.isLatched ? 'talkback.speak' : 'talkback.hold'));
    show(badge, isOn || other !== null);
    badge.className = `badge ${isOn ? 'live' : 'warn'}`;
    setText(badge, isOn ? t('talkback.on') : other === null ? '' : t('talkback.taken', { name: other }));
    latch.disabled = talkSwitch.isOn && !talkSwitch.isLatched;
    show(empty, hosts.length === 0);
    keyed(list, hosts, ({ sid }) => sid, hostChoice, (choice, host) => choice.update(host));
  }

  function hostChoice({ identity }) {
    const input = h('input', { type: 'checkbox', checked: !leftOut.has(identity), on: { change: () => {
      if (input.checked) leftOut.delete(identity);
      else leftOut.add(identity);
      draw();
    } } });
    const name = h('span', {});
    const missing = h('span', { class: 'badge warn', hidden: true }, t('talkback.noReturnFeed'));
    const choice = h('label', { class: 'switch' }, input, name, missing);
    choice.update = (host) => {
      setText(name, host.display_name || host.identity);
      show(missing, !host.sound?.return_feed);
      // A talk keeps the hosts with whom it has begun.
      input.disabled = talkSwitch.isOn;
    };
    return choice;
  }

  button.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    button.setPointerCapture(event.pointerId);
    talkSwitch.press();
  });
  for (const name of ['pointerup', 'pointercancel']) button.addEventListener(name, () => talkSwitch.release());
  button.addEventListener('contextmenu', (event) => event.preventDefault());
  // A screen reader presses by a click alone, which it cannot hold.
  button.addEventListener('click', (event) => {
    if (event.detail === 0) talkSwitch.set(!talkSwitch.isOn);
  });
  const isKey = (event) => (event.key.toLowerCase() === key ? areKeysOn() && (event.target === button || isForPage(event))
    : event.target === button && [' ', 'Enter'].includes(event.key));
  const press = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !isKey(event)) return;
    if (button.disabled || !element.isConnected || element.closest('[hidden]')) return;
    // Nor does the button click, or the page scroll.
    event.preventDefault();
    if (!event.repeat) talkSwitch.press();
  };
  const lift = (event) => {
    if (![key, ' ', 'enter'].includes(event.key.toLowerCase())) return;
    // The space bar clicks a button when it is let go.
    if (event.target === button) event.preventDefault();
    talkSwitch.release();
  };
  const leave = () => talkSwitch.release();
  addEventListener('keydown', press);
  addEventListener('keyup', lift);
  addEventListener('blur', leave);
  const stop = poll(1, follow);
  draw();
  return {
    element,
    update(participants) {
      hosts = participants.filter(({ mode }) => mode === 'SEND_AND_RECV');
      draw();
    },
    close() {
      stop();
      talkSwitch.set(false);
      microphone.close();
      removeEventListener('keydown', press);
      removeEventListener('keyup', lift);
      removeEventListener('blur', leave);
    },
  };
}
