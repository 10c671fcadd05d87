// What a show's program is made of, for its next episodes, and how its hosts are mixed, at once.

import { h, keyed, labelled, setText, show as setShown } from '../shared/element.js';
import { t } from '../texts/dashboard-texts.js';
import { ask, roomPath } from './api.js';
import { perform } from './toast.js';

/** The sizes that are offered, in pixels; another one that the API has set stays. */
const sizes = [[1920, 1080], [1280, 720], [854, 480], [640, 360], [1080, 1920], [720, 1280], [1080, 1080]];
const rates = ['24', '25', '29.97', '30', '50', '59.94', '60'];
const presets = ['ultrafast', 'superfast', 'veryfast', 'faster', 'fast', 'medium'];
/** The renditions that need no more than a name, with their sizes in landscape. */
const named = { '1080p': [1920, 1080], '720p': [1280, 720], '480p': [854, 480], '360p': [640, 360] };
const ducking = ['off', 'pinned', 'priority', 'both'];

/** A field with its label and a sentence that says what it costs. */
function explained(key, field) {
  const id = `hint-${key}`;
  field.setAttribute('aria-describedby', id);
  return h('div', { class: 'explained' }, labelled(t(`program.${key}`), field),
    h('p', { class: 'soft hint', id }, t(`program.hints.${key}`)));
}

const select = (options, disabled) => h('select', { class: 'pick', disabled },
  ...options.map(([value, text]) => h('option', { value }, text)));

/** Chooses a value, which may be one that is not offered. */
function choose(field, value, text = value) {
  if (![...field.options].some((option) => option.value === value)) field.append(h('option', { value }, text));
  field.value = value;
}

/** A card with a form that keeps what is written until it is saved. */
function settingsCard(id, { mayCommand, save, fill }, ...parts) {
  const button = h('button', { class: 'button main', type: 'submit' }, t('settings.save'));
  const status = h('p', { class: 'soft hint' });
  let isDirty = false;
  const form = h('form', { class: 'settings', on: {
    input: () => { isDirty = true; },
    submit: (event) => {
      event.preventDefault();
      perform(button, async () => {
        await save();
        isDirty = false;
      }, t('common.saved'));
    },
  } }, status, ...parts, mayCommand ? h('div', { class: 'buttons' }, button) : null);
  const element = h('section', { class: 'card', 'aria-labelledby': `${id}-title` },
    h('div', { class: 'card-head' }, h('h2', { id: `${id}-title` }, t(`program.${id}Title`))), form);
  return {
    element,
    update(show) {
      setText(status, t(`program.${id}${show.current ? 'Open' : 'Closed'}`));
      if (!isDirty && !form.contains(document.activeElement)) fill(show);
    },
  };
}

/** A form for the size, the rates and the renditions of the program, and for how many take part. */
export function programPanel({ base, mayCommand }) {
  const disabled = !mayCommand;
  const number = (properties) => h('input', { class: 'field', type: 'number', required: true, disabled, ...properties });
  const size = select(sizes.map(([width, height]) => [`${width}x${height}`, sizeWords(width, height)]), disabled);
  const rate = select(rates.map((value) => [value, t('program.perSecond', { count: Number(value) })]), disabled);
  const bitrate = number({ min: 10, max: 10_000, required: false, placeholder: t('program.suits') });
  const audio = number({ min: 10, max: 320 });
  const preset = select(presets.map((name) => [name, name]), disabled);
  const keys = number({ min: 1, max: 10 });
  const hosts = number({ min: 1, max: 50 });
  const audience = number({ min: 1, max: 1_000_000, required: false, placeholder: t('program.noLimit') });
  const list = h('div', { class: 'switches' });
  const audioOnly = h('input', { type: 'checkbox', disabled });
  let program = null;
  let wanted = new Set();

  const chosen = () => size.value.split('x').map(Number);
  const isAsBefore = () => size.value === `${program.width}x${program.height}` && rate.value === String(program.fps);
  const ownNames = () => (isAsBefore() ? program.renditions ?? [] : []).map(({ name }) => name);
  const drawRenditions = () => {
    const [width, height] = chosen();
    const fitting = Object.entries(named).filter(([, [long, short]]) => {
      const [w, h] = height > width ? [short, long] : [long, short];
      return w <= width && h <= height && w * h < width * height;
    }).map(([name]) => name);
    const names = [...fitting, ...ownNames().filter((name) => !fitting.includes(name))];
    keyed(list, names, (name) => name, (name) => {
      const input = h('input', { type: 'checkbox', disabled, on: {
        change: () => (input.checked ? wanted.add(name) : wanted.delete(name)),
      } });
      return h('label', { class: 'switch' }, input, name);
    }, (row, name) => { row.querySelector('input').checked = wanted.has(name); });
  };
  for (const field of [size, rate]) {
    field.addEventListener('change', () => {
      // What suits the new size.
      bitrate.value = isAsBefore() ? program.video_bitrate : '';
      drawRenditions();
    });
  }

  /** The renditions as the API takes them: those that stay with their own values, others by name. */
  const renditions = () => [...list.children].map(({ dataset }) => dataset.key).filter((name) => wanted.has(name))
    .map((name) => (isAsBefore() && program.renditions?.find((one) => one.name === name)) || { name });

  const card = settingsCard('program', {
    mayCommand,
    async save() {
      const [width, height] = chosen();
      const smaller = renditions();
      const next = {
        width, height, fps: /^[\d.]+$/.test(rate.value) ? Number(rate.value) : rate.value,
        audio_bitrate: Number(audio.value), preset: preset.value, key_interval: Number(keys.value),
        jitter_target: program.jitter_target, audio_only: audioOnly.checked,
        ...(bitrate.value ? { video_bitrate: Number(bitrate.value) } : {}),
        ...(smaller.length > 0 ? { renditions: smaller } : {}),
      };
      const { room } = await ask('PATCH', base, { room: {
        program: next, max_hosts: Number(hosts.value), max_audience: audience.value ? Number(audience.value) : null,
      } });
      fill({ room });
    },
    fill,
  },
  h('div', { class: 'explained-fields' }, explained('size', size), explained('rate', rate),
    explained('bitrate', bitrate), explained('preset', preset)),
  h('fieldset', { class: 'days', 'aria-describedby': 'hint-renditions' },
    h('legend', { class: 'soft' }, t('program.renditions')), list,
    h('label', { class: 'switch' }, audioOnly, t('program.audioOnly'))),
  h('p', { class: 'soft hint', id: 'hint-renditions' }, t('program.hints.renditions')),
  h('div', { class: 'explained-fields' }, explained('audio', audio), explained('keys', keys),
    explained('hosts', hosts), explained('audience', audience)));

  function fill({ room }) {
    ({ program } = room);
    choose(size, `${program.width}x${program.height}`, sizeWords(program.width, program.height));
    choose(rate, String(program.fps));
    bitrate.value = program.video_bitrate;
    audio.value = program.audio_bitrate;
    choose(preset, program.preset);
    keys.value = program.key_interval;
    hosts.value = room.max_hosts;
    audience.value = room.max_audience ?? '';
    wanted = new Set((program.renditions ?? []).map(({ name }) => name));
    audioOnly.checked = Boolean(program.audio_only);
    drawRenditions();
  }

  return card;
}

/** A form for how the hosts are mixed; what is saved is on air at once. */
export function mixPanel({ base, name, mayCommand }) {
  const disabled = !mayCommand;
  const jitter = h('input', { class: 'field', type: 'number', min: 60, max: 2000, disabled });
  const levelling = h('input', { type: 'checkbox', disabled, 'aria-describedby': 'hint-levelling' });
  const duck = select(ducking.map((value) => [value, t(`program.ducking.${value}`)]), disabled);
  const depth = h('input', { class: 'field', type: 'number', min: -30, max: 0, step: 'any', required: true, disabled });
  let isOpen = false;
  return settingsCard('mix', {
    mayCommand,
    async save() {
      const sound = {
        jitter_target: jitter.value ? Number(jitter.value) : null, levelling: levelling.checked, duck: duck.value,
        duck_db: Number(depth.value),
      };
      if (isOpen) await ask('PUT', roomPath(name, '/sound'), sound);
      await ask('PATCH', base, { room: { sound } });
    },
    fill({ room: { sound, program }, current }) {
      isOpen = Boolean(current);
      jitter.placeholder = String(program.jitter_target);
      jitter.value = sound.jitter_target ?? '';
      levelling.checked = sound.levelling;
      choose(duck, sound.duck);
      depth.value = sound.duck_db;
    },
  },
  h('div', { class: 'explained-fields' }, explained('jitter', jitter), explained('duck', duck), explained('depth', depth)),
  h('div', { class: 'explained' }, h('label', { class: 'switch' }, levelling, t('program.levelling')),
    h('p', { class: 'soft hint', id: 'hint-levelling' }, t('program.hints.levelling'))));
}

/** A size in pixels, and what it suits. */
function sizeWords(width, height) {
  const shape = width === height ? 'square' : width < height ? 'portrait' : 'landscape';
  return t(`program.shapes.${shape}`, { size: `${width}×${height}` });
}
