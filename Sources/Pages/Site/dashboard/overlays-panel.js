// What lies over the program: the lower third and the ticker.

import { h, labelled, setText, show } from '../shared/element.js';
import { t } from '../texts/dashboard-texts.js';
import { ask, roomPath } from './api.js';
import { perform } from './toast.js';

/** A panel for a room; without `mayCommand` it only shows. */
export function overlaysPanel(room, { mayCommand }) {
  const lowerThird = overlay(t('overlays.lowerThird'), [
    { name: 'title', label: t('overlays.heading'), required: true, maxlength: 500 },
    { name: 'subtitle', label: t('overlays.subtitle'), maxlength: 500 },
  ], ({ title, subtitle }) => ({ lower_third: { title, ...(subtitle ? { subtitle } : {}) } }), { lower_third: null });
  const ticker = overlay(t('overlays.ticker'), [
    { name: 'text', label: t('overlays.text'), required: true, maxlength: 2000 },
  ], ({ text }) => ({ ticker: { text } }), { ticker: null });
  const element = h('section', { class: 'card overlays', 'aria-labelledby': 'overlays-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'overlays-title' }, t('overlays.title'))),
    lowerThird.element, ticker.element);

  function overlay(title, fields, body, none) {
    const state = h('span', { class: 'badge live', hidden: true }, t('overlays.shown'));
    const inputs = fields.map(({ name, label, ...rest }) => {
      const input = h('input', { class: 'field', name, disabled: !mayCommand, autocomplete: 'off', ...rest });
      return { name, input, element: labelled(label, input) };
    });
    const put = h('button', { class: 'button main', type: 'submit' }, t('overlays.show'));
    const hide = h('button', { class: 'button', type: 'button', hidden: true, on: {
      click: () => perform(hide, () => ask('PUT', roomPath(room, '/layout'), none)),
    } }, t('overlays.hide'));
    const form = h('form', { class: 'overlay', on: { submit: (event) => {
      event.preventDefault();
      const values = Object.fromEntries(inputs.map(({ name, input }) => [name, input.value.trim()]));
      perform(put, () => ask('PUT', roomPath(room, '/layout'), body(values)));
    } } },
    h('div', { class: 'host-head' }, h('h3', {}, title), state),
    h('div', { class: 'overlay-fields' }, ...inputs.map((one) => one.element)),
    mayCommand ? h('div', { class: 'buttons' }, put, hide) : null);
    let last = null;
    return {
      element: form,
      update(value) {
        show(state, Boolean(value));
        show(hide, Boolean(value));
        setText(put, t(value ? 'overlays.change' : 'overlays.show'));
        // What is being written stays, unless somebody else has shown another text.
        const text = JSON.stringify(value ?? null);
        if (value && text !== last) {
          for (const { name, input } of inputs) if (document.activeElement !== input) input.value = value[name] ?? '';
        }
        last = text;
      },
    };
  }

  return {
    element,
    update(layout) {
      if (!layout) return;
      lowerThird.update(layout.lower_third);
      ticker.update(layout.ticker);
    },
  };
}
