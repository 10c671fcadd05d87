// Arranges the stage: what it would look like is shown before it is done.

import { h, labelled, setText, show } from '../shared/element.js';
import { t } from '../texts/dashboard-texts.js';
import { ask, roomPath } from './api.js';
import { layoutPreview } from './layout-preview.js';
import { perform, toast } from './toast.js';

const upToTwelve = Array.from({ length: 12 }, (_, n) => n + 1);
const choices = [
  { key: 'priority', values: ['SPEAKER', 'PIN'] },
  { key: 'orientation', values: ['landscape', 'portrait'] },
  { key: 'scale_mode', values: ['fill', 'fit'] },
  { key: 'theme', values: ['DEFAULT', 'DARK', 'LIGHT'] },
  { key: 'grid_size', values: upToTwelve, isNumber: true },
  { key: 'large_scale_mode', values: ['fit', 'fill'], of: 'SIDEBAR' },
  { key: 'strip_size', values: upToTwelve, isNumber: true, of: 'SIDEBAR' },
];
const types = ['GRID', 'SPOTLIGHT', 'SIDEBAR'];
const switches = ['auto_switch_on_screen_share', 'name', 'mic'];
const previewAfter = 120;

/** A panel for a room; without `mayCommand` it only shows. */
export function layoutPanel(room, { mayCommand }) {
  const preview = layoutPreview();
  const state = h('span', { class: 'badge' });
  let onAir = null;
  let draft = null;
  let timer = null;

  const typeButtons = types.map((value) => h('button', {
    type: 'button', 'aria-pressed': 'false', value, disabled: !mayCommand, on: { click: () => change({ type: value }) },
  }, t(`layout.types.${value}`)));
  const picks = choices.map(({ key, values, isNumber, of }) => {
    const select = h('select', { class: 'pick', disabled: !mayCommand, on: {
      change: () => change({ [key]: isNumber ? Number(select.value) : select.value }),
    } }, ...values.map((value) => h('option', { value }, isNumber ? String(value) : t(`layout.choices.${key}.${value}`))));
    return { key, select, of, element: labelled(t(`layout.choices.${key}.label`), select) };
  });
  const boxes = switches.map((key) => {
    const input = h('input', { type: 'checkbox', disabled: !mayCommand, on: {
      change: () => change(key in (draft?.overlays ?? {})
        ? { overlays: { ...draft.overlays, [key]: input.checked } } : { [key]: input.checked }),
    } });
    return { key, input, element: h('label', { class: 'switch' }, input, t(`layout.switches.${key}`)) };
  });
  const apply = h('button', { class: 'button main', type: 'button', on: {
    click: () => perform(apply, async () => take(await ask('PUT', roomPath(room, '/layout'), body(draft))), t('layout.taken')),
  } }, t('layout.take'));
  const discard = h('button', { class: 'button', type: 'button', on: { click: () => take(onAir) } }, t('layout.discard'));
  const actions = h('div', { class: 'buttons', hidden: true }, apply, discard);
  const element = h('section', { class: 'card layout', 'aria-labelledby': 'layout-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'layout-title' }, t('layout.title')), h('span', { class: 'spacer' }), state),
    h('div', { class: 'layout-body' }, preview.element,
      h('div', { class: 'layout-controls' },
        h('div', { class: 'segments', role: 'group', 'aria-label': t('layout.arrangement') }, ...typeButtons),
        h('div', { class: 'choices' }, ...picks.map((one) => one.element)),
        h('div', { class: 'switches' }, ...boxes.map((one) => one.element)), actions)));

  function change(part) {
    if (!draft) return;
    draft = { ...draft, ...part };
    showDraft();
    clearTimeout(timer);
    timer = setTimeout(tryIt, previewAfter);
  }

  async function tryIt() {
    const asked = draft;
    try {
      const answer = await ask('POST', roomPath(room, '/layout/preview'), { layout: body(asked) });
      if (draft === asked) preview.update(answer);
    } catch (error) {
      toast(error.message, { isError: true });
    }
  }

  function take(layout) {
    onAir = layout;
    draft = layout;
    preview.update(layout);
    showDraft();
  }

  function showDraft() {
    const isChanged = !isSame(draft, onAir);
    state.className = `badge ${isChanged ? 'warn' : 'good'}`;
    setText(state, t(isChanged ? 'layout.preview' : 'layout.onAir'));
    show(actions, isChanged);
    for (const button of typeButtons) button.setAttribute('aria-pressed', String(button.value === draft.type));
    for (const { key, select, of, element: field } of picks) {
      select.value = String(draft[key]);
      show(field, !of || of === draft.type);
    }
    for (const { key, input } of boxes) input.checked = draft[key] ?? draft.overlays?.[key] ?? false;
  }

  return {
    element,
    /** The layout that is on air; a change that is being tried stays. */
    update(layout) {
      if (!layout || layout === onAir) return;
      if (onAir === null || isSame(draft, onAir)) return take(layout);
      onAir = layout;
      showDraft();
      clearTimeout(timer);
      timer = setTimeout(tryIt, previewAfter);
    },
    close: () => clearTimeout(timer),
  };
}

const bodyKeys = ['type', ...choices.map(({ key }) => key), 'auto_switch_on_screen_share', 'overlays'];

function body(layout) {
  return Object.fromEntries(bodyKeys.map((key) => [key, layout[key]]));
}

const isSame = (one, other) => JSON.stringify(body(one)) === JSON.stringify(body(other));
