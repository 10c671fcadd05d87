// A choice of one of a show's files.

import { h } from '../shared/element.js';

/** What precedes the name of a file in a layout. */
export const byName = 'asset:';

/** An option that is offered whatever files there are. */
export const fixedOption = (value, text) => h('option', { value, 'data-fixed': true }, text);

/** Offers files by their names after the fixed options, and keeps what is chosen. */
export function offerFiles(select, names, prefix = byName) {
  const { value } = select;
  for (const option of [...select.options]) if (!('fixed' in option.dataset)) option.remove();
  select.append(...names.map((name) => h('option', { value: `${prefix}${name}` }, name)));
  chooseFile(select, value);
}

/** Chooses a file, which may be one that is not offered: an address, or a file that is gone. */
export function chooseFile(select, reference) {
  const value = reference ?? '';
  if (![...select.options].some((option) => option.value === value)) {
    select.append(h('option', { value }, value.startsWith(byName) ? value.slice(byName.length) : value));
  }
  if (select.value !== value) select.value = value;
}
