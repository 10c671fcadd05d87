// A secret that the gateway tells only once, with a button that copies it.

import { h, setText, show } from '../shared/element.js';
import { t } from '../texts/dashboard-texts.js';
import { copy } from './toast.js';

/** A place for a secret: `present` shows one until it is put away. */
export function onceShown() {
  const title = h('p', { class: 'name' });
  const secret = h('code', { class: 'secret' });
  const hide = () => {
    setText(secret, '');
    show(element, false);
  };
  const copying = h('button', { class: 'button main', type: 'button', on: { click: async () => {
    if (!await copy(secret.textContent, t('common.copied'), t('secret.noCopy'))) getSelection().selectAllChildren(secret);
  } } }, t('secret.copy'));
  const close = h('button', { class: 'button', type: 'button', on: { click: hide } }, t('secret.close'));
  const element = h('div', { class: 'notice once', hidden: true, tabindex: -1 }, title, secret,
    h('p', { class: 'soft hint' }, t('secret.once')), h('div', { class: 'buttons' }, copying, close));
  return {
    element,
    present(text, value) {
      setText(title, text);
      setText(secret, value);
      show(element, true);
      element.focus();
    },
  };
}
