// Light, dark, or as the system has it.

import { icon } from '../shared/element.js';

const key = 'footlight.theme';

function stored() {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Applies what was chosen last. */
export function applyTheme() {
  const theme = stored();
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
}

/** Makes a button switch the theme; `onChange` is called after each change, including the system's. */
export function themeSwitch(button, onChange) {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  button.append(icon('sun'));
  button.addEventListener('click', () => {
    const isDark = (document.documentElement.dataset.theme ?? (dark.matches ? 'dark' : 'light')) === 'dark';
    const theme = isDark ? 'light' : 'dark';
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem(key, theme);
    } catch {
      // It holds until the page is left.
    }
    onChange();
  });
  dark.addEventListener('change', onChange);
}
