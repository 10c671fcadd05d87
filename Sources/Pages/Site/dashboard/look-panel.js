// The look of a show: logo, background, slates and poster, of its files.

import { h, labelled, setText, show as setShown } from '../shared/element.js';
import { t } from '../texts/dashboard-texts.js';
import { ask, roomPath } from './api.js';
import { byName, chooseFile, fixedOption, offerFiles } from './file-choice.js';
import { perform } from './toast.js';

const corners = ['top_left', 'top_right', 'bottom_left', 'bottom_right'];
const slates = ['starting_soon', 'be_right_back', 'ended'];
const slateName = (key) => t(`look.slates.${key}`);

/** A panel for a show; without `mayCommand` it only shows. */
export function lookPanel({ base, room, mayCommand }) {
  const disabled = !mayCommand;
  const images = [];
  const sounds = [];
  const pick = (name, group, none, ...further) => {
    const select = h('select', { class: 'pick', name, disabled }, fixedOption('', none), ...further);
    group.push(select);
    return select;
  };
  const logo = pick('logo', images, t('look.none'));
  const corner = h('select', { class: 'pick', name: 'corner', disabled },
    ...corners.map((value) => h('option', { value }, t(`look.corners.${value}`))));
  const height = h('input', { class: 'field', name: 'height', type: 'number', min: 2, max: 50, required: true, disabled });
  const background = pick('background', images, t('look.themeColour'), fixedOption('colour', t('look.aColour')));
  const colour = h('input', { class: 'field', name: 'colour', type: 'color', value: '#102030', disabled });
  const colourField = labelled(t('look.colour'), colour);
  const poster = pick('poster', images, t('look.none'));
  const parts = slates.map((key) => {
    const text = h('input', { class: 'field', name: `${key}-text`, maxlength: 500, autocomplete: 'off', disabled,
      placeholder: t('look.usualText') });
    const image = pick(`${key}-image`, images, t('look.usualImage'));
    const music = pick(`${key}-music`, sounds, t('look.silence'));
    return { key, text, image, music, element: h('fieldset', { class: 'look-group' }, h('legend', {}, t('look.slate', { slate: slateName(key) })),
      labelled(t('look.text'), text), labelled(t('look.image'), image), labelled(t('look.music'), music)) };
  });
  const everywhere = h('input', { type: 'checkbox', checked: true, disabled });
  const everywhereField = h('label', { class: 'switch', hidden: true }, everywhere, t('look.inScenes'));
  const save = h('button', { class: 'button main', type: 'submit' }, t('look.save'));
  const note = h('span', { class: 'soft hint' });
  let isDirty = false;
  let show = null;
  let onAir = null;
  const form = h('form', { class: 'look', on: {
    input: () => {
      isDirty = true;
      tell();
    },
    submit: (event) => {
      event.preventDefault();
      perform(save, async () => {
        const look = chosen();
        // First where it can be refused, because a file is missing.
        if (onAir) await ask('PUT', roomPath(room, '/layout'), look);
        const change = { poster: poster.value || null, room: { layout: look } };
        if (everywhere.checked && show.scenes?.length > 0) {
          const { scenes } = await ask('GET', base);
          change.scenes = scenes.map((scene) => ({
            name: scene.name, layout: { ...scene.layout, logo: look.logo, background: look.background },
          }));
        }
        await ask('PATCH', base, change);
        isDirty = false;
        tell();
      }, t('common.saved'));
    },
  } },
  h('fieldset', { class: 'look-group' }, h('legend', {}, t('look.logo')), labelled(t('look.image'), logo),
    labelled(t('look.place'), corner), labelled(t('look.height'), height)),
  h('fieldset', { class: 'look-group' }, h('legend', {}, t('look.backgroundAndPoster')), labelled(t('look.background'), background),
    colourField, labelled(t('look.poster'), poster)),
  ...parts.map((one) => one.element),
  mayCommand ? h('div', { class: 'buttons' }, save, everywhereField, note) : null);
  const element = h('section', { class: 'card', 'aria-labelledby': 'look-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'look-title' }, t('look.title'))), form);

  /** What the form says, in the layout's fields. */
  function chosen() {
    const { logo: former } = layout();
    return {
      logo: logo.value
        ? { ...former, image: logo.value, position: corner.value, height: Number(height.value) / 100 } : null,
      background: background.value === 'colour' ? { colour: colour.value }
        : background.value ? { image: background.value } : null,
      slates: Object.fromEntries(parts.map(({ key, text, image, music }) => {
        const slate = { text: text.value.trim(), image: image.value, music: music.value };
        const set = Object.entries(slate).filter(([, value]) => value !== '');
        return [key, set.length > 0 ? Object.fromEntries(set) : null];
      })),
    };
  }

  const layout = () => onAir ?? show?.room.layout ?? {};

  function fill() {
    const present = layout();
    chooseFile(logo, present.logo?.image);
    corner.value = present.logo?.position ?? 'top_right';
    height.value = Math.round((present.logo?.height ?? 0.1) * 100);
    chooseFile(background, present.background?.colour ? 'colour' : present.background?.image);
    if (present.background?.colour) colour.value = present.background.colour;
    chooseFile(poster, show?.poster);
    for (const { key, text, image, music } of parts) {
      const slate = present.slates?.[key];
      text.value = slate?.text ?? '';
      chooseFile(image, slate?.image);
      chooseFile(music, slate?.music);
    }
    tell();
  }

  function tell() {
    setShown(colourField, background.value === 'colour');
    setShown(everywhereField, show?.scenes?.length > 0);
    setText(note, [isDirty ? t('look.unsaved') : '', t(onAir ? 'look.live' : 'look.later')].filter(Boolean).join(' '));
  }

  function refill() {
    // What is being chosen stays.
    if (show && !isDirty && !form.contains(document.activeElement)) fill();
  }

  return {
    element,
    /** Takes the show as it is. */
    update(next) {
      show = next;
      refill();
    },
    /** Takes the layout on air; null without an open episode. */
    air(next) {
      if (onAir === next) return;
      onAir = next;
      refill();
    },
    /** Takes the show's files. */
    offer(files) {
      for (const [group, kind] of [[images, 'image'], [sounds, 'sound']]) {
        const names = files.filter((file) => file.kind === kind).map(({ name }) => name);
        for (const select of group) offerFiles(select, names, select === poster ? '' : byName);
      }
      refill();
    },
  };
}

/** What the files of a show are used for, as words by their names. */
export function usesOf({ poster, room, scenes = [] }, onAir) {
  const uses = new Map();
  const note = (reference, words) => {
    if (!reference?.startsWith(byName)) return;
    const name = reference.slice(byName.length);
    uses.set(name, new Set([...uses.get(name) ?? [], words]));
  };
  if (poster) note(`${byName}${poster}`, t('look.uses.poster'));
  for (const layout of [room.layout, onAir, ...scenes.map((scene) => scene.layout)]) {
    note(layout?.logo?.image, t('look.uses.logo'));
    note(layout?.background?.image, t('look.uses.background'));
    for (const key of slates) {
      const slate = t('look.uses.slate', { slate: slateName(key) });
      note(layout?.slates?.[key]?.image, slate);
      note(layout?.slates?.[key]?.music, slate);
    }
  }
  return new Map([...uses].map(([name, words]) => [name, [...words].join(', ')]));
}
