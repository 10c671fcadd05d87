// A table of figures.

import { h } from '../shared/element.js';

/** A table with a label for each column and a header for each row, which scrolls by itself where it is too wide. */
export function table(caption, labels, rows) {
  return h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': caption },
    h('table', { class: 'figure-table' }, h('caption', { class: 'unseen' }, caption),
      h('thead', {}, h('tr', {}, ...labels.map((label) => h('th', { scope: 'col' }, label)))),
      h('tbody', {}, ...rows.map(([first, ...rest]) => h('tr', {}, h('th', { scope: 'row' }, first),
        ...rest.map((cell) => h('td', {}, cell)))))));
}
