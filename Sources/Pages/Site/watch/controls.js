// Controls for playback, audio, quality and full screen, by pointer, touch and keyboard.

import { h, icon, setIcon } from '../shared/element.js';
import { t } from '../texts/watch-texts.js';
import { nameOf } from './renditions.js';

const idleAfter = 2500;

export class Controls {
  constructor({ stage, video, program }) {
    this.stage = stage;
    this.video = video;
    this.program = program;
    this.playButton = this.button('play', 'pause', () => this.togglePlay());
    this.muteButton = this.button('mute', 'muted', () => this.toggleMute());
    this.volume = h('input', {
      type: 'range', min: 0, max: 1, step: 0.05, class: 'volume', 'aria-label': t('player.volume'),
      on: { input: () => this.setVolume(Number(this.volume.value)) },
    });
    this.quality = h('select', {
      class: 'pick', 'aria-label': t('player.quality'), hidden: true,
      on: { change: () => program.pick(this.quality.value === '' ? null : Number(this.quality.value)) },
    });
    this.fullButton = this.button('full', 'fullscreen', () => this.toggleFullscreen());
    this.unmute = h('button', { class: 'unmute', type: 'button', on: { click: () => this.unmuteOnce() } },
      icon('muted'), h('span', {}, t('player.soundOn')));
    const bar = stage.querySelector('.bar');
    bar.prepend(this.playButton, this.muteButton, this.volume);
    bar.append(this.quality, this.fullButton);
    stage.append(this.unmute);
    video.volume = storedVolume();
    this.listen();
    this.update();
  }

  button(id, symbol, press) {
    return h('button', { class: 'control', id, type: 'button', on: { click: press } }, icon(symbol));
  }

  listen() {
    const { video, stage } = this;
    for (const event of ['play', 'pause', 'volumechange', 'playing']) {
      video.addEventListener(event, () => this.update());
    }
    this.program.addEventListener('renditions', () => this.offerRenditions());
    document.addEventListener('fullscreenchange', () => this.update());
    // A letter counts only while the player has the focus (WCAG 2.1.4): who dictates says many that are meant for nothing.
    stage.addEventListener('keydown', (event) => this.press(event));
    stage.addEventListener('pointerdown', ({ pointerType }) => {
      this.onlyWakes = pointerType === 'touch' && !stage.classList.contains('awake');
    }, { capture: true });
    // The first touch shows the controls, the next one uses them.
    video.addEventListener('click', () => { if (!this.onlyWakes) this.togglePlay(); });
    video.addEventListener('dblclick', () => this.toggleFullscreen());
    for (const event of ['pointermove', 'pointerdown', 'focusin', 'keydown']) {
      stage.addEventListener(event, () => this.wake());
    }
    this.wake();
  }

  /** Shows the bar for a while. */
  wake() {
    this.stage.classList.add('awake');
    clearTimeout(this.sleeping);
    this.sleeping = setTimeout(() => this.stage.classList.remove('awake'), idleAfter);
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { tagName } = event.target;
    if (tagName === 'SELECT' || tagName === 'A' || (tagName === 'BUTTON' && [' ', 'Enter'].includes(event.key))) return;
    if (tagName === 'INPUT' && event.key.startsWith('Arrow')) return;
    const actions = {
      ' ': () => this.togglePlay(), k: () => this.togglePlay(), m: () => this.toggleMute(),
      f: () => this.toggleFullscreen(), l: () => this.program.player?.goLive(),
      ArrowUp: () => this.setVolume(this.video.volume + 0.1), ArrowDown: () => this.setVolume(this.video.volume - 0.1),
    };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
    this.wake();
  }

  togglePlay() {
    if (this.video.paused) this.program.play();
    else this.video.pause();
  }

  toggleMute() {
    const { video } = this;
    video.muted = !video.muted;
    if (!video.muted && video.volume === 0) video.volume = 0.5;
    if (video.paused) this.program.play();
  }

  /** The button goes with the press; the focus stays in the player, and with it the keys. */
  unmuteOnce() {
    this.toggleMute();
    this.video.focus({ preventScroll: true });
  }

  setVolume(volume) {
    this.video.volume = Math.min(1, Math.max(0, volume));
    this.video.muted = this.video.volume === 0;
    try {
      localStorage.setItem('footlight.volume', String(this.video.volume));
    } catch {
      // Without storage the settings are not remembered.
    }
  }

  toggleFullscreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else if (this.stage.requestFullscreen) this.stage.requestFullscreen().catch(() => undefined);
    else this.video.webkitEnterFullscreen?.();
  }

  offerRenditions() {
    const { renditions, canPick } = this.program;
    this.quality.hidden = !canPick;
    if (!canPick) return;
    const options = renditions.all.map((variant, index) => h('option', { value: index }, nameOf(variant)));
    this.quality.replaceChildren(h('option', { value: '' }, t('player.auto')), ...options);
    this.quality.value = renditions.picked ? String(renditions.all.indexOf(renditions.picked)) : '';
  }

  update() {
    const { video } = this;
    const isSilent = video.muted || video.volume === 0;
    describe(this.playButton, video.paused ? 'play' : 'pause', t(video.paused ? 'player.play' : 'player.pause'));
    describe(this.muteButton, isSilent ? 'muted' : 'sound', t(isSilent ? 'player.soundOn' : 'player.soundOff'));
    const isFull = document.fullscreenElement !== null;
    describe(this.fullButton, isFull ? 'shrink' : 'fullscreen', t(isFull ? 'player.notFull' : 'player.full'));
    this.volume.value = isSilent ? 0 : video.volume;
    const canHear = ['playing', 'stalled', 'paused'].includes(this.program.state);
    this.unmute.hidden = !isSilent || !canHear;
    this.stage.classList.toggle('paused', video.paused);
  }
}

function describe(button, symbol, label) {
  setIcon(button, symbol);
  button.setAttribute('aria-label', label);
  button.title = label;
}

function storedVolume() {
  try {
    const volume = Number(localStorage.getItem('footlight.volume') ?? 1);
    return volume >= 0 && volume <= 1 ? volume : 1;
  } catch {
    return 1;
  }
}
