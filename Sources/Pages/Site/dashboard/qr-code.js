// A link as a QR code, for people who open it on a phone.

import { h, show, vector } from '../shared/element.js';
import { t } from '../texts/dashboard-texts.js';
import { copy } from './toast.js';

/** Modules of white around a code, by which readers find it. */
const margin = 4;

/** Whether the gateway's machine has the library for QR codes. */
const hasLibrary = () => Boolean(globalThis.qrcode);

/** Whether an address is of this machine alone, so that no phone can open it. */
const isLocal = (link) => ['localhost', '127.0.0.1', '[::1]'].includes(new URL(link).hostname);

/**
 * A button that opens a dialog with a link: as a code, and as text to copy.
 *
 * @param content What stands on the button.
 * @param title What the link is, in words: `title()`.
 * @param link Returns the link.
 * @param hint What to know before it is shown to somebody; nothing when left out.
 */
export function codeButton({ content = [t('code.show')], title, link, hint, kind = '' }) {
  return h('button', { class: `button ${kind}`, type: 'button', 'aria-haspopup': 'dialog', on: {
    click: () => present(title(), link(), hint),
  } }, ...content);
}

function present(title, link, hint) {
  const text = h('code', { class: 'secret' }, link);
  const close = h('button', { class: 'button', type: 'button', on: { click: () => dialog.close() } }, t('code.close'));
  const copying = h('button', { class: 'button main', type: 'button', on: {
    click: () => copy(link, t('common.copied'), t('common.noCopy')),
  } }, t('code.copy'));
  const local = h('p', { class: 'notice', hidden: true }, t('code.local'));
  const dialog = h('dialog', { class: 'code-dialog', 'aria-labelledby': 'code-title', on: {
    close: () => dialog.remove(),
    // A click beside the dialog is one on the dialog itself, which has no padding.
    click: (event) => { if (event.target === dialog) dialog.close(); },
  } }, h('div', { class: 'code-body' }, h('h2', { id: 'code-title' }, title),
    hasLibrary() ? picture(link, t('code.alternative', { title })) : null,
    text, hint ? h('p', { class: 'soft hint' }, hint) : null, local, h('div', { class: 'buttons' }, copying, close)),
  h('div', { class: 'toasts', role: 'status', 'aria-live': 'polite' }));
  show(local, isLocal(link));
  document.body.append(dialog);
  dialog.showModal();
}

/** The code of a text, black on white in every theme. */
function picture(text, alternative) {
  const library = globalThis.qrcode;
  library.stringToBytes = library.stringToBytesFuncs['UTF-8'];
  // The smallest size that holds the text; a seventh of the code may be dirty.
  const code = library(0, 'M');
  code.addData(text, 'Byte');
  code.make();
  const count = code.getModuleCount();
  let path = '';
  for (let row = 0; row < count; row += 1) {
    for (let column = 0; column < count; column += 1) {
      if (code.isDark(row, column)) path += `M${column + margin} ${row + margin}h1v1h-1z`;
    }
  }
  const side = count + 2 * margin;
  return vector('svg', {
    class: 'code', viewBox: `0 0 ${side} ${side}`, role: 'img', 'aria-label': alternative, 'shape-rendering': 'crispEdges',
  }, vector('rect', { width: side, height: side, fill: '#fff' }), vector('path', { d: path, fill: '#000' }));
}
