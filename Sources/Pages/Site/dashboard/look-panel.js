// The look of a show: logo, background, slates and poster, of its files.

import { h, labelled, setText, show as setShown } from '../shared/element.js';
import { ask, roomPath } from './api.js';
import { byName, chooseFile, fixedOption, offerFiles } from './file-choice.js';
import { perform } from './toast.js';

const corners = [['top_left', 'Top left'], ['top_right', 'Top right'], ['bottom_left', 'Bottom left'],
  ['bottom_right', 'Bottom right']];
const slates = [['starting_soon', 'Starting soon'], ['be_right_back', 'Be right back'], ['ended', 'Ended']];

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
  const logo = pick('logo', images, 'None');
  const corner = h('select', { class: 'pick', name: 'corner', disabled },
    ...corners.map(([value, text]) => h('option', { value }, text)));
  const height = h('input', { class: 'field', name: 'height', type: 'number', min: 2, max: 50, required: true, disabled });
  const background = pick('background', images, 'Colour of the theme', fixedOption('colour', 'A colour'));
  const colour = h('input', { class: 'field', name: 'colour', type: 'color', value: '#102030', disabled });
  const colourField = labelled('Colour', colour);
  const poster = pick('poster', images, 'None');
  const parts = slates.map(([key, title]) => {
    const text = h('input', { class: 'field', name: `${key}-text`, maxlength: 500, autocomplete: 'off', disabled,
      placeholder: 'The usual words' });
    const image = pick(`${key}-image`, images, 'The background');
    const music = pick(`${key}-music`, sounds, 'Silence');
    return { key, text, image, music, element: h('fieldset', { class: 'look-group' }, h('legend', {}, `Slate: ${title}`),
      labelled('Text', text), labelled('Image', image), labelled('Music', music)) };
  });
  const everywhere = h('input', { type: 'checkbox', checked: true, disabled });
  const everywhereField = h('label', { class: 'switch', hidden: true }, everywhere, 'In the saved scenes, too');
  const save = h('button', { class: 'button main', type: 'submit' }, 'Save look');
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
      }, 'Saved');
    },
  } },
  h('fieldset', { class: 'look-group' }, h('legend', {}, 'Logo'), labelled('Image', logo), labelled('Place', corner),
    labelled('Height, % of the picture', height)),
  h('fieldset', { class: 'look-group' }, h('legend', {}, 'Background and poster'), labelled('Behind the hosts', background),
    colourField, labelled('Poster for early viewers', poster)),
  ...parts.map((one) => one.element),
  mayCommand ? h('div', { class: 'buttons' }, save, everywhereField, note) : null);
  const element = h('section', { class: 'card', 'aria-labelledby': 'look-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'look-title' }, 'Look')), form);

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
    setText(note, `${isDirty ? 'Not saved yet. ' : ''}${onAir ? 'What you save is on air at once, and in every later episode.'
      : 'What you save holds for every episode.'}`);
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
  if (poster) note(`${byName}${poster}`, 'poster');
  for (const layout of [room.layout, onAir, ...scenes.map((scene) => scene.layout)]) {
    note(layout?.logo?.image, 'logo');
    note(layout?.background?.image, 'background');
    for (const [key, title] of slates) {
      note(layout?.slates?.[key]?.image, `slate ${title}`);
      note(layout?.slates?.[key]?.music, `slate ${title}`);
    }
  }
  return new Map([...uses].map(([name, words]) => [name, [...words].join(', ')]));
}
