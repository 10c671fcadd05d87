// What the gateway says, in the words of the pages; in its own English ones, for a code that the pages do not know.

import { setText } from '../shared/element.js';
import { bytes, decimal } from '../shared/format.js';
import { language } from '../shared/texts.js';
import { t, wordOf } from '../texts/dashboard-texts.js';

/** The sentence of a finding. */
export const findingOf = ({ message, message_code: code, values }) => wordOf('findings', code, message, worded(values));

/** What to do about a finding, or about the load of a program; empty if there is nothing to do. */
export const adviceOf = ({ advice, advice_code: code, values }) => wordOf('advice', code, advice, worded(values));

/** The load of a program and what to do about it, as sentences. */
export const loadOf = (program) =>
  `${wordOf('load', program.level, program.message)}. ${adviceOf(program)}.`;

/** Sets the text of an element; it is English where the gateway's own words are shown. */
export function setWords(element, words, own) {
  setText(element, words);
  element.lang = words === own ? 'en' : language;
}

/** Values with their units, by their names. */
function worded(values = {}) {
  const entries = Object.entries(values).map(([name, value]) => {
    if (name.endsWith('_bytes')) return [name, bytes(value)];
    if (name.endsWith('_mbps')) return [name, rate(value)];
    if (name === 'level') return ['load', t(`load.${value}`)];
    return [name, name === 'height' ? String(value) : value];
  });
  return Object.fromEntries(entries);
}

/** Megabits per second with a unit. */
const rate = (megabits) => (megabits >= 1000
  ? t('rates.gigabits', { number: megabits / 1000 })
  : t('rates.megabits', { number: decimal(megabits, megabits < 100 ? 1 : 0) }));
