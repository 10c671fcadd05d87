// Keys that direct a show. They count only while nothing on the page has the focus, so that none is typed by mistake.

const place = 'footlight.keys';
const takesKeys = 'a, button, input, select, textarea, summary, video, audio, [contenteditable]';

/** Whether keys direct a show in this browser; they do unless they were turned off. */
export function areKeysOn() {
  try {
    return localStorage.getItem(place) !== 'off';
  } catch {
    return true;
  }
}

/** Turns the keys on or off. */
export function turnKeys(isOn) {
  try {
    localStorage.setItem(place, isOn ? 'on' : 'off');
  } catch {
    // Without storage the choice holds for this page only.
  }
}

/** Whether a key is pressed while nothing on the page has the focus. */
export const isForPage = ({ target }) => !target.closest?.(takesKeys);

/**
 * Listens to the keys.
 *
 * @param act Called with `take` and a number from 0, `next`, or `back`; says whether keys count now.
 * @returns What ends it.
 */
export function sceneKeys(act) {
  const press = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.defaultPrevented) return;
    if (!isForPage(event)) return;
    const isDone = /^[1-9]$/.test(event.key) ? act('take', Number(event.key) - 1)
      : event.key === ' ' ? act('next') : ['Backspace', 'ArrowLeft'].includes(event.key) ? act('back') : false;
    // The space bar would scroll the page otherwise.
    if (isDone) event.preventDefault();
  };
  addEventListener('keydown', press);
  return () => removeEventListener('keydown', press);
}
