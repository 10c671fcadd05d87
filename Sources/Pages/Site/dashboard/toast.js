// Short words about what came of a command.

import { h } from '../shared/element.js';
import { t } from '../texts/dashboard-texts.js';

const seconds = 6;

/** Shows a line for a while. */
export function toast(text, { isError = false } = {}) {
  const line = h('p', { class: isError ? 'toast bad' : 'toast' }, text);
  // What is outside an open dialog is behind it, and not read aloud.
  (document.querySelector('dialog[open] .toasts') ?? document.getElementById('toasts')).append(line);
  setTimeout(() => line.remove(), seconds * 1000);
}

/**
 * Copies a text, and says so.
 *
 * @param refused What to tell where the browser does not let a page copy, as in clear from another machine.
 * @returns Whether it is copied.
 */
export async function copy(text, said, refused) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    if (!copyInClear(text)) {
      toast(refused, { isError: true });
      return false;
    }
  }
  toast(said);
  return true;
}

/** Copies a text in a page that came without encryption, which has no clipboard of its own. */
function copyInClear(text) {
  const field = h('textarea', { class: 'copied', 'aria-hidden': 'true' });
  field.value = text;
  const { activeElement } = document;
  (document.querySelector('dialog[open]') ?? document.body).append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  activeElement?.focus();
  return isCopied;
}

/**
 * Runs a button's action: disables the button meanwhile, and shows an error.
 *
 * @param said What to tell when it is done; nothing when left out.
 */
export async function perform(button, work, said) {
  button.disabled = true;
  try {
    await work();
    if (said) toast(said);
  } catch (error) {
    toast(error.name === 'TimeoutError' ? t('common.noAnswer') : error.message, { isError: true });
  } finally {
    button.disabled = false;
  }
}
